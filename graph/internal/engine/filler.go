package engine

import (
	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// filler is one worker of a group.
type filler[A, B, M any] struct {
	g    *Group[A, B, M]
	no   int
	m    *meter.Worker
	take edge.Taker[A]
	part edge.Part[B]
	k    int

	yields bool // lets the consumer of the output run before it goes on
}

// slice takes a slice of rows and fills them. It says whether there may be more.
func (w *filler[A, B, M]) slice() bool {
	g := w.g
	w.m.Doing(meter.WaitIn)
	yield(&w.yields, w.m, g.clock)
	sl := g.In.Take(&w.take, g.clock, w.k, w.m.Last())
	if sl.Waited {
		st := meter.WaitIn
		if w.take.W.ForSlab {
			st = meter.WaitOut
		}
		w.m.Spent(st, g.clock.Now())
	}
	if !sl.OK {
		return false
	}
	if sl.Off {
		standBy(g.In, &w.take, g.Meter, w.m, g.clock)
		return true
	}
	if sl.Due {
		return w.endDue()
	}
	var at grant[B, M]
	var err error
	g.In.WithLock(func() {
		at = g.g.grants[sl.Lo]
		delete(g.g.grants, sl.Lo)
		at.s.trail.Took, at.s.trail.Fresh = w.m.Last(), sl.Waited
		err = g.g.firstErr
	})
	t0 := w.m.Last()
	w.m.On(int64(sl.Cells[0].Epoch), sl.Cells[0].Place)
	w.m.Doing(meter.Busy)
	w.rows(sl.Cells, at, err)
	now := g.clock.Now()
	w.m.Spent(meter.Busy, now)
	n := int64(len(sl.Cells))
	g.Meter.Service.Add((now-t0)/n, n)
	if n > 1 && !g.Meter.Sliced.Load() {
		g.Meter.Sliced.Store(true)
	}
	want := MaxSlice
	if now > t0 {
		want = int(min(int64(MaxSlice), target*n/(now-t0)))
	}
	w.k = max(1, min(2*w.k, want))
	if at.s.left.Add(-n) == 0 && !w.end(at.s) {
		g.In.Cut()
		g.In.Leave(&w.take)
		return false
	}
	return true
}

// rows fills rows with cells. A row that fails ends the stream at its group, or becomes a stand-in.
func (w *filler[A, B, M]) rows(cells []edge.Cell[A], at grant[B, M], err error) {
	g := w.g
	var in, done, failed, skipped int64
	for i := range cells {
		c := &cells[i]
		if c.Skipped() {
			g.Drop(c)
			continue
		}
		in++
		row := at.row + i
		rerr := err
		if rerr == nil {
			rerr = w.fill(at.s.v, row, c)
		}
		left := rerr != nil && g.Skip && err == nil
		if left {
			if over := g.Skipped(c, rerr); over != nil {
				left, rerr = false, over
			}
		}
		switch {
		case rerr == nil:
			if c.Flags&edge.Padding != 0 {
				at.s.padded.Add(1)
			}
			if g.Keeps {
				at.s.parts[row] = c.Ext
			} else {
				c.End()
			}
			at.s.filled[row] = true
			done++
		case left:
			skipped++
			at.s.bad[row] = true
			at.s.nbad.Add(1)
			g.Drop(c)
		default:
			failed++
			rerr = g.Wrap(w.no, c, rerr)
			g.In.WithLock(func() {
				if at.s.err == nil || row < at.s.errRow {
					at.s.err, at.s.errRow = rerr, row
				}
			})
			g.Drop(c)
		}
		*c = edge.Cell[A]{Tag: edge.Tag{Epoch: c.Epoch}}
	}
	m := g.Meter
	m.In.Add(in)
	m.Entered(w.m, int64(cells[0].Epoch), in)
	m.Done.Add(done)
	m.Failed.Add(failed)
	m.Skipped.Add(skipped)
}

func (w *filler[A, B, M]) fill(out B, row int, c *edge.Cell[A]) (err error) {
	defer func() { err = recovered(recover(), err) }()
	return w.g.Row(w.no, out, row, c)
}

// end completes a slab whose rows are all filled and hands it on. It says whether the stream goes on.
func (w *filler[A, B, M]) end(o *slab[B, M]) bool {
	p := &w.part
	w.m.Doing(meter.WaitOut)
	w.complete(o)
	err := p.Err
	res := w.g.Out.Put(w.take.W, w.g.clock, p, 1, w.m.Last())
	w.yields = w.yields || res.Woke
	if res.Waited {
		w.m.Spent(meter.WaitOut, w.g.clock.Now())
	}
	return res.OK && err == nil
}

// complete makes the part of a slab whose rows are all filled.
func (w *filler[A, B, M]) complete(o *slab[B, M]) {
	g := w.g
	p := &w.part
	*p = edge.Part[B]{Lo: o.ordinal, N: 1, EpochLo: o.epochLo, Cells: p.Cells[:0]}
	o.trail.Done = w.m.Last()
	g.In.WithLock(func() { delete(g.g.active, o.ordinal) })
	good := int64(o.n) - o.nbad.Load()
	switch {
	case o.err != nil:
		p.Err = o.err
		g.undo(o)
		g.In.WithLock(func() { g.recycle(o) })
	case good == 0 && g.None != nil && !(o.short && g.DropLast):
		p.Err = g.None(o.number, &o.last)
		g.undo(o)
		g.In.WithLock(func() { g.recycle(o) })
	case good == 0, o.short && g.DropLast:
		g.Meter.Dropped.Add(good)
		p.Hole = o.trail
		if g.Gone != nil {
			g.Gone(&edge.Tag{Ext: &edge.Ext{Of: &o.of}})
		}
		g.undo(o)
		g.back(o)
	default:
		if o.nbad.Load() > 0 {
			w.standIns(o)
		}
		clear(o.filled)
		c := edge.Cell[B]{Tag: o.last}
		c.Trail, c.Ext, c.Flags = o.trail, edge.NewExt(), 0
		c.Ext.Count, c.Ext.Padded, c.Ext.Child = int(good), int(o.padded.Load()), o.child
		if g.Gone != nil {
			of := o.of
			c.Ext.Of = &of
		}
		if g.Keeps {
			c.Ext.Hold, c.Ext.Size = g.Bind(o.parts[:o.n])
			clear(o.parts)
		}
		c.V = g.Done(o.v, o.n, o.number, o.meta[:o.n], o.free)
		p.Cells = append(p.Cells, c)
	}
}

// standIns gives each row without a sample the next good row of the group; after the last good row, the first.
func (w *filler[A, B, M]) standIns(o *slab[B, M]) {
	g := w.g
	first := 0
	for o.bad[first] {
		first++
	}
	from := first
	for row := o.n - 1; row >= 0; row-- {
		if !o.bad[row] {
			from = row
			continue
		}
		g.Fill(o.v, row, from)
		g.StandIn(&o.meta[row], &o.meta[from])
		g.Meter.StandIns.Add(1)
	}
}

// endDue ends short groups that nobody else will end.
func (w *filler[A, B, M]) endDue() bool {
	for {
		var o *slab[B, M]
		w.g.In.WithLock(func() {
			if d := w.g.g.due; len(d) > 0 {
				o, w.g.g.due = d[0], d[1:]
			}
		})
		if o == nil {
			return true
		}
		if !w.end(o) {
			w.g.In.Cut()
			return false
		}
	}
}

// last ends the short group at the end of the stream. All other workers have left. A group that an error cut short is
// not handed on: only the last one of an epoch may be short.
func (w *filler[A, B, M]) last() {
	var o *slab[B, M]
	failed := w.g.In.Err() != nil
	w.g.In.WithLock(func() {
		o = w.g.g.open
		if o != nil && !w.g.g.shut(o, w.g.Size) {
			o = nil
		}
	})
	if w.endDue() && o != nil && !failed && !w.g.run.Over() {
		w.m.Spent(meter.WaitIn, w.g.clock.Now())
		w.end(o)
	}
	var broken []*slab[B, M] // the run was broken off in the middle of these
	w.g.In.WithLock(func() { // the stage before may still be at work, and ask for places
		for _, o := range w.g.g.active {
			broken = append(broken, o)
		}
	})
	for _, o := range broken {
		w.g.undo(o)
	}
}
