package engine

import (
	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Out is where a body puts its results. It belongs to one worker.
type Out[B any] struct {
	// Cur is the index of the input that is being worked on; the body sets it, so that a panic is charged rightly.
	Cur int
	// Counters of the slice.
	Marks, Done, Filtered, Skips int64

	edge  *edge.Edge[B]
	w     streamer
	cells []edge.Cell[B]
	limit int

	stage     *meter.Stage
	first, lo int64 // ordinal of the slice's first input; of the first input not yet handed over
	epochLo   int64
	took      int64
	fresh     bool
	trail     *meter.Trail
	prev      *meter.Trail
	trails    []*meter.Trail
	arena     []meter.Trail
	dead      bool
	idle      int64 // waits while streaming
}

type streamer interface {
	stream()
	park(func() error) error
}

func (o *Out[B]) begin(st *meter.Stage, lo, epochLo, took int64, fresh bool) {
	o.stage, o.first, o.lo, o.epochLo, o.took, o.fresh = st, lo, lo, epochLo, took, fresh
	o.trail, o.trails = nil, o.trails[:0]
	o.Cur, o.Marks, o.Done, o.Filtered, o.Skips = 0, 0, 0, 0, 0
	o.dead, o.idle = false, 0
}

// Hurry says that everyone downstream has been idle for long: stop after this item.
func (o *Out[B]) Hurry() bool { return o.edge != nil && o.edge.Starving() }

// Put adds a result of the input with this tag; it takes over the tag's Ext.
func (o *Out[B]) Put(v B, from *edge.Tag) *edge.Cell[B] {
	o.cells = append(o.cells, edge.Cell[B]{V: v, Tag: *from})
	c := &o.cells[len(o.cells)-1]
	c.Trail = o.trailOf(from.Trail)
	return c
}

// Place is the ordinal of the input that is being worked on, and that of the first of its epoch.
func (o *Out[B]) Place() (ordinal, epochLo int64) { return o.first + int64(o.Cur), o.epochLo }

// Stream is called by a body that puts many results for one input, before each of them: what is done is handed over
// when it grows longer than the buffer. After it returns false the run is over and results are dropped.
func (o *Out[B]) Stream() bool {
	if len(o.cells) >= o.limit && !o.dead {
		o.w.stream()
	}
	return !o.dead
}

// trailOf gives the trail for items that came by prev: one for each slice and distinct upstream trail.
func (o *Out[B]) trailOf(prev *meter.Trail) *meter.Trail {
	if o.trail != nil && prev == o.prev {
		return o.trail
	}
	if len(o.arena) == 0 {
		o.arena = make([]meter.Trail, min(32, max(4, o.limit/4))) // the more workers there are, the fewer has each
	}
	t := &o.arena[0]
	o.arena = o.arena[1:]
	t.Stage, t.Took, t.Prev, t.Fresh = o.stage, o.took, prev, o.fresh
	o.trail, o.prev = t, prev
	o.trails = append(o.trails, t)
	return t
}

// Passed notes the trail of an input without results.
func (o *Out[B]) Passed(from *edge.Tag) { o.trailOf(from.Trail) }

// hole is a trail that stands for a slice without results.
func (o *Out[B]) hole() *meter.Trail {
	if n := len(o.trails); n > 0 {
		return o.trails[n-1]
	}
	return nil
}

// stamp sets when the slice was done.
func (o *Out[B]) stamp(now int64) {
	for _, t := range o.trails {
		t.Done = now
	}
}

// Room calls wait, in a body that waits until there is room for a result.
func (o *Out[B]) Room(wait func() error) error {
	if o.w == nil {
		return wait()
	}
	return o.w.park(wait)
}

func (w *worker[A, B]) park(wait func() error) error {
	w.m.Spent(meter.Busy, w.r.Clock.Now())
	w.m.Doing(meter.WaitOut)
	err := wait()
	w.out.idle += w.m.Spent(meter.WaitOut, w.r.Clock.Now())
	w.m.Doing(meter.Busy)
	return err
}

// stream hands over the results so far, before the input is done: only the oldest worker may go on.
func (w *worker[A, B]) stream() {
	o, p := &w.out, &w.part
	now := w.r.Clock.Now()
	w.m.Spent(meter.Busy, now)
	o.stamp(now)
	if w.s.Finish != nil || w.s.Hash != nil {
		now = w.finish(now)
	}
	upTo := o.first + int64(o.Cur)
	*p = edge.Part[B]{Lo: o.lo, N: upTo - o.lo, EpochLo: o.epochLo, Cells: o.cells, Partial: true}
	res := w.s.Out.Put(w.wait, w.r.Clock, p, w.k, now)
	o.cells, o.lo, o.dead = p.Cells, upTo, !res.OK
	o.idle += w.m.Spent(meter.WaitOut, w.r.Clock.Now())
	// A trail is frozen once any of its items is handed over: begin a new one.
	o.took, o.trails, o.trail = w.m.Last(), o.trails[:0], nil
}
