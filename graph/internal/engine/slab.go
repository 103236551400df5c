package engine

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// groups is the state that the input edge's lock guards.
type groups[B, M any] struct {
	free     []*slab[B, M]
	made     int
	peak     int // of made
	extra    int // slabs that the consumer keeps
	open     *slab[B, M]
	early    []*slab[B, M] // opened before their first row was placed, in order; see Slot
	spans    []span        // of the epochs that Slot has met
	opened   int64         // ordinal of the next output
	number   int64         // of the next output in its epoch
	epoch    int32
	epochLo  int64 // ordinal of the first output of the epoch
	due      []*slab[B, M]
	active   map[int64]*slab[B, M] // begun and not completed, by ordinal
	grants   map[int64]grant[B, M]
	firstErr error
	started  bool
	fitted   bool
	since    int64 // since when a slab is wanted
	holder   *meter.Stage
	arrivals int // of the output filled last
}

type grant[B, M any] struct {
	s   *slab[B, M]
	row int
}

// slab is one output being filled.
type slab[B, M any] struct {
	v       B
	made    bool // v is there
	n       int  // rows given out
	ordinal int64
	epochLo int64
	number  int64
	epoch   int32
	short   bool
	left    atomic.Int64 // rows still to be filled
	bad     []bool       // rows without a sample of their own
	filled  []bool
	parts   []*edge.Ext // of the rows, where the output keeps them
	nbad    atomic.Int64
	padded  atomic.Int64 // of the rows that are filled
	meta    []M
	errRow  int
	err     error
	trail   *meter.Trail
	last    edge.Tag // of the last row; its Ext is not the slab's to use
	child   string   // path of the last row
	of      []edge.Place
	free    func()
}

// make takes a slab's memory. The very first input fixes the layout of all.
func (g *Group[A, B, M]) make(o *slab[B, M], c *edge.Cell[A]) {
	s := &g.g
	o.made = true
	if !s.started {
		s.started = true
		if g.First != nil {
			s.firstErr = Safely(func() error { return g.First(c) })
		}
	}
	if s.firstErr == nil {
		s.firstErr = Safely(func() (err error) { o.v, err = g.Slab(); return err })
	}
	if s.firstErr == nil && g.Fit != nil && !s.fitted {
		s.fitted = true
		g.Slabs, s.firstErr = g.Fit(o.v, g.Slabs)
	}
}

// spare says that a slab can be begun.
func (g *Group[A, B, M]) spare() bool { return len(g.g.free) > 0 || g.g.made < g.Slabs+g.g.extra }

// begin opens a slab for an epoch, or gives nil when there is none.
func (g *Group[A, B, M]) begin(epoch int32) *slab[B, M] {
	s := &g.g
	var o *slab[B, M]
	switch {
	case len(s.free) > 0:
		o, s.free = s.free[len(s.free)-1], s.free[:len(s.free)-1]
	case s.made < g.Slabs+s.extra:
		s.made++
		s.peak = max(s.peak, s.made)
		o = &slab[B, M]{bad: make([]bool, g.Size), filled: make([]bool, g.Size), meta: make([]M, g.Size)}
		if g.Keeps {
			o.parts = make([]*edge.Ext, g.Size)
		}
		o.free = func() { g.back(o) }
		if s.fitted && !g.Fresh && s.firstErr == nil { // the first error stays
			o.made = true
			s.firstErr = Safely(func() (err error) { o.v, err = g.Slab(); return err })
		}
	default:
		if s.since == 0 {
			s.since = g.clock.Now()
			g.waiting.Store(true)
		}
		return nil
	}
	if s.opened == 0 || s.epoch != epoch {
		s.epoch, s.number, s.epochLo = epoch, 0, s.opened
		if s.opened == 0 && epoch == g.FirstEpoch {
			s.number = g.FirstNumber
		}
	}
	o.epochLo = s.epochLo
	o.n, o.ordinal, o.number, o.epoch, o.short = 0, s.opened, s.number, s.epoch, false
	o.err, o.of = nil, nil
	o.nbad.Store(0)
	o.padded.Store(0)
	o.left.Store(int64(g.Size))
	o.trail = meter.Gather(g.Meter, s.arrivals)
	if s.since > 0 {
		m := o.trail.More
		m.SlabFrom, m.SlabTo, m.Holder = s.since, g.clock.Now(), s.holder
		if s.holder == nil {
			m.Holder = g.Meter
		}
		if g.Stalled != nil {
			g.Stalled(m.SlabTo - m.SlabFrom)
		}
		s.since = 0
		g.waiting.Store(false)
	}
	s.active[o.ordinal] = o
	s.opened++
	s.number++
	return o
}

// shut says that no more rows will come to a slab; true if nobody else will end it.
func (s *groups[B, M]) shut(o *slab[B, M], size int) bool {
	if s.open == o {
		s.open = nil
	}
	o.short = true
	return o.left.Add(int64(o.n-size)) == 0
}

// back takes a slab whose output has been used.
func (g *Group[A, B, M]) back(o *slab[B, M]) {
	g.In.WithLock(func() { g.recycle(o) })
	g.In.WakeSlab()
}

func (g *Group[A, B, M]) recycle(o *slab[B, M]) {
	s := &g.g
	if s.made > g.Slabs+s.extra {
		s.made--
		return
	}
	o.made = o.made && !g.Fresh
	s.free = append(s.free, o)
}

// Keep lets one more slab be made, for an output that the consumer keeps; Unkeep takes that back.
func (g *Group[A, B, M]) Keep(n int) {
	g.In.WithLock(func() { g.g.extra += n })
	g.In.WakeSlab()
}

// Most is how many outputs may be under way.
func (g *Group[A, B, M]) Most() (n int) {
	g.In.WithLock(func() { n = g.Slabs + g.g.extra })
	return n
}

// Made is how many outputs there were at once at most.
func (g *Group[A, B, M]) Made() (n int) {
	g.In.WithLock(func() { n = g.g.peak })
	return n
}

// Waiting says that a slab is wanted; Held then names the stage that held the output which was delivered last.
func (g *Group[A, B, M]) Waiting() bool { return g.waiting.Load() }

// Held notes who held a slab.
func (g *Group[A, B, M]) Held(st *meter.Stage) { g.In.WithLock(func() { g.g.holder = st }) }

// undo gives up the rows of an output that is not handed on.
func (g *Group[A, B, M]) undo(o *slab[B, M]) {
	for row := range o.filled[:o.n] {
		if o.filled[row] && g.Undo != nil {
			g.Undo(o.v, row)
		}
		if g.Keeps {
			(&edge.Tag{Ext: o.parts[row]}).End()
			o.parts[row] = nil
		}
		o.filled[row] = false
	}
}
