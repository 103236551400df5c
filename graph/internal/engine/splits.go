package engine

import (
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// endOfSplit flags the cell after a split's last record.
const endOfSplit uint16 = 1 << 15

// Splits is the running form of a source that is read forward, in splits. Width splits are open at once and give one
// record each in turn; when one ends, the next split takes its turn. Which split follows is known from the records
// alone, so the order depends on no worker. Each open split is a lane with a goroutine of its own, of which Workers
// read at a time.
type Splits[T any] struct {
	Meter   *meter.Stage
	Workers int
	Width   int
	N       int // splits of a pass
	Most    int // splits of an epoch
	Epochs  int // below 0: forever
	Out     *edge.Edge[T]
	// Read emits the records of the split whose turn this is, from a record on.
	Read func(lane int, epoch int64, turn int, from int64, emit func(T) error) error
	// Quota is how many records an epoch has, or OnePass; Over says that it is over before that. An epoch with a quota goes
	// through the splits again when all have ended: turns from N on.
	Quota func(epoch int64) int64
	Over  func(epoch int64) bool
	// Marks: the ends of passes are marked.
	Marks bool
	// Keep, if set, says which records of the epoch, by number, are the rank's own.
	Keep func(number int64) bool
	// Came, if set, is told of each record that goes on, in order.
	Came func(*edge.Tag)
	// Note, if set, is told from time to time where the source stands.
	Note func(SplitMark)
	// From is where a run goes on after another. What comes up to the record of place Until was delivered before; Again
	// says that this record itself was not, as a whole.
	From  *SplitMark
	Until int64
	Again bool
	// Tag is a record's tag.
	Tag func(epoch int64, turn int, record int64) edge.Tag
	// Wrap makes the error of a split after so many records; Skip, if set, takes it and the split ends there.
	Wrap func(lane int, t *edge.Tag, err error) error
	Skip func(t *edge.Tag, err error)
	Drop func(*edge.Cell[T])
	// Fail makes an error that no split made.
	Fail func(error) error
	// Finish and Hash are as in Stage.
	Finish, Hash func(*edge.Cell[T])
	Gate         Gate[T]

	r       *Run
	lanes   []*splitLane[T]
	reading turns
	mu      sync.Mutex
	drained bool
	current atomic.Int64 // records of epochs before this one are not wanted
}

// splitLane reads one split after the other.
type splitLane[T any] struct {
	no     int
	next   chan turn
	edge   *edge.Edge[T]
	take   edge.Taker[T]
	cells  []edge.Cell[T]
	m      *meter.Worker
	wait   *edge.Waiter
	part   edge.Part[T]
	lo     int64
	k      int
	record int64

	epoch int64 // of the split being taken, and which it is
	turn  int
	taken int64 // records taken of it; -1: no more come
}

type turn struct {
	epoch int64
	turn  int
	from  int64
}

// Resize lets n lanes read at a time.
func (s *Splits[T]) Resize(n int) int {
	n = min(n, s.Width)
	s.reading.set(n)
	return n
}

// Lanes is how many there are.
func (s *Splits[T]) Lanes() int { return s.Width }

// Drain ends the source after the records that are read already.
func (s *Splits[T]) Drain() {
	s.mu.Lock()
	s.drained = true
	s.mu.Unlock()
}

func (s *Splits[T]) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drained
}

// Start starts the lanes and what takes from them in turn.
func (s *Splits[T]) Start(r *Run) {
	s.r = r
	s.reading.set(s.Workers)
	for i := range min(s.Width, s.N) {
		l := &splitLane[T]{no: i, next: make(chan turn, 1), k: 1, wait: edge.NewWaiter()}
		l.edge = edge.New(edge.Config{Producers: 1, Consumers: 1, Ordered: true}, s.Drop)
		l.take.W = edge.NewWaiter()
		s.lanes = append(s.lanes, l)
		r.OnEnd(l.edge.Abort)
		r.Work(s.Meter, func() { s.run(l) })
	}
	s.Out.Upstream(s.cut)
	r.OnEnd(s.Out.Abort)
	r.Work(s.Meter, func() { s.Out.Close(s.interleave()) })
}

// dismiss lets the lanes end, which wait for their next split.
func (s *Splits[T]) dismiss() {
	s.cut()
	for _, l := range s.lanes {
		close(l.next)
		for i := range l.cells {
			s.Drop(&l.cells[i])
		}
	}
}

func (s *Splits[T]) cut() {
	for _, l := range s.lanes {
		l.edge.Cut()
	}
}

// run is a lane's goroutine: it reads the splits that it is given.
func (s *Splits[T]) run(l *splitLane[T]) {
	l.m = s.Meter.NewWorker(s.r.Clock.Now())
	s.r.Watch(s.Meter, l.m)
	l.m.Doing(meter.WaitIn)
	for t := range l.next {
		if !s.read(l, t) {
			break
		}
	}
	for range l.next { // until the interleaver has ended
	}
	l.m.Spent(meter.WaitIn, s.r.Clock.Now())
	l.m.Left()
	l.edge.Close(nil)
}

// read reads one split as soon as not too many others are being read.
func (s *Splits[T]) read(l *splitLane[T], t turn) bool {
	s.reading.take()
	defer s.reading.give()
	l.m.Spent(meter.WaitIn, s.r.Clock.Now())
	l.record = max(0, t.from)
	s.on(l, t)
	defer l.m.Doing(meter.WaitIn)
	return s.split(l, t)
}

// on notes that the lane begins with its next record.
func (s *Splits[T]) on(l *splitLane[T], t turn) {
	tag := s.Tag(t.epoch, t.turn, l.record)
	l.m.On(t.epoch, tag.Place)
	l.m.Doing(meter.Busy)
}

// split reads one split into the lane's edge. It says whether the lane goes on.
func (s *Splits[T]) split(l *splitLane[T], t turn) bool {
	ended := false
	emit := func(v T) error {
		if ended || s.current.Load() > t.epoch {
			s.Drop(&edge.Cell[T]{V: v})
			return errOver
		}
		l.part.Cells = append(l.part.Cells, edge.Cell[T]{V: v, Tag: s.Tag(t.epoch, t.turn, l.record)})
		l.record++
		if len(l.part.Cells) >= l.k || l.edge.Starving() {
			if !s.hand(l, t, nil) {
				ended = true
				return errOver
			}
		}
		return nil
	}
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = recovered(p, nil)
			}
		}()
		if t.from < 0 || s.current.Load() > t.epoch {
			return nil
		}
		return s.Read(l.no, t.epoch, t.turn, t.from, emit)
	}()
	if s.current.Load() > t.epoch {
		err = nil
	}
	if ended || s.r.Over() {
		for i := range l.part.Cells {
			s.Drop(&l.part.Cells[i])
		}
		l.part.Cells = l.part.Cells[:0]
		return false
	}
	end := s.Tag(t.epoch, t.turn, l.record)
	if err != nil {
		s.Meter.In.Add(1)
		if s.Skip == nil {
			s.r.failed(s.Meter)
			s.hand(l, t, s.Wrap(l.no, &end, err))
			return false
		}
		s.Meter.Skipped.Add(1)
		s.Skip(&end, err)
		mark := end
		mark.Flags |= edge.Skipped | edge.NewMark
		if mark.Ext == nil {
			mark.Ext = edge.NewExt()
		}
		l.part.Cells = append(l.part.Cells, edge.Cell[T]{Tag: mark})
	}
	end.Flags, end.Ext = endOfSplit|edge.Skipped, nil
	l.part.Cells = append(l.part.Cells, edge.Cell[T]{Tag: end})
	return s.hand(l, t, nil)
}

// hand puts what the lane has read into its edge. While it waits another lane may read.
func (s *Splits[T]) hand(l *splitLane[T], t turn, err error) bool {
	n := int64(len(l.part.Cells))
	now := s.r.Clock.Now()
	took := l.m.Spent(meter.Busy, now)
	tr := &meter.Trail{Stage: s.Meter, Took: now - took, Done: now}
	real := int64(0)
	for i := range l.part.Cells {
		c := &l.part.Cells[i]
		c.Trail = tr
		if !c.Skipped() {
			real++
		}
	}
	if real > 0 {
		s.Meter.Service.Add(took/real, real)
		s.Meter.Entered(l.m, int64(l.part.Cells[0].Epoch), real)
		s.Meter.In.Add(real)
		s.Meter.Done.Add(real)
		if real > 1 && !s.Meter.Sliced.Load() {
			s.Meter.Sliced.Store(true)
		}
	}
	if err == nil {
		want := MaxSlice
		if took > 0 {
			want = int(min(int64(MaxSlice), target*n/took))
		}
		l.k = max(1, min(2*l.k, want, MaxSlice))
	}
	l.part = edge.Part[T]{Lo: l.lo, N: n, Cells: l.part.Cells, Err: err}
	l.lo += n
	l.m.Doing(meter.WaitOut)
	s.reading.give()
	res := l.edge.Put(l.wait, s.r.Clock, &l.part, l.k, now)
	s.reading.take()
	l.m.Spent(meter.WaitOut, s.r.Clock.Now())
	s.on(l, t)
	return res.OK
}

// splitOut collects what goes to the output edge.
type splitOut[T any] struct {
	s    *Splits[T]
	wait *edge.Waiter
	part edge.Part[T]
	todo []edge.Cell[T]
	lo   int64
	k    int
}

func (o *splitOut[T]) put(c edge.Cell[T]) bool {
	o.todo = append(o.todo, c)
	if len(o.todo) < MaxSlice && !o.s.Out.Starving() {
		return true
	}
	return o.flush(nil)
}

// flush hands everything on, with an error after it. False: nobody wants it.
func (o *splitOut[T]) flush(err error) bool {
	s := o.s
	for i := range o.todo {
		if c := &o.todo[i]; !c.Skipped() {
			if s.Finish != nil {
				s.Finish(c)
			}
			if s.Hash != nil {
				s.Hash(c)
			}
		}
	}
	for len(o.todo) > 0 {
		n := len(o.todo)
		var gerr error
		if s.Gate != nil {
			if n, _, gerr = s.Gate.Admit(o.wait, o.lo, o.todo); n == 0 {
				o.drop()
				if gerr != nil {
					s.Out.Put(o.wait, s.r.Clock, &edge.Part[T]{Lo: o.lo, N: 1, Err: gerr}, 1, s.r.Clock.Now())
				}
				return false
			}
		}
		o.part = edge.Part[T]{Lo: o.lo, N: int64(n), Cells: append(o.part.Cells[:0], o.todo[:n]...)}
		o.lo += int64(n)
		o.todo = o.todo[:copy(o.todo, o.todo[n:])]
		if !s.Out.Put(o.wait, s.r.Clock, &o.part, min(n, MaxSlice), s.r.Clock.Now()).OK {
			o.drop()
			return false
		}
	}
	if err != nil {
		s.Out.Put(o.wait, s.r.Clock, &edge.Part[T]{Lo: o.lo, N: 1, Err: err}, 1, s.r.Clock.Now())
		return false
	}
	return true
}

func (o *splitOut[T]) drop() {
	for i := range o.todo {
		if !o.todo[i].Skipped() {
			o.s.Meter.Lost.Add(1)
			o.s.Meter.Done.Add(-1)
		}
		o.s.Drop(&o.todo[i])
	}
	o.todo = o.todo[:0]
}
