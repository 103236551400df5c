package graph

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/host"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/internal/pool"
	"github.com/penstock-go/penstock/graph/item"
)

// Run is a pipeline at work. Its methods may be called from any goroutine.
type Run struct {
	p        *Pipeline
	owner    *Pipeline // of the budget
	eng      *engine.Run
	clock    *meter.Clock
	stages   []*stageRun
	blamer   *meter.Blamer
	bytes    *byteBook
	memory   item.Memory
	slabs    pool.Slabs
	keeps    []func(int)
	sources  []sourceRun
	rows     int64 // items of its only source that a delivery takes; 0: it has several; -1: a delivery is made of any number
	caches   []cacheRun
	index    func(*edge.Tag) int64 // of an item in its source
	outlet   outlet
	book     book
	water    *lowWater // nil: all stages keep the order
	launches launches  // of the sink
	stops    []func() error
	knobs    []knob
	lines    *lines      // nil: no timeline is kept
	roll     *meter.Roll // nil: no trace is

	rss        int64 // of the process at the start
	estimateAt int64 // deliveries after which the estimate is made; 0: never
	estimate   atomic.Pointer[MemoryEstimate]

	cpu, cpuWait, pauses time.Duration // of the process at the start
	once                 sync.Once
	err                  error
	elapsed              time.Duration
	cpuUsed, cpuWaited   time.Duration
	gcUsed               time.Duration

	telling  sync.Mutex
	mu       sync.Mutex
	warnings []string
	log      []Decision
	lapse    *StageError // what a strict run lacks
	opened   bool        // every part is open
}

// outlet is the taking end, whatever its type.
type outlet interface {
	read() outletStats
	state() State
	stepped(over func(epoch int64))
	settle()
	waiting() bool
	finish()
}

// Start checks the pipeline, opens every part and runs it. Every problem of the declaration comes at once, as a
// [*BuildError]; a part that cannot be opened gives a [*StageError]. When ctx ends, what is in flight is dropped.
func (p *Pipeline) Start(ctx context.Context) (*Run, error) {
	if err := p.Build(); err != nil {
		return nil, err
	}
	clock := meter.StartClock(p.noTime)
	r := &Run{p: p, clock: clock, eng: engine.NewRun(ctx, clock), cpu: host.CPUTime(), pauses: gcPauses()}
	r.cpuWait, _ = host.CPUWait()
	r.eng.Wrap = func(stage string, err error) error {
		return &StageError{Pipeline: p.name, Stage: stage, Worker: -1, Op: "panic", Err: err, Stack: engine.StackOf(err)}
	}
	r.takeBudget()
	r.watchMemory()
	b := &builder{
		p: p, ctx: r.eng.Context(), run: r, eng: r.eng, memory: r.memory, cores: p.cores(),
		stages: make([]*stageRun, len(p.nodes)), edges: make([]any, len(p.nodes)), pulls: make([]any, len(p.nodes)),
	}
	r.eng.Watched = p.watchTell != nil && p.watchAfter > 0
	r.eng.Label, r.eng.Enter = p.onWorker, p.onState
	b.fuse()
	if err := b.resumeAt(p.resume); err != nil {
		r.eng.End(nil)
		_ = r.eng.Wait()
		r.leaveBudget()
		return nil, err
	}
	r.fewCores()
	for i, n := range p.nodes {
		err := n.open(b)
		if err == nil && i == len(p.nodes)-1 {
			err = r.opens(b)
		}
		if err != nil {
			r.eng.End(nil)
			_ = r.eng.Wait()
			for i := len(b.stops) - 1; i >= 0; i-- {
				_ = b.stops[i]()
			}
			r.leaveBudget()
			return nil, err
		}
	}
	r.stages, r.stops = b.stages, b.stops
	r.estimates()
	for _, f := range b.lates {
		f()
	}
	for _, keep := range []func(*Run){p.keepLines, p.keepTrace} {
		if keep != nil {
			keep(r)
		}
	}
	for i := len(b.starts) - 1; i >= 0; i-- { // sink first: nothing is made before it can be taken
		b.starts[i]()
	}
	if p.tune != nil && !p.sync {
		p.tune(r, b)
	}
	if r.eng.Watched {
		r.index = b.index
		r.eng.Go(func() { p.watch(r) })
	}
	for _, pr := range p.Problems() {
		if pr.Warn {
			r.warn(pr.String())
		}
	}
	return r, nil
}

// cores is what the pipeline may compute with.
func (p *Pipeline) cores() int {
	n := host.Cores()
	if share := p.owner().budget.CPU; share > 0 {
		n = int(float64(n)*share + 0.5)
	}
	return max(1, n)
}

// memoryLimit is the byte budget: what was set, or half of what [MemoryUse] or the container says, or none.
func (p *Pipeline) memoryLimit() int64 {
	p = p.owner()
	if p.budget.Memory > 0 {
		return p.budget.Memory
	}
	if p.memoryUse != nil {
		_, n := p.memoryUse()
		return n / 2
	}
	if n, ok := host.MemoryLimit(); ok {
		return n / 2
	}
	return 0
}

// hold is how many items of one source the stages may keep while they wait for more: those must pass, whatever they
// take of the byte budget.
func (p *Pipeline) hold() int64 {
	most := int64(1)
	for _, src := range p.nodes {
		if src.role != sourceRole {
			continue
		}
		n, each := int64(0), int64(1) // items of the source in one item here
		for m := src; m != nil && each < 1<<31; m = m.next {
			if h, ok := m.decl.(interface{ Holds() int64 }); ok {
				n += h.Holds() * each
			}
			if g, ok := m.decl.(interface{ gathers() int64 }); ok {
				each *= g.gathers()
				n += each
			}
		}
		most = max(most, n)
	}
	return most
}

func (r *Run) warn(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.warnings {
		if w == line {
			return
		}
	}
	r.warnings = append(r.warnings, line)
}

// Stop stops the sources; what is in flight is still delivered. To drop it, cancel the context given to Start.
func (r *Run) Stop() { r.eng.Drain() }

// Wait joins every goroutine of the run and gives the root cause of its end: nil after the last item, after Stop and
// after a consumer that broke off. A program that takes an [Output] calls it after its loop.
func (r *Run) Wait() error {
	err := r.eng.Wait()
	r.once.Do(func() {
		r.outlet.finish()
		r.eng.Clear()
		if err == nil {
			err = r.eng.Err()
		}
		for i := len(r.stops) - 1; i >= 0; i-- {
			if cerr := r.stops[i](); cerr != nil && err == nil {
				err = cerr
			}
		}
		r.leaveBudget()
		r.mu.Lock() // a snapshot may be taken at the same time
		defer r.mu.Unlock()
		r.err = err
		r.elapsed = time.Duration(r.clock.Now())
		r.cpuUsed, r.cpuWaited, r.gcUsed = host.CPUTime()-r.cpu, r.waitedForCores(), gcPauses()-r.pauses
	})
	return r.err
}

// told passes a skip on to who asked for them.
func (r *Run) told(n SkipNote) {
	if f := r.p.onSkip; f != nil {
		r.telling.Lock()
		defer r.telling.Unlock()
		f(n)
	}
}

// Skips lists the first skipped items with their errors, by stage in order of declaration.
func (r *Run) Skips() []SkipNote {
	var all []SkipNote
	for _, s := range r.stages {
		s.mu.Lock()
		all = append(all, s.skips...)
		s.mu.Unlock()
	}
	return all
}

func gcPauses() time.Duration {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.PauseTotal
}

// openSink opens the declared sink; the engine runs it.
func openSink[T any](b *builder, n *node, decl Sink[T]) error {
	s := b.begin(n)
	k, err := opening(b, s, decl.Open)
	if err != nil {
		return err
	}
	b.closes(s, k.Close)
	if k.Take == nil {
		return b.wrapOpen(s, -1, "open", errors.New("the sink sets no Take"))
	}
	o := newOutlet[T](b, s)
	o.atReturn = true
	call := b.newCall(n)
	h := hooksOf[T](b.index)
	wrap := wrapper(b, s, &h, "process")
	b.starts = append(b.starts, func() {
		o.start(b.eng)
		b.eng.Work(s.m, func() {
			for c := o.next(); c != nil; c = o.next() {
				call.at(&c.Tag)
				if err := engine.Safely(func() error { return k.Take(call, c.V) }); err != nil {
					s.m.Failed.Add(1)
					s.m.Done.Add(-1)
					o.fail(wrap(0, c, err))
					return
				}
			}
		})
	})
	return nil
}

func openOutput[T any](b *builder, n *node) error {
	s := b.begin(n)
	o := newOutlet[T](b, s)
	b.starts = append(b.starts, func() { o.start(b.eng) })
	return nil
}

// environment says where the run takes place.
func environment() Environment {
	e := Environment{
		CPU: host.CPUName(), Cores: host.Cores(), CoresQuota: float64(host.Cores()),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Version: version(),
	}
	if q, ok := host.Quota(); ok {
		e.CoresQuota = min(q, e.CoresQuota) // a quota above the cores that affinity leaves gives nothing
	}
	if n, ok := host.MemoryLimit(); ok {
		e.MemoryLimit = &n
	}
	return e
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
