package engine

import (
	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Block is the running form of a stage that gathers Size consecutive items of one epoch and hands them on in another
// order. Items are only moved, so one goroutine does it; while what is behind it takes one block from the output edge,
// which has room for it, the next is gathered.
type Block[T any] struct {
	Meter *meter.Stage
	In    *edge.Edge[T]
	Out   *edge.Edge[T]
	Size  int
	// Order gives the order of a block of n items: output i is item Order(...)(i). It is that of a permutation.
	Order func(epoch int32, number int64, n int) func(i int) int
	Drop  func(*edge.Cell[T])
	Wrap  func(error) error
	// Book, if set, is told of each block before it is handed on: its items as they came and as they go.
	Book func(epoch int32, number int64, came, leaves []edge.Cell[T])

	// FirstNumber and Skip are those of the first block, if it is of FirstEpoch: in a run that goes on after another. So
	// many of its outputs were delivered.
	FirstEpoch        int32
	FirstNumber, Skip int64

	r     *Run
	m     *meter.Worker
	take  edge.Taker[T]
	rows  []edge.Cell[T]
	part  edge.Part[T]
	trail *meter.Trail
	lo    int64 // of the next block's first item
	epoch int32
	next  int64 // number of the next block
	begun bool
}

// Start starts the worker.
func (s *Block[T]) Start(r *Run) {
	s.r = r
	s.Out.Upstream(s.In.Cut)
	r.OnEnd(s.In.Abort)
	r.OnEnd(s.Out.Abort)
	r.Work(s.Meter, func() {
		s.m = s.Meter.NewWorker(r.Clock.Now())
		s.take.W = edge.NewWaiter()
		r.Watch(s.Meter, s.m)
		err := s.run()
		s.m.Left()
		s.Out.Close(err)
	})
}

// run moves blocks until the input ends. A block that an error cut short is not handed on.
func (s *Block[T]) run() error {
	defer func() {
		for i := range s.rows {
			s.Drop(&s.rows[i])
		}
		s.In.Leave(&s.take)
	}()
	for k := 1; ; k = min(2*k, s.In.Bound()) {
		s.m.Doing(meter.WaitIn)
		sl := s.In.Take(&s.take, s.r.Clock, k, s.m.Last())
		if sl.Waited {
			s.m.Spent(meter.WaitIn, s.r.Clock.Now())
		}
		if !sl.OK {
			break
		}
		s.m.On(int64(sl.Cells[0].Epoch), sl.Cells[0].Place)
		for i := range sl.Cells {
			c := sl.Cells[i]
			sl.Cells[i] = edge.Cell[T]{}
			if ok, err := s.gather(c, s.hand); !ok {
				s.In.Cut()
				for j := range sl.Cells[i+1:] {
					lose(s.Meter, &sl.Cells[i+1+j], s.Drop)
				}
				return err
			}
		}
	}
	if err := s.In.Err(); err != nil || s.r.Over() || len(s.rows) == 0 {
		return err
	}
	_, err := s.emit(s.hand)
	return err
}

// gather puts an item into the block, which it hands on when it is full. False: nobody wants more, or there is an error.
func (s *Block[T]) gather(c edge.Cell[T], hand func() bool) (bool, error) {
	if len(s.rows) > 0 && s.rows[0].Epoch != c.Epoch {
		if ok, err := s.emit(hand); !ok {
			lose(s.Meter, &c, s.Drop)
			return false, err
		}
	}
	if s.trail == nil {
		s.trail = meter.Gather(s.Meter, 0)
	}
	s.trail.More.Arrived(c.Trail)
	if !c.Skipped() {
		s.Meter.In.Add(1)
		s.Meter.Done.Add(1)
		s.Meter.Entered(s.m, int64(c.Epoch), 1)
	}
	if s.rows = append(s.rows, c); len(s.rows) == s.Size {
		return s.emit(hand)
	}
	return true, nil
}

// emit puts the block into its order and hands it on.
func (s *Block[T]) emit(hand func() bool) (bool, error) {
	n := len(s.rows)
	if epoch := s.rows[0].Epoch; !s.begun || epoch != s.epoch {
		s.epoch, s.next = epoch, 0
		if !s.begun && epoch == s.FirstEpoch {
			s.next = s.FirstNumber
		}
	}
	var order func(int) int
	if err := Safely(func() error { order = s.Order(s.epoch, s.next, n); return nil }); err != nil {
		return false, s.Wrap(err)
	}
	cells := s.part.Cells[:0]
	for i := range n {
		cells = append(cells, s.rows[order(i)])
	}
	if s.Book != nil {
		s.Book(s.epoch, s.next, s.rows, cells)
	}
	if skip := int(s.Skip); !s.begun && skip > 0 && s.epoch == s.FirstEpoch && s.next == s.FirstNumber {
		for i := range cells[:min(skip, n)] { // the run before has delivered them
			s.Drop(&cells[i])
		}
		cells = append(cells[:0], cells[min(skip, n):]...)
	}
	s.begun = true
	s.next++
	clear(s.rows)
	s.rows = s.rows[:0]
	now := s.r.Clock.Now()
	t := s.trail
	t.Took, t.Done, s.trail = s.m.Last(), now, nil
	for i := range cells {
		cells[i].Trail = t
	}
	s.Meter.Service.Add(s.m.Spent(meter.Busy, now)/int64(n), int64(n))
	s.part = edge.Part[T]{Lo: s.lo, N: int64(n), Cells: cells}
	s.lo += int64(n)
	return hand(), nil
}

// hand puts the block into the output edge.
func (s *Block[T]) hand() bool {
	s.m.Doing(meter.WaitOut)
	res := s.Out.Put(s.take.W, s.r.Clock, &s.part, min(len(s.part.Cells), MaxSlice), s.m.Last())
	if res.Waited {
		s.m.Spent(meter.WaitOut, s.r.Clock.Now())
	}
	return res.OK
}

// Pull runs the stage by pulling from in.
func (s *Block[T]) Pull(r *Run, in Pull[T]) Pull[T] {
	s.r = r
	var ready []edge.Cell[T]
	var failed error
	ended := false
	r.Left(func() {
		for _, left := range [][]edge.Cell[T]{ready, s.rows} {
			for i := range left {
				s.Drop(&left[i])
			}
		}
	})
	hand := func() bool {
		ready = append(ready, s.part.Cells...)
		return true
	}
	return func() (c edge.Cell[T], ok bool, err error) {
		if s.m == nil {
			s.m = s.Meter.NewWorker(r.Clock.Now())
		}
		for len(ready) == 0 {
			if failed != nil || ended {
				return c, false, failed
			}
			cell, more, err := in()
			s.m.Spent(meter.WaitIn, r.Clock.Now())
			switch {
			case more:
				_, failed = s.gather(cell, hand)
			case err == nil && len(s.rows) > 0:
				ended = true
				_, failed = s.emit(hand)
			default:
				ended, failed = true, err
			}
		}
		c, ready = ready[0], ready[1:]
		s.Out.Note(&c)
		s.m.Spent(meter.WaitOut, r.Clock.Now())
		return c, true, nil
	}
}
