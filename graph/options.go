package graph

import "time"

// Option is a setting that every stage has. Its name is that of the YAML key.
type Option func(*options)

type options struct {
	workers, buffer, window int // 0: auto
	order                   OrderBy
	onError                 Policy
	sampler                 Sampling
	waits                   bool
	maxSkips                int64   // 0: any number
	maxSkipRate             float64 // 0: any share
	attempts                int     // of an item whose error is temporary; 0: one
	backoff                 time.Duration
	timeout                 time.Duration // 0: none
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

// Buffer sets the capacity, in items, of the stage's output queue; 0 is auto: four of a worker's slices, or two items for
// each worker that takes from it, or an eighth of where it ends, and twice as many each time those workers run out after
// it was full. Beyond four slices it ends with two items for each worker that fills it, or 512.
func Buffer(n int) Option { return func(o *options) { o.buffer = n; o.mark("buffer") } }

// Window sets how far, in items, finished work may run ahead of the oldest unfinished one; 0 is auto: one slice of each
// worker, and twice as many each time the stage behind runs out after work was held up, up to four; of more than 512
// workers fewer, 2,048 in all, and at least one.
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

// MaxSkips bounds the items that a stage with [Skip] may leave out: count in all, and rate as a share of the items that
// have passed, looked at from the hundredth item on. 0 is no bound. The item that goes beyond ends the run, the same one
// for any number of workers.
func MaxSkips(count int64, rate float64) Option {
	return func(o *options) { o.maxSkips, o.maxSkipRate = count, rate; o.mark("on_error") }
}

// Retry tries an item again whose error is marked as temporary (see [Temporary]): at most attempts times in all, waiting
// backoff before the second one and twice as long before each that follows, less up to half of it at random.
func Retry(attempts int, backoff time.Duration) Option {
	return func(o *options) { o.attempts, o.backoff = attempts, backoff; o.mark("retry") }
}

// Timeout bounds the time of one call for one item. A call that takes longer fails with [ErrTimeout], which is a
// temporary error. One that does not return then, although its context has ended, is abandoned: the run goes on without
// it, and it is counted.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d; o.mark("timeout") } }

// Waits says that a plain function spends its time waiting for something else than the processor.
func Waits() Option { return func(o *options) { o.waits = true } }

func withKind(kind string) Option { return func(o *options) { o.kind = kind } }
