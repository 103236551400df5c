package engine

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Group is the running form of a stage that collects Size inputs of one epoch into one output. Places are given out
// under the input edge's lock, in order; rows are filled by all workers; the worker that fills the last row hands the
// output on. M is what is known of each row.
type Group[A, B, M any] struct {
	Meter    *meter.Stage
	Workers  int
	In       *edge.Edge[A]
	Out      *edge.Edge[B]
	Size     int
	DropLast bool
	Skip     bool // a row that cannot be filled is replaced by a stand-in
	Slabs    int  // how many outputs may be under way

	// FirstNumber is that of the first output, if it is of FirstEpoch: in a run that goes on after another.
	FirstEpoch  int32
	FirstNumber int64

	First func(c *edge.Cell[A]) error
	Slab  func() (B, error)
	// Fit, if set, sees the first slab and says how many there may be.
	Fit func(first B, slabs int) (int, error)
	// Row fills a row, and releases the input unless it fails.
	Row  func(worker int, out B, row int, c *edge.Cell[A]) error
	Fill func(out B, to, from int)
	// Undo, if set, gives a filled row up whose output is not handed on.
	Undo func(out B, row int)
	Done func(out B, n int, number int64, meta []M, free func()) B
	// Fresh: outputs are not used again; each gets memory of its own.
	Fresh bool
	// Keeps: the inputs live on in the output. Bind ties what they take of the byte budget together; it returns how much
	// they hold now, too.
	Keeps bool
	Bind  func(parts []*edge.Ext) (*edge.Hold, int64)
	Meta  func(c *edge.Cell[A], old M) M // of a row; old is the place's last value, for its memory
	// StandIn marks a row that copies another.
	StandIn func(to, from *M)
	Drop    func(*edge.Cell[A])
	Wrap    func(worker int, c *edge.Cell[A], err error) error
	// Skipped notes a row that is left out; an error says that there are too many.
	Skipped func(c *edge.Cell[A], err error) error
	Key     func(*edge.Cell[A]) string
	// Full, if set, is told when the last row of an output has been given out.
	Full func(epoch int32, number int64)
	// None, if set, makes the error of an output without a row of its own; without it such an output is left out.
	None func(number int64, last *edge.Tag) error

	// Gone, if set, is told of an output that is not handed on. Then outputs bear the places of their members.
	Gone func(t *edge.Tag)

	// Stalled, if set, is told how long a slab was waited for.
	Stalled func(ns int64)

	Staff
	waiting atomic.Bool
	g       groups[B, M] // under the input edge's lock
	clock   *meter.Clock
	run     *Run
}

// Start starts the workers.
func (g *Group[A, B, M]) Start(r *Run) {
	g.clock, g.run = r.Clock, r
	g.g.grants = make(map[int64]grant[B, M])
	g.g.active = make(map[int64]*slab[B, M])
	g.In.Group = g.assign
	g.In.Prompt()
	g.Out.Upstream(g.In.Cut)
	r.OnEnd(g.In.Abort)
	r.OnEnd(g.Out.Abort)
	g.open(g.Workers, g.In.Staff, func(no int, late bool) {
		r.Work(g.Meter, func() {
			w := &filler[A, B, M]{g: g, no: no, m: g.Meter.NewWorker(r.Clock.Now()), k: 1}
			w.take.W, w.take.No, w.take.Late = edge.NewWaiter(), no, late
			r.Watch(g.Meter, w.m)
			for w.slice() {
			}
			w.m.Left()
			if g.left() {
				w.last()
				g.Out.Close(g.In.Err())
			}
		})
	})
}

// assign decides where the first items at the input go. It is called under the input edge's lock. It returns how many
// it placed; 0 when there is no slab; -1 when a short group must be ended first.
func (g *Group[A, B, M]) assign(first []edge.Cell[A], lo int64) int {
	s := &g.g
	if s.open != nil && s.open.epoch != first[0].Epoch {
		if o := s.open; s.shut(o, g.Size) {
			s.due = append(s.due, o)
		}
		return -1
	}
	if s.open == nil {
		if len(s.early) > 0 {
			s.open, s.early = s.early[0], s.early[1:]
		} else if s.open = g.begin(first[0].Epoch); s.open == nil {
			return 0
		}
	}
	o := s.open
	n := min(len(first), g.Size-o.n)
	s.grants[lo] = grant[B, M]{o, o.n}
	for i := range n {
		c := &first[i]
		o.bad[o.n+i] = c.Skipped()
		if c.Skipped() {
			o.nbad.Add(1)
		} else if !o.made {
			g.make(o, c)
		}
		o.meta[o.n+i] = g.Meta(c, o.meta[o.n+i])
		if g.Gone != nil {
			o.of = c.Places(o.of)
		}
		o.trail.More.Arrived(c.Trail)
	}
	o.n += n
	if o.last, o.child = first[n-1].Tag, ""; o.last.Ext != nil {
		o.child = o.last.Ext.Child
	}
	if o.n == g.Size {
		s.open, s.arrivals = nil, len(o.trail.More.Rows)
		if g.Full != nil {
			g.Full(o.epoch, o.number)
		}
	}
	return n
}
