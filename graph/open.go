package graph

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/internal/pool"
	"github.com/penstock-go/penstock/graph/item"
)

// builder opens the parts of a pipeline for one run and joins them by edges.
type builder struct {
	p       *Pipeline
	ctx     context.Context
	run     *Run
	eng     *engine.Run
	memory  item.Memory
	admit   *engine.Admission
	places  []Places
	sources int
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
	slabbed  bool // its outputs hold slabs
	source   int  // number of a source
	iterable bool
	drops    bool // some of its inputs have no output, or several
	stats    func() edge.Stats
	opened   time.Duration
	sized    bool
	slot     *slotter // of the group that reads its output

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

// memory lends recycled buffers of a pool.
type memory struct {
	pool    *pool.Memory
	buffers sync.Pool
}

func newMemory(limit int64) *memory {
	m := &memory{pool: pool.NewMemory(limit)}
	m.buffers.New = func() any { return new(item.Buffer) }
	return m
}

// Take lends a buffer.
func (m *memory) Take(n int) *item.Buffer {
	b := m.buffers.Get().(*item.Buffer)
	full := m.pool.Take(n)
	b.Reuse(full[:n], full[:cap(full)], m)
	return b
}

// Back takes a buffer's memory back after its last release.
func (m *memory) Back(b *item.Buffer, full []byte) {
	m.pool.Back(full)
	m.buffers.Put(b)
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
	return &Env{
		Pipeline: b.p.name, Stage: n.id, Seed: b.p.seed, Workers: workers, Epochs: b.p.epochs, Memory: b.memory,
		reserve: b.run.bytes.reserve,
		start:   func(f func()) { b.eng.Work(b.stages[n.no].m, f) },
		warn:    func(line string) { b.run.warn(fmt.Sprintf("stage %q: %s", n.id, line)) },
	}
}

// opening calls a part's Open behind a panic barrier and notes how long it took.
func opening[T any](b *builder, s *stageRun, open func(context.Context, *Env) (T, error)) (t T, err error) {
	began := time.Now()
	err = engine.Safely(func() (err error) {
		t, err = open(b.ctx, b.env(s.n, s.workers))
		return err
	})
	s.opened = time.Since(began)
	if err != nil {
		err = b.wrapOpen(s, -1, "open", err)
	}
	return t, err
}

func (b *builder) wrapOpen(s *stageRun, worker int, op string, err error) error {
	return &StageError{Pipeline: b.p.name, Stage: s.n.id, Worker: worker, Op: op, Err: err, Stack: engine.StackOf(err)}
}

// newEdge makes a stage's output edge.
func newEdge[T any](b *builder, s *stageRun) *edge.Edge[T] {
	h := hooksOf[T](b.index)
	s.sized = h.bytes != nil
	o := &s.n.opts
	cfg := edge.Config{
		Buffer: o.buffer, Window: o.window, Producers: s.workers, Consumers: 1,
		Ordered: o.order != CompletionOrder, Slabs: s.slabbed,
	}
	if next := b.last(s.n).next; next != nil && (next.role == stageRole) {
		cfg.Consumers = next.opts.workers
		if cfg.Consumers == 0 {
			load := CPU
			if l, ok := next.decl.(Loader); ok {
				load = l.Load()
			}
			if next.opts.waits {
				load = Wait
			}
			cfg.Consumers = b.autoWorkers(load)
		}
	}
	e := edge.New(cfg, func(c *edge.Cell[T]) {
		if h.release == nil {
			c.End()
			return
		}
		b.eng.Quietly(s.n.id, func() { h.drop(c) })
	})
	b.late(func() { // a stage may work for others by then
		if s.skipsAny() {
			e.OnMark = b.capsOf(s)
		}
	})
	if s.slabbed {
		b.run.widen = append(b.run.widen, e.Widen)
	}
	b.edges[s.n.no] = e
	s.stats = e.Stats
	return e
}

func inputEdge[T any](b *builder, n *node) *edge.Edge[T] { return b.edges[n.no].(*edge.Edge[T]) }

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
	for next != nil && next.role == mergeRole {
		next = next.next
	}
	return next != nil && (next.role == sinkRole || b.stages[next.no].isGroup)
}

func (b *builder) index(t *edge.Tag) int64 { return indexOf(b.places, t) }

func openStage[A, B any](b *builder, n *node, st Stage[A, B]) error {
	if g := b.fused[n]; g != nil {
		if g.members[0] != n {
			b.absorb(n)
			return nil
		}
		if f, ok := g.decl.(Stage[A, B]); ok {
			st = f
		} else { // of another type than it says
			for _, m := range g.members {
				delete(b.fused, m)
			}
		}
	}
	s := b.begin(n)
	tr, err := opening(b, s, st.Open)
	if err != nil {
		return err
	}
	b.closes(s, tr.Close)
	s.drops = tr.Choose != nil || tr.Emit != nil
	if h, ok := n.decl.(interface{ Holds() int64 }); ok {
		b.holds(n, int(h.Holds()), int(h.Holds()))
	}
	if tr.Group != nil {
		return openGroup(b, s, tr.Group)
	}
	in, out := inputEdge[A](b, n.ins[0]), newEdge[B](b, s)
	hin, hout := hooksOf[A](b.index), hooksOf[B](b.index)
	e := &engine.Stage[A, B]{
		Meter: s.m, Workers: s.workers, In: in, Out: out,
		Open: func(int) (engine.Body[A, B], func() error, error) {
			return workerOf(b, s, &hin, &hout, tr, tr.NewWorker)
		},
		Drop:     hin.dropQuietly,
		Wrap:     wrapper(b, s, &hin, "process"),
		WrapOpen: func(worker int, op string, err error) error { return b.wrapOpen(s, worker, op, err) },
		Key:      hin.keyOf,
	}
	finish(b, s, &hout, &e.Finish, &e.Hash)
	b.launch(func() { e.Start(b.eng) })
	if b.p.sync {
		b.pulls[n.no] = e.Pull(b.eng, b.pulls[n.ins[0].no].(engine.Pull[A]))
	}
	return nil
}

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

// wrapper makes the errors of a stage's items.
func wrapper[A any](b *builder, s *stageRun, h *hooks[A], op string) func(int, *edge.Cell[A], error, []byte) error {
	return func(worker int, c *edge.Cell[A], err error, stack []byte) error {
		at := s.charge(err, &c.Tag, failedItems)
		e := &StageError{Pipeline: b.p.name, Stage: at.n.id, Worker: worker, Pos: posOf(&c.Tag), Op: op, Err: err, Stack: stack}
		e.Key = failedKey(h, c, err)
		if e.Stack == nil {
			e.Stack = engine.StackOf(err)
		}
		if e.Stack != nil {
			e.Op = "panic"
		}
		return e
	}
}

// failedKey names an item that failed: by what the error says, or by the item.
func failedKey[A any](h *hooks[A], c *edge.Cell[A], err error) (key string) {
	if k := keyIn(err); k != "" {
		return k
	}
	defer func() {
		if recover() != nil { // the stage has released the item before it failed
			key = h.placeKey(&c.Tag)
		}
	}()
	return h.keyOf(c)
}

// finish sets what is done with outputs on their way out: their size is noted, and they are hashed where no later stage
// of samples will do it.
func finish[T any](b *builder, s *stageRun, h *hooks[T], size, hash *func(*edge.Cell[T])) {
	if h.bytes != nil {
		*size = func(c *edge.Cell[T]) {
			n := h.bytes(c.V)
			s.m.BytesOut.Add(n)
			if c.Ext != nil && c.Ext.Hold != nil {
				b.run.bytes.sized(c.Ext, n)
			}
		}
	}
	if h.hash == nil {
		return
	}
	b.late(func() {
		if !b.hashes(s.n) {
			return
		}
		*hash = func(c *edge.Cell[T]) {
			if c.Ext == nil {
				c.Ext = edge.NewExt()
			}
			c.Ext.Hash = max(1, h.hash(c.V)) // 0 stands for "not hashed"
		}
	})
}

func openMerge[T any](b *builder, n *node) error {
	s := b.begin(n)
	h := hooksOf[T](b.index)
	m := &engine.Merge[T]{Meter: s.m, Out: newEdge[T](b, s), Drop: h.dropQuietly}
	if b.resume != nil {
		m.Turn, m.TurnEpoch = b.turnOf(n), int32(b.resume.Epoch)
	}
	var pulls []engine.Pull[T]
	for _, in := range n.ins {
		m.Ins = append(m.Ins, inputEdge[T](b, in))
		if b.p.sync {
			pulls = append(pulls, b.pulls[in.no].(engine.Pull[T]))
		}
	}
	b.launch(func() { m.Start(b.eng) })
	if b.p.sync {
		b.pulls[n.no] = m.Pull(b.eng, pulls)
	}
	return nil
}

func openGroup[A, B any](b *builder, s *stageRun, g *Group[A, B]) error {
	s.isGroup, s.slabbed, s.size, s.least = true, true, max(1, g.Size), 2
	b.holds(s.n, s.size, s.size*b.slabsAfter(s.n))
	in := inputEdge[A](b, s.n.ins[0])
	s.workers = max(1, s.workers)
	out := newEdge[B](b, s)
	h := hooksOf[A](b.index)
	calls := make([]*Call, s.workers)
	for i := range calls {
		calls[i] = b.newCall(s.n)
	}
	var capped sync.Mutex
	caps := b.capsOf(s)
	e := &engine.Group[A, B, item.Row]{
		Meter: s.m, Workers: s.workers, In: in, Out: out,
		Size: g.Size, DropLast: g.DropLast, Skip: s.n.skips(), Fresh: g.Fresh,
		Slabs: b.slabsAfter(s.n),
		First: func(c *edge.Cell[A]) error {
			if g.First == nil {
				return nil
			}
			return g.First(c.V)
		},
		Slab: g.Slab,
		Fit: func(v B, slabs int) (int, error) {
			if z, ok := any(v).(interface{ Capacity() int64 }); ok && !g.Fresh {
				slabs = max(slabs, min(maxSlabs, int(smallSlabs/max(1, z.Capacity()))))
				n, err := b.run.bytes.slabs(z.Capacity(), slabs, s.least)
				for _, f := range b.run.widen {
					f(n / 2)
				}
				return n, err
			}
			return slabs, nil
		},
		Row: func(worker int, out B, row int, c *edge.Cell[A]) error {
			calls[worker].at(&c.Tag)
			return g.Row(calls[worker], out, row, c.V)
		},
		Fill: g.Fill,
		Undo: g.Undo,
		Done: g.Done,
		Meta: h.rowOf,
		StandIn: func(to, from *item.Row) {
			pos := to.Pos
			*to = *from
			to.Pos, to.StandIn = pos, true
		},
		Drop: h.dropQuietly,
		Wrap: wrapper(b, s, &h, "process"),
		Skipped: func(c *edge.Cell[A], err error) error {
			key := failedKey(&h, c, err)
			t := c.Tag
			t.Ext = &edge.Ext{Key: key, Err: err}
			capped.Lock()
			over := caps(&t, s.m.In.Load())
			capped.Unlock()
			if over == nil {
				s.skipped(SkipNote{Key: key, Pos: posOf(&c.Tag)}, err)
			}
			return over
		},
		Key: h.keyOf,
	}
	s.more = func(slabs int) { e.Slabs += slabs }
	if b.resume != nil {
		e.FirstEpoch, e.FirstNumber = int32(b.resume.Epoch), b.resume.Batches
	}
	b.groups = append(b.groups, func(t *meter.Trail) {
		if e.Waiting() {
			e.Held(longestAfter(t, s.m))
		}
	})
	b.run.keeps = append(b.run.keeps, e.Keep)
	if before := b.stages[b.head(s.n.ins[0]).no]; g.Place != nil && !b.p.sync && before.n.opts.order != CompletionOrder {
		before.slot = newSlotter(e, g.Place)
	}
	b.launch(func() { e.Start(b.eng) })
	if b.p.sync {
		b.pulls[s.n.no] = e.Pull(b.eng, b.pulls[s.n.ins[0].no].(engine.Pull[A]))
	}
	return nil
}

// A ring of small slabs is made longer, up to these bounds: a consumer that gets a processor only now and then must find
// enough to do.
const (
	smallSlabs = 16 << 20
	maxSlabs   = 64
)

// slabsAfter is how many slabs a group's ring has: one being filled, what the edges and workers below can hold, and
// what the consumer holds.
func (b *builder) slabsAfter(n *node) int {
	slabs := 2
	for m := n; m.next != nil; m = m.next {
		w := 1
		if m.role == stageRole || m.role == sourceRole {
			if w = m.opts.workers; w == 0 {
				w = b.autoWorkers(CPU)
			}
		}
		if m != n {
			slabs += w
		}
		if m.opts.buffer > 0 {
			slabs += m.opts.buffer
		} else {
			slabs += 2 * w
		}
	}
	return slabs
}

// holds tells the groups above a stage that it holds least of their outputs at once before it lets go of any, and may
// hold most.
func (b *builder) holds(n *node, least, most int) {
	for _, in := range n.ins {
		l, m := least, most
		if s := b.stages[in.no]; s.more != nil {
			s.least += l
			s.more(m)
			l, m = l*s.size, m*s.size
		}
		b.holds(in, l, m)
	}
}

// longestAfter finds the stage after the group from that held a batch longest.
func longestAfter(t *meter.Trail, from *meter.Stage) *meter.Stage {
	var longest int64
	holder := from
	for ; t != nil && t.Stage != from; t = t.Prev {
		if d := t.Done - t.Took; d > longest {
			longest, holder = d, t.Stage
		}
	}
	return holder
}
