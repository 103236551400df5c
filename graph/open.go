package graph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

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

// newEdge makes a stage's output edge.
func newEdge[T any](b *builder, s *stageRun) *edge.Edge[T] {
	h := hooksOf[T](b.index)
	s.sized = h.bytes != nil
	o := &s.n.opts
	cfg := edge.Config{
		Buffer: o.buffer, Window: o.window, Producers: s.workers, Consumers: 1,
		Ordered: o.order != CompletionOrder || s.n.cacheBelow() != nil, Slabs: s.slabbed, Least: s.block,
	}
	source := s
	if s.cache {
		source = b.stages[b.sourceOf(s.n).no]
		cfg.Producers += source.workers
	}
	e := edge.New(cfg, func(c *edge.Cell[T]) {
		if h.release == nil {
			c.End()
			return
		}
		b.eng.Quietly(s.n.id, func() { h.drop(c) })
	})
	e.OnHeld = heldBy(b.eng, s, &h)
	b.late(func() { // a stage may work for others by then
		if s.skipsAny() {
			e.OnMark = b.capsOf(s)
		}
	})
	source.fills = append(source.fills, e)
	s.queue = e
	s.onPass = func(f func(uint16, int64) error) { e.OnPass = f }
	if s.slabbed {
		s.widen = e.Widen
	}
	b.edges[s.n.no] = e
	s.stats, s.behind, s.depth, s.locked = e.Stats, e.Stats, e.Depth(), e.WithLock
	return e
}

// heldBy notes which item of a stage held up others that were finished. It works under the edge's lock, which a key that
// panics must not keep.
func heldBy[T any](eng *engine.Run, s *stageRun, h *hooks[T]) func(*edge.Part[T], int64, int64) {
	return func(p *edge.Part[T], held, blocked int64) {
		if !s.m.Stragglers.Beats(held) {
			return
		}
		eng.Quietly(s.n.id, func() {
			if key := partKey(p, h); key != "" {
				s.m.Stragglers.Add(key, held, blocked)
			}
		})
	}
}

// partKey names a part by its first item; "" where it has none, or ends the run with an error, which names it.
func partKey[T any](p *edge.Part[T], h *hooks[T]) (key string) {
	if len(p.Cells) == 0 && p.Err == nil {
		key = h.placeKey(&p.First)
	}
	for i := range p.Cells {
		if c := &p.Cells[i]; c.Flags&edge.PassEnd == 0 {
			key = h.keyOf(c)
			break
		}
	}
	if key != "" && p.N > 1 {
		key = fmt.Sprintf("%s and %d more", key, p.N-1)
	}
	return key
}

func inputEdge[T any](b *builder, n *node) *edge.Edge[T] { return b.edges[n.no].(*edge.Edge[T]) }

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
		least := int(h.Holds())
		most := least
		if tr.Block != nil {
			most *= 2 // one block leaves while the next is gathered
		}
		b.holds(n, least, most)
	}
	if tr.Group != nil {
		return openGroup(b, s, tr.Group)
	}
	if tr.Cache != nil {
		return openCache(b, s, tr.Cache)
	}
	if tr.Block != nil {
		in, ok := any(inputEdge[A](b, n.ins[0])).(*edge.Edge[B])
		if !ok {
			return b.wrapOpen(s, -1, "open", errors.New("a stage that hands blocks on makes what it takes"))
		}
		return openBlock(b, s, in, tr.Block)
	}
	if tr.Slabs != nil {
		b.offer(n, tr.Slabs)
	}
	if tr.Keep != nil {
		b.run.keeps = append(b.run.keeps, tr.Keep)
	}
	s.devices = tr.Devices
	s.maps = tr.Map != nil
	in, out := inputEdge[A](b, n.ins[0]), newEdge[B](b, s)
	hin, hout := hooksOf[A](b.index), hooksOf[B](b.index)
	e := &engine.Stage[A, B]{
		Meter: s.m, Workers: s.workers, In: in, Out: out, Single: traitsOf(n.decl).Serial,
		Open: func(int) (engine.Body[A, B], func() error, error) {
			return workerOf(b, s, &hin, &hout, tr, tr.NewWorker)
		},
		Drop:     hin.dropQuietly,
		Wrap:     wrapper(b, s, &hin, "process"),
		WrapOpen: func(worker int, op string, err error) error { return b.wrapOpen(s, worker, op, err) },
		Key:      hout.keyOf,
		PlaceKey: hin.placeKey,
	}
	finish(b, s, &hout, &e.Finish, &e.Hash)
	s.staff = e
	b.launch(func() { e.Start(b.eng) })
	if b.p.sync {
		b.pulls[n.no] = e.Pull(b.eng, b.pulls[n.ins[0].no].(engine.Pull[A]))
	}
	return nil
}

// wrapper makes the errors of a stage's items.
func wrapper[A any](b *builder, s *stageRun, h *hooks[A], op string) func(int, *edge.Cell[A], error) error {
	return func(worker int, c *edge.Cell[A], err error) error {
		stack := engine.StackOf(err)
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

// inputsOf are the edges that a node with several inputs reads, and how it pulls from them without goroutines.
func inputsOf[T any](b *builder, n *node) (ins []*edge.Edge[T], pulls []engine.Pull[T]) {
	for _, in := range n.ins {
		ins = append(ins, inputEdge[T](b, in))
		if b.p.sync {
			pulls = append(pulls, b.pulls[in.no].(engine.Pull[T]))
		}
	}
	return ins, pulls
}

func openMerge[T any](b *builder, n *node) error {
	s := b.begin(n)
	h := hooksOf[T](b.index)
	m := &engine.Merge[T]{Meter: s.m, Out: newEdge[T](b, s), Drop: h.dropQuietly}
	if b.resume != nil {
		m.Turn, m.TurnEpoch = b.turnOf(n), int32(b.resume.Epoch)
	}
	b.late(func() {
		if b.run.water == nil && b.dropsBelow(n) {
			k := b.merged(n)
			m.Gave = func(cells []edge.Cell[T]) { gave(k, cells) }
		}
	})
	ins, pulls := inputsOf[T](b, n)
	m.Ins = ins
	b.launch(func() { m.Start(b.eng) })
	if b.p.sync {
		b.pulls[n.no] = m.Pull(b.eng, pulls)
	}
	return nil
}
