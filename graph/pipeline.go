package graph

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/shard"
)

// Forever, as a number of epochs, never ends.
const Forever = -1

// Pipeline is a declared graph: an in-tree of stages with any number of sources and one sink. Declaring starts no
// goroutine and opens nothing. It is not safe for use by several goroutines while it is being declared; afterwards it
// may be started any number of times, also at once.
type Pipeline struct {
	name   string
	seed   uint64
	epochs int
	budget Budget
	common common    // what its runs take from
	share  *Pipeline // whose budget it takes from instead
	shares bool      // Share was given
	sync   bool
	noFuse bool
	noHash bool
	noTime bool
	warmup int64
	onSkip func(SkipNote)
	strict bool
	part   bool   // of a declaration that goes on below
	within string // the folder that may be read; "": any

	world   shard.World
	ranked  bool // Rank was given
	uneven  UnevenBy
	steps   int64 // deliveries of an epoch; 0: as the data has it
	stepped bool

	onDelivery func(int64)
	estimate   func(*Run) // nil: none is made
	resume     *State
	force      bool
	watchAfter time.Duration
	watchTell  func(string)
	watch      func(*Run)
	tune       func(*Run, *builder)
	keepLines  func(*Run) // nil: no timeline
	keepTrace  func(*Run) // nil: no trace
	onWorker   func(stage string, worker int)
	onState    func(stage string) func(meter.State)
	limit      int64 // deliveries; 0: none

	buffers item.Memory // instead of the engine's

	memoryUse func() (used, limit int64)

	nodes    []*node
	mu       sync.Mutex // held while Build looks, since a pipeline may be started several times at once
	problems []Problem
}

// Budget bounds what a pipeline may take, all its runs that are under way at once together; see [Share] for several
// pipelines. CPU is the share of the cores that quota, cpuset and affinity leave; 0 means all of them. Memory is bytes for
// slabs and samples in flight; 0 means half the container's limit, or none where there is no limit.
type Budget struct {
	CPU    float64
	Memory int64
}

// PipelineOption is a setting of a whole pipeline.
type PipelineOption func(*Pipeline)

// Seed sets what all randomness comes from. The default is 0.
func Seed(s uint64) PipelineOption { return func(p *Pipeline) { p.seed = s } }

// Epochs sets how often the data is gone through; [Forever] never ends. The default is 1.
func Epochs(n int) PipelineOption { return func(p *Pipeline) { p.epochs = n } }

// WithBudget bounds processor and memory.
func WithBudget(b Budget) PipelineOption { return func(p *Pipeline) { p.budget = b } }

// Sync runs everything in one goroutine, one item at a time and unfused: for debugging, and as a baseline. The stream
// and its digest are the same.
func Sync() PipelineOption { return func(p *Pipeline) { p.sync = true } }

// NoFuse keeps stages apart that would be joined.
func NoFuse() PipelineOption { return func(p *Pipeline) { p.noFuse = true } }

// NoDigest leaves the hashing of samples out.
func NoDigest() PipelineOption { return func(p *Pipeline) { p.noHash = true } }

// Untimed leaves all clocks out, to measure what they cost. Reports of such a run have no times.
func Untimed() PipelineOption { return func(p *Pipeline) { p.noTime = true } }

// Warmup counts the first n deliveries as start-up.
func Warmup(n int) PipelineOption { return func(p *Pipeline) { p.warmup = int64(n) } }

// Batches ends the run when the sink has taken n items, as a consumer that breaks off does; 0 is no limit.
func Batches(n int) PipelineOption { return func(p *Pipeline) { p.limit = int64(n) } }

// Buffers sets where stages get recycled memory from, instead of the engine's own pool: for tests that count it.
func Buffers(mem item.Memory) PipelineOption { return func(p *Pipeline) { p.buffers = mem } }

// Part says that the pipeline is the upper part of a longer one, to be looked at alone: stages that need others below
// them are let be, see [BelowChecker].
func Part() PipelineOption { return func(p *Pipeline) { p.part = true } }

// New begins a pipeline.
func New(name string, opts ...PipelineOption) *Pipeline {
	p := &Pipeline{name: name, epochs: 1}
	p.With(opts...)
	return p
}

// With changes settings before the pipeline is started.
func (p *Pipeline) With(opts ...PipelineOption) {
	for _, o := range opts {
		o(p)
	}
}

// Name is the pipeline's name.
func (p *Pipeline) Name() string { return p.name }

// role is what a node is in the graph.
type role int

const (
	sourceRole role = iota
	stageRole
	mergeRole // of several inputs: merge, mix
	sinkRole
)

// node is one declared stage.
type node struct {
	p      *Pipeline
	no     int
	id     string
	kind   string
	role   role
	decl   any
	opts   options
	ins    []*node
	next   *node
	schema item.Schema // of the output

	open func(b *builder) error // typed: opens the part and makes its output edge
}

// Port is the typed output of a stage. It can be joined to one stage.
type Port[T any] struct{ n *node }

// isSnake says that an id is lower_snake_case.
func isSnake(id string) bool {
	word := false
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			word = true
		case c == '_' && word:
			word = false
		default:
			return false
		}
	}
	return word
}

func (p *Pipeline) add(id string, r role, decl any, ins []*node, opts []Option) *node {
	n := &node{p: p, no: len(p.nodes), id: id, role: r, decl: decl, kind: kindOf(decl), ins: ins}
	for _, o := range opts {
		o(&n.opts)
	}
	if n.opts.kind != "" {
		n.kind = n.opts.kind
	}
	if !isSnake(id) {
		p.problem(n, "", "bad_id", "id %q must be lower_snake_case", id)
	}
	for _, other := range p.nodes {
		if other.id == id {
			p.problem(n, "id", "duplicate_id", "id %q is used twice", id)
		}
	}
	for _, in := range ins {
		switch {
		case in.p != p:
			p.problem(n, "from", "other_pipeline", "its input %q belongs to pipeline %q", in.id, in.p.name)
		case in.next != nil:
			p.problem(n, "from", "used_twice", "the output of %q already goes to %q; a port has one reader", in.id, in.next.id)
		default:
			in.next = n
		}
	}
	p.nodes = append(p.nodes, n)
	return n
}

func (p *Pipeline) problem(n *node, field, code, format string, args ...any) {
	pr := Problem{Field: field, Code: code, Msg: fmt.Sprintf(format, args...)}
	if n != nil {
		pr.Stage = n.id
	}
	p.problems = append(p.problems, pr)
}

func (p *Pipeline) hint(n *node, field, code, format string, args ...any) {
	p.problem(n, field, code, format, args...)
	p.problems[len(p.problems)-1].Warn = true
}

// From declares a source.
func From[T any](p *Pipeline, id string, src Source[T], opts ...Option) Port[T] {
	n := p.add(id, sourceRole, src, nil, opts)
	n.open = func(b *builder) error { return openSource(b, n, src) }
	return Port[T]{n}
}

// Via declares a stage that reads in.
func Via[A, B any](in Port[A], id string, st Stage[A, B], opts ...Option) Port[B] {
	n := in.n.p.add(id, stageRole, st, []*node{in.n}, opts)
	n.open = func(b *builder) error { return openStage(b, n, st) }
	return Port[B]{n}
}

// Merge declares a stage that takes one item of each input in turn, within each epoch. An input that ends drops out.
func Merge[T any](p *Pipeline, id string, ins []Port[T], opts ...Option) Port[T] {
	nodes := make([]*node, len(ins))
	for i := range ins {
		nodes[i] = ins[i].n
	}
	n := p.add(id, mergeRole, nil, nodes, append(opts, withKind("merge")))
	if len(ins) < 2 {
		p.problem(n, "from", "merge_inputs", "a merge needs at least two inputs, got %d", len(ins))
	}
	n.open = func(b *builder) error { return openMerge[T](b, n) }
	return Port[T]{n}
}

// Into declares the sink. The engine runs it.
func Into[T any](in Port[T], id string, s Sink[T], opts ...Option) {
	n := in.n.p.add(id, sinkRole, s, []*node{in.n}, opts)
	n.open = func(b *builder) error { return openSink(b, n, s) }
}

// Output declares that the program itself takes what comes out of in, by a loop over [Out.Epochs] or [Out.All].
func Output[T any](in Port[T], id string, opts ...Option) *Out[T] {
	n := in.n.p.add(id, sinkRole, nil, []*node{in.n}, append(opts, withKind("output")))
	n.open = func(b *builder) error { return openOutput[T](b, n) }
	return &Out[T]{n}
}

// kindOf names a declaration: what it says itself, or its type in lower_snake_case.
func kindOf(decl any) string {
	if k, ok := decl.(Kinder); ok {
		return k.Kind()
	}
	name := fmt.Sprintf("%T", decl)
	name, _, _ = strings.Cut(name, "[")
	return Snake(name[strings.LastIndexByte(name, '.')+1:])
}

// Snake writes a Go name in lower_snake_case: DecodeImage is decode_image.
func Snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
