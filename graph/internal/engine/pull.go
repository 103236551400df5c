package engine

import (
	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Pull gives the next item of a stage that runs in its reader's goroutine: one item at a time, for debugging and as a
// baseline. ok is false at the end, which came with err.
type Pull[T any] func() (c edge.Cell[T], ok bool, err error)

// Pull runs the stage by pulling from in. The counters and times are kept as in a running stage.
func (s *Stage[A, B]) Pull(r *Run, in Pull[A]) Pull[B] {
	w := &worker[A, B]{s: s, r: r, k: 1, bound: 1}
	w.out.limit = 1 << 62
	var ready []edge.Cell[B]
	var closing func() error
	var failed error
	var lo int64
	ended := false
	close := func() (err error) {
		if f := closing; f != nil {
			closing = nil
			err = Safely(f)
		}
		return err
	}
	r.Left(func() {
		for i := range ready {
			s.Out.Drop(&ready[i])
		}
		ready = nil
		_ = close()
	})
	return func() (c edge.Cell[B], ok bool, err error) {
		if w.m == nil {
			w.m = s.Meter.NewWorker(r.Clock.Now())
		}
		for len(ready) == 0 {
			if failed != nil || ended {
				return c, false, failed
			}
			if w.body == nil {
				var oerr error
				if w.body, closing, oerr = w.open(); oerr != nil {
					failed = s.WrapOpen(0, "open", oerr)
					continue
				}
			}
			cell, more, err := in()
			w.m.Spent(meter.WaitIn, r.Clock.Now())
			if !more {
				failed, ended = err, true
				if cerr := close(); cerr != nil && failed == nil {
					failed = s.WrapOpen(0, "close", cerr)
				}
				continue
			}
			ready, failed = w.one(cell, lo)
			lo++
		}
		c, ready = ready[0], ready[1:]
		s.Out.Note(&c)
		w.m.Spent(meter.WaitOut, r.Clock.Now())
		return c, true, nil
	}
}

// one runs the body over one item.
func (w *worker[A, B]) one(cell edge.Cell[A], lo int64) ([]edge.Cell[B], error) {
	s, t0 := w.s, w.m.Last()
	in := []edge.Cell[A]{cell}
	w.out.begin(s.Meter, lo, 0, t0, true)
	w.out.cells = nil
	done, err := w.guard(in)
	if err != nil {
		s.Meter.Failed.Add(1)
		err = s.Wrap(0, &in[done], err)
		s.Drop(&in[done])
	}
	now := w.r.Clock.Now()
	w.m.Spent(meter.Busy, now)
	w.out.stamp(now)
	w.account(in, now-t0)
	if s.Finish != nil || s.Hash != nil {
		w.finish(now)
	}
	for i := range w.out.cells {
		c := &w.out.cells[i]
		c.Trail.Released = now
		if s.Gate == nil || c.Skipped() {
			continue
		}
		if rerr := s.Gate.Refuse(c); rerr != nil {
			s.Out.Drop(c)
			w.out.cells, err = w.out.cells[:i], rerr
			break
		}
	}
	if s.Out.OnPass != nil {
		p := edge.Part[B]{Cells: w.out.cells, Err: err}
		s.Out.Sift(&p)
		w.out.cells, err = p.Cells, p.Err
	}
	if s.Cached != nil && s.Cached.Marks() && err == nil {
		w.out.cells = append(w.out.cells, entryEnd[B](&cell.Tag, nil))
	}
	return w.out.cells, err
}

// PullFrom takes from an edge one item at a time.
func PullFrom[T any](e *edge.Edge[T], clock *meter.Clock) Pull[T] {
	take := edge.Taker[T]{W: edge.NewWaiter()}
	return func() (c edge.Cell[T], ok bool, err error) {
		sl := e.Take(&take, clock, 1, clock.Now())
		if !sl.OK {
			return c, false, e.Err()
		}
		return sl.Cells[0], true, nil
	}
}

// Pull runs the group by pulling from in.
func (g *Group[A, B, M]) Pull(r *Run, in Pull[A]) Pull[B] {
	g.clock, g.run = r.Clock, r
	g.g.grants = make(map[int64]grant[B, M])
	g.g.active = make(map[int64]*slab[B, M])
	w := &filler[A, B, M]{g: g, k: 1}
	w.take.W = edge.NewWaiter()
	var ahead []edge.Cell[A] // the next epoch's first item
	var failed error
	var lo int64
	ended := false
	r.Left(func() {
		for i := range ahead {
			lose(g.Meter, &ahead[i], g.Drop)
		}
		for _, o := range g.g.active {
			g.undo(o)
		}
	})
	return func() (c edge.Cell[B], ok bool, err error) {
		if w.m == nil {
			w.m = g.Meter.NewWorker(r.Clock.Now())
		}
		for {
			if failed != nil || ended {
				return c, false, failed
			}
			if len(ahead) == 0 {
				cell, more, err := in()
				w.m.Spent(meter.WaitIn, r.Clock.Now())
				if !more {
					ended = true
					if failed = err; err != nil || g.g.open == nil {
						continue
					}
					o := g.g.open
					g.g.shut(o, g.Size)
					c, ok, failed = w.pulled(o)
				} else {
					ahead = append(ahead, cell)
				}
			}
			if len(ahead) > 0 {
				c, ok, failed = w.pullRow(&ahead, &lo)
			}
			if ok {
				g.Out.Note(&c)
				w.m.Spent(meter.WaitOut, r.Clock.Now())
				return c, true, nil
			}
		}
	}
}

// lose drops an item that a stage took and will not work on.
func lose[T any](m *meter.Stage, c *edge.Cell[T], drop func(*edge.Cell[T])) {
	if !c.Skipped() {
		m.In.Add(1)
		m.Lost.Add(1)
	}
	drop(c)
	*c = edge.Cell[T]{}
}

// pullRow places the item ahead, or ends the group before it.
func (w *filler[A, B, M]) pullRow(ahead *[]edge.Cell[A], lo *int64) (c edge.Cell[B], ok bool, err error) {
	g := w.g
	n := 0
	g.In.WithLock(func() { n = g.assign(*ahead, *lo) }) // others look at the group's slabs
	switch n {
	case -1:
		o := g.g.due[0]
		g.g.due = g.g.due[1:]
		return w.pulled(o)
	case 0: // the consumer keeps every slab: make one more rather than wait for nobody
		g.g.extra++
		return c, false, nil
	}
	at := g.g.grants[*lo]
	delete(g.g.grants, *lo)
	at.s.trail.Took = w.m.Last()
	*lo++
	t0 := w.m.Last()
	w.rows(*ahead, at, g.g.firstErr)
	*ahead = (*ahead)[:0]
	now := g.clock.Now()
	w.m.Spent(meter.Busy, now)
	g.Meter.Service.Add(now-t0, 1)
	if at.s.left.Add(-1) > 0 {
		return c, false, nil
	}
	return w.pulled(at.s)
}

func (w *filler[A, B, M]) pulled(o *slab[B, M]) (c edge.Cell[B], ok bool, err error) {
	w.complete(o)
	if w.part.Err != nil {
		return c, false, w.part.Err
	}
	if len(w.part.Cells) == 0 {
		return c, false, nil
	}
	return w.part.Cells[0], true, nil
}

// Pull runs the merge by pulling from ins.
func (s *Merge[T]) Pull(r *Run, ins []Pull[T]) Pull[T] {
	type head struct {
		c         edge.Cell[T]
		has, over bool
	}
	heads := make([]head, len(ins))
	r.Left(func() {
		for i := range heads {
			if h := &heads[i]; h.has {
				h.has = false
				lose(s.Meter, &h.c, s.Drop)
			}
		}
	})
	turn, epoch := 0, int32(-1)
	fill := func(i int) error {
		h := &heads[i]
		if h.has || h.over {
			return nil
		}
		c, ok, err := ins[i]()
		*h = head{c, ok, !ok}
		return err
	}
	return func() (c edge.Cell[T], ok bool, err error) {
		if s.m == nil {
			s.m = s.Meter.NewWorker(r.Clock.Now())
		}
		for {
			for range ins {
				i := turn
				turn = (turn + 1) % len(ins)
				if err := fill(i); err != nil {
					return c, false, err
				}
				s.m.Spent(meter.WaitIn, r.Clock.Now())
				if h := &heads[i]; h.has && (h.c.Epoch == epoch || h.c.Flags&edge.PassEnd != 0) {
					h.has = false
					if h.c.Flags&edge.PassEnd != 0 {
						turn = i // it takes no turn
					}
					s.count(&h.c)
					h.c.Trail = &meter.Trail{Stage: s.Meter, Took: s.m.Last(), Done: s.m.Last(), Prev: h.c.Trail}
					if s.Gave != nil {
						s.Gave([]edge.Cell[T]{h.c})
					}
					s.Out.Note(&h.c)
					return h.c, true, nil
				}
			}
			next, any := int32(0), false
			for i := range heads {
				if h := &heads[i]; h.has && (!any || h.c.Epoch < next) {
					next, any = h.c.Epoch, true
				}
			}
			if !any {
				return c, false, nil
			}
			epoch = next
			turn = s.firstTurn(epoch)
		}
	}
}
