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
	Meta  func(c *edge.Cell[A], old M) M // of a row; old is the place's last value, for its memory
	// StandIn marks a row that copies another.
	StandIn func(to, from *M)
	Drop    func(*edge.Cell[A])
	Wrap    func(worker int, c *edge.Cell[A], err error, stack []byte) error
	// Skipped notes a row that is left out; an error says that there are too many.
	Skipped func(c *edge.Cell[A], err error) error
	Key     func(*edge.Cell[A]) string

	live    atomic.Int32
	waiting atomic.Bool
	g       groups[B, M] // under the input edge's lock
	clock   *meter.Clock
	run     *Run
}

// groups is the state that the input edge's lock guards.
type groups[B, M any] struct {
	free     []*slab[B, M]
	made     int
	extra    int // slabs that the consumer keeps
	open     *slab[B, M]
	early    []*slab[B, M] // opened before their first row was placed, in order; see Slot
	spans    []span        // of the epochs that Slot has met
	opened   int64         // ordinal of the next output
	number   int64         // of the next output in its epoch
	epoch    int32
	epochLo  int64 // ordinal of the first output of the epoch
	due      []*slab[B, M]
	active   map[*slab[B, M]]struct{} // begun and not completed
	grants   map[int64]grant[B, M]
	firstErr error
	started  bool
	fitted   bool
	since    int64 // since when a slab is wanted
	holder   *meter.Stage
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
	nbad    atomic.Int64
	meta    []M
	errRow  int
	err     error
	trail   *meter.Trail
	last    edge.Tag // of the last row; its Ext is not the slab's to use
	child   string   // path of the last row
	free    func()
}

// Start starts the workers.
func (g *Group[A, B, M]) Start(r *Run) {
	g.clock, g.run = r.Clock, r
	g.g.grants = make(map[int64]grant[B, M])
	g.g.active = make(map[*slab[B, M]]struct{})
	g.In.Group = g.assign
	g.Out.Upstream(g.In.Cut)
	r.OnEnd(g.In.Abort)
	r.OnEnd(g.Out.Abort)
	g.live.Store(int32(g.Workers))
	for i := range g.Workers {
		r.Work(g.Meter, func() {
			w := &filler[A, B, M]{g: g, no: i, m: g.Meter.NewWorker(r.Clock.Now()), k: 1}
			w.take.W = edge.NewWaiter()
			for w.slice() {
			}
			if g.live.Add(-1) == 0 {
				w.last()
				g.Out.Close(g.In.Err())
			}
		})
	}
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
		if t := c.Trail; t != nil {
			if l := len(o.trail.Rows); l == 0 || o.trail.Rows[l-1].Trail != t {
				o.trail.Rows = append(o.trail.Rows, meter.Arrival{At: t.Released, Trail: t})
			}
		}
	}
	o.n += n
	if o.last, o.child = first[n-1].Tag, ""; o.last.Ext != nil {
		o.child = o.last.Ext.Child
	}
	if o.n == g.Size {
		s.open = nil
	}
	return n
}

// span is where an epoch begins: the ordinals of its first input and of its first output.
type span struct {
	epoch       int32
	lo, ordinal int64
}

// Slot finds the place of an input before it arrives: that of the ordinal at the input of the stage before, which makes
// one output of each input. It may open the next slab early. ok is false where the place is not known yet; the input
// is then copied when it arrives.
func (g *Group[A, B, M]) Slot(epoch int32, epochLo, ordinal int64) (v B, row int, ok bool) {
	g.In.WithLock(func() {
		s := &g.g
		if !s.fitted || s.firstErr != nil || g.Fresh {
			return
		}
		base, known := s.spanOf(epoch, epochLo, int64(g.Size))
		if !known {
			return
		}
		n := ordinal - epochLo
		at := base + n/int64(g.Size)
		var o *slab[B, M]
		switch {
		case at == s.opened && (len(s.free) > 0 || s.made < g.Slabs+s.extra):
			if o = g.begin(epoch); o != nil {
				s.early = append(s.early, o)
			}
		case at < s.opened:
			o = s.find(at)
		}
		if o != nil && o.made {
			v, row, ok = o.v, int(n%int64(g.Size)), true
		}
	})
	return v, row, ok
}

// spanOf gives the ordinal of an epoch's first output. Epochs are met in order.
func (s *groups[B, M]) spanOf(epoch int32, lo, size int64) (int64, bool) {
	for i := len(s.spans) - 1; i >= 0; i-- {
		if s.spans[i].epoch == epoch {
			return s.spans[i].ordinal, true
		}
	}
	next := span{epoch: epoch, lo: lo}
	if n := len(s.spans); n > 0 {
		last := s.spans[n-1]
		if last.epoch > epoch {
			return 0, false
		}
		next.ordinal = last.ordinal + (lo-last.lo+size-1)/size
	} else if lo != 0 {
		return 0, false
	}
	if s.spans = append(s.spans, next); len(s.spans) > 64 {
		s.spans = append(s.spans[:0], s.spans[32:]...)
	}
	return next.ordinal, true
}

func (s *groups[B, M]) find(ordinal int64) *slab[B, M] {
	for o := range s.active {
		if o.ordinal == ordinal {
			return o
		}
	}
	return nil
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

// begin opens a slab for an epoch, or gives nil when there is none.
func (g *Group[A, B, M]) begin(epoch int32) *slab[B, M] {
	s := &g.g
	var o *slab[B, M]
	switch {
	case len(s.free) > 0:
		o, s.free = s.free[len(s.free)-1], s.free[:len(s.free)-1]
	case s.made < g.Slabs+s.extra:
		s.made++
		o = &slab[B, M]{bad: make([]bool, g.Size), filled: make([]bool, g.Size), meta: make([]M, g.Size)}
		o.free = func() { g.back(o) }
		if s.fitted && !g.Fresh {
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
	o.err = nil
	o.nbad.Store(0)
	o.left.Store(int64(g.Size))
	o.trail = &meter.Trail{Stage: g.Meter, Rows: make([]meter.Arrival, 0, 8)}
	if s.since > 0 {
		o.trail.SlabFrom, o.trail.SlabTo, o.trail.Holder = s.since, g.clock.Now(), s.holder
		if s.holder == nil {
			o.trail.Holder = g.Meter
		}
		s.since = 0
		g.waiting.Store(false)
	}
	s.active[o] = struct{}{}
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

// Waiting says that a slab is wanted; Held then names the stage that held the output which was delivered last.
func (g *Group[A, B, M]) Waiting() bool { return g.waiting.Load() }

// Held notes who held a slab.
func (g *Group[A, B, M]) Held(st *meter.Stage) { g.In.WithLock(func() { g.g.holder = st }) }

// filler is one worker of a group.
type filler[A, B, M any] struct {
	g    *Group[A, B, M]
	no   int
	m    *meter.Worker
	take edge.Taker[A]
	part edge.Part[B]
	cur  int
	k    int
}

// slice takes a slice of rows and fills them. It says whether there may be more.
func (w *filler[A, B, M]) slice() bool {
	g := w.g
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
		rerr, stack := err, []byte(nil)
		if rerr == nil {
			rerr, stack = w.fill(at.s.v, row, c)
		}
		left := rerr != nil && g.Skip && err == nil
		if left {
			if over := g.Skipped(c, rerr); over != nil {
				left, rerr = false, over
			}
		}
		switch {
		case rerr == nil:
			c.End()
			at.s.filled[row] = true
			done++
		case left:
			skipped++
			at.s.bad[row] = true
			at.s.nbad.Add(1)
			g.Drop(c)
		default:
			failed++
			rerr = g.Wrap(w.no, c, rerr, stack)
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

func (w *filler[A, B, M]) fill(out B, row int, c *edge.Cell[A]) (err error, stack []byte) {
	defer func() { err, stack = recovered(recover(), err) }()
	return w.g.Row(w.no, out, row, c), nil
}

// end completes a slab whose rows are all filled and hands it on. It says whether the stream goes on.
func (w *filler[A, B, M]) end(o *slab[B, M]) bool {
	p := &w.part
	w.complete(o)
	err := p.Err
	res := w.g.Out.Put(w.take.W, w.g.clock, p, 1, w.m.Last())
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
	g.In.WithLock(func() { delete(g.g.active, o) })
	good := int64(o.n) - o.nbad.Load()
	switch {
	case o.err != nil:
		p.Err = o.err
		g.undo(o)
		g.In.WithLock(func() { g.recycle(o) })
	case good == 0, o.short && g.DropLast:
		g.Meter.Dropped.Add(good)
		p.Hole = o.trail
		g.undo(o)
		g.back(o)
	default:
		if o.nbad.Load() > 0 {
			w.standIns(o)
		}
		clear(o.filled)
		c := edge.Cell[B]{Tag: o.last}
		c.Trail, c.Ext, c.Flags = o.trail, edge.NewExt(), 0
		c.Ext.Count, c.Ext.Child = int(good), o.child
		c.V = g.Done(o.v, o.n, o.number, o.meta[:o.n], o.free)
		p.Cells = append(p.Cells, c)
	}
}

// undo gives up the rows of an output that is not handed on.
func (g *Group[A, B, M]) undo(o *slab[B, M]) {
	for row := range o.filled[:o.n] {
		if o.filled[row] && g.Undo != nil {
			g.Undo(o.v, row)
		}
		o.filled[row] = false
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
	for o := range w.g.g.active { // the run was broken off in the middle of these
		w.g.undo(o)
	}
}
