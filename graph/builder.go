package graph

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/item"
)

// builder opens the parts of a pipeline for one run and joins them by edges.
type builder struct {
	p       *Pipeline
	ctx     context.Context
	run     *Run
	eng     *engine.Run
	memory  item.Memory
	places  []Places
	sources int
	steer   []*steering // by source
	stages  []*stageRun // by node number
	edges   []any       // *edge.Edge[T], by node number
	pulls   []any       // engine.Pull[T], in sync runs
	lates   []func()
	starts  []func()
	resume  *State
	fused   map[*node]*group
	stops   []func() error // what Open took, in order
	cores   int
	groups  []func(*meter.Trail)
	shared  map[string]any
}

// stageRun is what a run knows of one stage.
type stageRun struct {
	n        *node
	m        *meter.Stage
	workers  int
	load     Load
	isGroup  bool
	size     int // of a group
	least    int // outputs of a group that stages below must be able to hold
	more     func(slabs int)
	slabs    func() int
	lent     func() int   // slabs of a group that there were at once at most
	slab     atomic.Int64 // bytes of one
	lists    bool         // a group whose outputs keep their inputs
	admitted *admitted    // of a source whose items tell their size
	slabbed  bool         // its outputs hold slabs
	widen    func(slabs int)
	block    int   // items that it hands on in another order, at once; 0: it does not
	reread   int64 // of a block that is read again
	supply   Slabs // of a group's memory; nil: the engine's
	devices  func() DeviceStats
	source   int // number of a source
	iterable bool
	steps    func(quota)      // tells a source how far it goes
	passes   func(marks bool) // tells a source to go on until the epoch is over
	onPass   func(func(source uint16, passed int64) error)
	onFull   func(func(epoch int32, number int64)) // of a group
	drops    bool                                  // some of its inputs have no output, or several
	stats    func() edge.Stats                     // of its output; a fused stage has those of the group it ends
	behind   func() edge.Stats                     // of the queue that it puts into itself
	depth    *meter.Depth                          // of its output queue, guarded by locked
	locked   func(func())
	staff    any          // that may be changed while it runs; nil: it cannot
	fills    []any        // the edges that its workers put into, as a queue each
	queue    any          // its output
	deep     [2]int       // what the queue was told last; of the goroutine that moves
	now      atomic.Int32 // workers, if they were changed
	opened   time.Duration
	sized    bool
	slot     *slotter // of the group that reads its output
	maps     bool     // one output of each input
	cache    bool
	feeds    *feeding // of a map-style source

	group    *group      // that it was absorbed into
	absorbed []*stageRun // that it works for
	charged  *absorbedMeters

	run   *Run
	mu    sync.Mutex
	skips []SkipNote
}

// maxSkipNotes bounds the skips of a stage that a run remembers with their messages.
const maxSkipNotes = 100

// skipped notes an item that was left out.
func (s *stageRun) skipped(n SkipNote, err error) {
	n.Stage, n.Err, n.Offset = s.n.id, err.Error(), offsetIn(err)
	if n.Attempt == 0 {
		n.Attempt = 1
	}
	s.mu.Lock()
	if len(s.skips) < maxSkipNotes {
		s.skips = append(s.skips, n)
	}
	s.mu.Unlock()
	s.run.told(n)
}

// begin makes the run's record of a stage.
func (b *builder) begin(n *node) *stageRun {
	s := &stageRun{n: n, run: b.run, m: &meter.Stage{ID: n.id, No: n.no}, load: CPU, workers: 1}
	if l, ok := n.decl.(Loader); ok {
		s.load = l.Load()
	}
	if n.opts.waits {
		s.load = Wait
	}
	if n.role == sourceRole || n.role == stageRole {
		if s.workers = n.opts.workers; s.workers == 0 {
			s.workers = b.autoWorkers(s.load)
		}
		if b.p.sync {
			s.workers = 1
		}
	}
	if t := traitsOf(n.decl); n.role == stageRole {
		if t.Serial {
			s.workers = 1
		}
		s.m.Copies, s.m.Reports = t.Copies, t.Reports
	}
	for _, in := range n.ins {
		s.slabbed = s.slabbed || b.stages[in.no].slabbed
	}
	b.stages[n.no] = s
	return s
}

// autoWorkers is the rule for workers: auto: the cores for stages that compute, and for those that wait eight times as
// many, at least 16.
func (b *builder) autoWorkers(l Load) int {
	if l == Wait {
		return max(16, 8*b.cores)
	}
	return b.cores
}

func (b *builder) env(n *node, workers int) *Env {
	s := b.stages[n.no]
	return &Env{
		Pipeline: b.p.name, Stage: n.id, Seed: b.p.seed, Workers: workers, Epochs: b.p.epochs, Memory: b.memory, Sync: b.p.sync,
		Digest:   !b.p.noHash,
		within:   b.p.within,
		degraded: func(line string) { b.run.degraded(n.id, line) },
		reserve:  b.run.bytes.reserve,
		supply:   func() Slabs { return s.supply },
		eng:      b.eng,
		meter:    s.m,
		slabs:    &b.run.slabs,
		below:    n.below(),
		launched: func(took, late time.Duration) { b.run.launches.add(took, late) },
		fail:     func(err error) { b.eng.End(b.wrapOpen(s, -1, "process", err)) },
		shared:   b.common,
		warn:     func(line string) { b.run.warn(fmt.Sprintf("stage %q: %s", n.id, line)) },
	}
}

// common implements [Env.Shared].
func (b *builder) common(key string, open func() (any, func() error, error)) (any, error) {
	if v, ok := b.shared[key]; ok {
		return v, nil
	}
	v, end, err := open()
	if err != nil {
		return nil, err
	}
	if b.shared == nil {
		b.shared = map[string]any{}
	}
	b.shared[key] = v
	if end != nil {
		b.stops = append(b.stops, end)
	}
	return v, nil
}

func (b *builder) wrapOpen(s *stageRun, worker int, op string, err error) error {
	return &StageError{Pipeline: b.p.name, Stage: s.n.id, Worker: worker, Op: op, Err: err, Stack: engine.StackOf(err)}
}

func (b *builder) newCall(n *node) *Call {
	return &Call{ctx: b.eng.Context(), mem: b.memory, key: stageKey(b.p.seed, n.id), places: b.places}
}

// skips says whether a stage skips failing items.
func (n *node) skips() bool { return n.opts.onError == Skip }

// hashes says whether a stage's outputs are hashed: they go to a group or to the sink. It is known once all are open.
func (b *builder) hashes(n *node) bool {
	if b.p.noHash {
		return false
	}
	next := b.last(n).next
	for next != nil && (next.role == mergeRole || b.stages[next.no].block > 0) {
		next = next.next
	}
	return next != nil && (next.role == sinkRole || b.stages[next.no].isGroup)
}

func (b *builder) index(t *edge.Tag) int64 { return indexOf(b.places, t) }

// late adds what is done once all parts are open; launch adds what starts a stage's goroutines, in runs that have them.
func (b *builder) late(f func()) { b.lates = append(b.lates, f) }

func (b *builder) launch(f func()) {
	if !b.p.sync {
		b.starts = append(b.starts, f)
	}
}

func (b *builder) closes(s *stageRun, f func() error) {
	if f == nil {
		return
	}
	b.stops = append(b.stops, func() error {
		if err := engine.Safely(f); err != nil {
			return b.wrapOpen(s, -1, "close", err)
		}
		return nil
	})
}
