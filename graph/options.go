package graph

// Option is a setting that every stage has. Its name is that of the YAML key.
type Option func(*options)

type options struct {
	workers, buffer, window int // 0: auto
	order                   OrderBy
	onError                 Policy
	sampler                 Sampling
	waits                   bool
	kind                    string
	set                     map[string]bool // which were given
}

func (o *options) mark(key string) {
	if o.set == nil {
		o.set = map[string]bool{}
	}
	o.set[key] = true
}

// Workers sets the number of a stage's goroutines; 0 is auto.
func Workers(n int) Option { return func(o *options) { o.workers = n; o.mark("workers") } }

// Buffer sets the capacity, in items, of the stage's output queue; 0 is auto.
func Buffer(n int) Option { return func(o *options) { o.buffer = n; o.mark("buffer") } }

// Window sets how far, in items, finished work may run ahead of the oldest unfinished one; 0 is auto.
func Window(n int) Option { return func(o *options) { o.window = n; o.mark("window") } }

// OrderBy is the order of a stage's output.
type OrderBy string

// The orders. Input is the default. With Completion the digest does not exist.
const (
	InputOrder      OrderBy = "input"
	CompletionOrder OrderBy = "completion"
)

// Order sets the order of a stage's output.
func Order(by OrderBy) Option { return func(o *options) { o.order = by; o.mark("order") } }

// Policy is what becomes of an item that fails.
type Policy string

// The policies. Fail ends the run and is the default. Skip leaves a mark in the item's place: collate fills it with the
// next good row of the batch and counts a stand-in.
const (
	Fail Policy = "fail"
	Skip Policy = "skip"
)

// OnError sets what becomes of an item that fails at this stage.
func OnError(p Policy) Option { return func(o *options) { o.onError = p; o.mark("on_error") } }

// Sampler sets the order in which a map-style source is read. The default is its own.
func Sampler(s Sampling) Option { return func(o *options) { o.sampler = s; o.mark("sampler") } }

// Waits says that a plain function spends its time waiting for something else than the processor.
func Waits() Option { return func(o *options) { o.waits = true } }

func withKind(kind string) Option { return func(o *options) { o.kind = kind } }
