package engine

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Hits implements [Cached].
func (c *Cache[T]) Hits(w *edge.Waiter, m *meter.Worker) Hits[struct{}] {
	return &finder[T]{c: c, w: w, m: m}
}

// finder takes items out of a cache for one worker of the source.
type finder[T any] struct {
	c     *Cache[T]
	w     *edge.Waiter
	m     *meter.Worker
	cells []edge.Cell[T]
	count []int // items of each place
	known []known
	part  edge.Part[T]
}

// Pass implements [Hits].
func (f *finder[T]) Pass(sl edge.Slice[struct{}]) bool {
	c := f.c
	t := &meter.Trail{Stage: c.Meter, Took: f.m.Last(), Fresh: sl.Waited}
	f.m.Doing(meter.Busy)
	f.find(sl.Cells, t)
	t.Done = c.r.Clock.Now()
	f.m.Spent(meter.Busy, t.Done)
	f.m.Doing(meter.WaitOut)
	epoch, from, ok := int64(sl.Cells[0].Epoch), 0, true
	for sent := 0; ok && sent < len(f.count); {
		ticket := sl.Lo + int64(sent)
		n, waited := c.Admit(f.w, ticket, f.cells[from:], f.count[sent:])
		if waited {
			f.m.Spent(meter.WaitOut, c.r.Clock.Now())
		}
		if ok = n > 0; ok {
			end := from
			for _, items := range f.count[sent : sent+n] {
				end += items
			}
			c.hit(epoch, int64(n)) // before they are handed over: the epoch may end with them
			ok = f.put(ticket, int64(n), sl.EpochLo, f.cells[from:end], &sl.Cells[sent].Tag, t)
			sent, from = sent+n, end
		}
	}
	for i := range f.cells[from:] {
		c.Drop(&f.cells[from+i])
	}
	clear(f.cells)
	return ok
}

// find takes the items of places out of the cache.
func (f *finder[T]) find(places []edge.Cell[struct{}], t *meter.Trail) {
	c := f.c
	f.cells, f.count = f.cells[:0], f.count[:0]
	f.known = c.traits(places, f.known[:0])
	for i := range places {
		k, from := &f.known[i], len(f.cells)
		tag := places[i].Tag
		tag.Flags &^= edge.Hit
		tag.Trail = t
		c.Find(c.Index(&tag), func(v T) {
			f.cells = append(f.cells, c.again(v, tag, k.of(len(f.cells)-from)))
		})
		f.count = append(f.count, len(f.cells)-from)
		if c.Found != nil {
			c.Found(&tag, len(f.cells)-from)
		}
	}
	clear(f.known)
}

// again is an item of the cache at a place.
func (c *Cache[T]) again(v T, tag edge.Tag, t trait) edge.Cell[T] {
	x := edge.Cell[T]{V: v, Tag: tag}
	if t.hash != 0 || t.child != "" {
		x.Ext = edge.NewExt()
		x.Ext.Hash, x.Ext.Child = t.hash, t.child
	}
	if c.Finish != nil {
		c.Finish(&x)
	}
	return x
}

func (f *finder[T]) put(ticket, n, epochLo int64, cells []edge.Cell[T], first *edge.Tag, t *meter.Trail) bool {
	c, p := f.c, &f.part
	*p = edge.Part[T]{Lo: ticket, N: n, EpochLo: epochLo, Cells: append(p.Cells[:0], cells...), First: *first}
	if len(cells) == 0 {
		p.Hole = t
	}
	res := c.Out.Put(f.w, c.r.Clock, p, int(min(n, MaxSlice)), f.m.Last())
	if res.Waited {
		f.m.Spent(meter.WaitOut, c.r.Clock.Now())
	}
	c.Hit.Add(c.entered(&res, cells))
	return res.OK
}

// Pull runs the cache by pulling: what it does not have it pulls from in, whose source takes its places from
// [Cache.Place].
func (c *Cache[T]) Pull(r *Run, in Pull[T]) Pull[T] {
	w := &keeper[T]{c: c, k: 1}
	f := &finder[T]{c: c}
	var ready []edge.Cell[T]
	var out *atomic.Int64 // counts them
	var failed error
	ended := false
	r.Left(func() {
		for i := range ready {
			c.Out.Drop(&ready[i])
		}
		ready = nil
	})
	return func() (x edge.Cell[T], ok bool, err error) {
		if w.m == nil {
			w.m = c.Meter.NewWorker(r.Clock.Now())
			f.m = w.m
		}
		for len(ready) == 0 {
			if failed != nil || ended {
				return x, false, failed
			}
			place, done := c.Places(nil, 1)
			switch {
			case done: // what is between ends too
				_, _, failed = in()
				ended = true
			case place[0].Flags&edge.Hit != 0:
				f.find(place, &meter.Trail{Stage: c.Meter, Took: w.m.Last(), Done: w.m.Last(), Released: w.m.Last()})
				c.hit(int64(place[0].Epoch), 1)
				ready, out = append(ready, f.cells...), &c.Hit
				w.m.Spent(meter.Busy, r.Clock.Now())
			default:
				c.place, out = place, &c.Missed
				ready, failed, ended = w.pull(in)
			}
			if c.Out.OnPass != nil {
				p := edge.Part[T]{Cells: ready, Err: failed}
				c.Out.Sift(&p)
				ready, failed = p.Cells, p.Err
			}
		}
		x, ready = ready[0], ready[1:]
		if c.Out.Note(&x); !x.Skipped() {
			out.Add(1)
		}
		w.m.Spent(meter.WaitOut, r.Clock.Now())
		return x, true, nil
	}
}

// pull gets everything that one place makes.
func (w *keeper[T]) pull(in Pull[T]) (ready []edge.Cell[T], err error, ended bool) {
	c := w.c
	for len(w.runs) == 0 {
		x, ok, err := in()
		w.m.Spent(meter.WaitIn, c.r.Clock.Now())
		if !ok {
			ready = append(ready, w.out.cells...)
			w.out.cells = nil
			return ready, err, true
		}
		t0 := w.m.Last()
		n := w.work([]edge.Cell[T]{x}, w.lo, 0, true)
		w.lo++
		now := c.r.Clock.Now()
		w.m.Spent(meter.Busy, now)
		w.out.stamp(now)
		w.account(n, now-t0)
	}
	w.runs = w.runs[:0]
	ready = append(ready, w.out.cells...)
	for i := range ready {
		ready[i].Trail.Released = w.m.Last()
	}
	w.out.cells, w.open = w.out.cells[:0], 0
	return ready, nil, false
}

// Place gives the place that the cache wants to have read, in a run without goroutines.
func (c *Cache[T]) Place([]edge.Cell[struct{}], int) ([]edge.Cell[struct{}], bool) {
	p := c.place
	c.place = nil
	return p, len(p) == 0
}
