package engine

import (
	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Merge joins edges of one type: within an epoch it takes one item of each input in turn; an input that has ended, or
// whose next item is of a later epoch, drops out.
type Merge[T any] struct {
	Meter *meter.Stage
	Ins   []*edge.Edge[T]
	Out   *edge.Edge[T]
	Drop  func(*edge.Cell[T])
	// Turn is the input to begin with, if the first epoch is TurnEpoch: in a run that goes on after another.
	Turn      int
	TurnEpoch int32
	// Gave, if set, is told of items before they are handed over.
	Gave func([]edge.Cell[T])

	r     *Run
	m     *meter.Worker
	wait  *edge.Waiter
	lanes []lane[T]
	part  edge.Part[T]
	lo    int64
	trail struct{ mine, prev *meter.Trail }
	told  func() // before a part is handed over
}

// lane is one input of a merge.
type lane[T any] struct {
	in    *edge.Edge[T]
	take  edge.Taker[T]
	cells []edge.Cell[T]
	ended bool
	k     int
	pull  Pull[T] // in a run without goroutines
}

// Start starts the merging worker.
func (s *Merge[T]) Start(r *Run) { s.start(r, s.run) }

func (s *Merge[T]) start(r *Run, run func() error) {
	s.r = r
	s.Out.Upstream(s.cut)
	r.OnEnd(s.Out.Abort)
	s.wait = edge.NewWaiter()
	s.lanes = make([]lane[T], len(s.Ins))
	for i, in := range s.Ins {
		r.OnEnd(in.Abort)
		s.lanes[i] = lane[T]{in: in, k: 1}
		s.lanes[i].take.W = s.wait
	}
	r.Work(s.Meter, func() {
		s.m = s.Meter.NewWorker(r.Clock.Now())
		s.Out.Close(run())
	})
}

func (s *Merge[T]) cut() {
	for _, in := range s.Ins {
		in.Cut()
	}
}

// run merges until all inputs have ended, or one has with an error.
func (s *Merge[T]) run() error {
	defer s.leave()
	for {
		epoch, any := int32(0), false
		for i := range s.lanes {
			ok, err := s.peek(i)
			if err != nil {
				s.flush()
				s.cut()
				return err
			}
			if c := s.lanes[i].cells; ok && (!any || c[0].Epoch < epoch) {
				epoch, any = c[0].Epoch, true
			}
		}
		if !any {
			s.flush()
			return nil
		}
		if ok, err := s.epoch(epoch); !ok {
			s.cut()
			return err
		}
	}
}

// leave drops what was taken and not moved on.
func (s *Merge[T]) leave() {
	for i := range s.lanes {
		l := &s.lanes[i]
		for j := range l.cells {
			lose(s.Meter, &l.cells[j], s.Drop)
		}
		l.in.Leave(&l.take)
	}
}

// epoch merges the rest of one epoch.
func (s *Merge[T]) epoch(epoch int32) (bool, error) {
	first := s.firstTurn(epoch)
	for took := true; took; first = 0 {
		took = first > 0
		for i := first; i < len(s.lanes); i++ {
			ok, err := s.peek(i)
			if err != nil {
				s.flush()
				return false, err
			}
			if l := &s.lanes[i]; ok && l.cells[0].Epoch == epoch {
				took = true
				s.move(l)
				if len(s.part.Cells) >= MaxSlice || s.Out.Starving() {
					if !s.flush() {
						return false, nil
					}
				}
			}
		}
	}
	return s.flush(), nil
}

// firstTurn is the input that an epoch begins with.
func (s *Merge[T]) firstTurn(epoch int32) (turn int) {
	if epoch == s.TurnEpoch {
		turn = s.Turn
	}
	s.Turn = 0
	return turn
}

// move puts the first item of a lane into the part.
func (s *Merge[T]) move(l *lane[T]) {
	c := l.cells[0]
	l.cells[0] = edge.Cell[T]{}
	l.cells = l.cells[1:]
	s.count(&c)
	if s.trail.mine == nil || s.trail.prev != c.Trail {
		s.trail.mine = &meter.Trail{Stage: s.Meter, Took: s.m.Last(), Prev: c.Trail}
		s.trail.prev = c.Trail
	}
	c.Trail = s.trail.mine
	s.part.Cells = append(s.part.Cells, c)
}

func (s *Merge[T]) count(c *edge.Cell[T]) {
	if !c.Skipped() {
		s.Meter.In.Add(1)
		s.Meter.Done.Add(1)
		s.Meter.Entered(s.m, int64(c.Epoch), 1)
	}
}

// peek sees to it that a lane has an item, unless it has ended. What is done is handed over before it waits.
func (s *Merge[T]) peek(i int) (bool, error) {
	l := &s.lanes[i]
	for len(l.cells) > 0 && l.cells[0].Flags&edge.PassEnd != 0 {
		s.move(l) // it takes no turn
	}
	if len(l.cells) > 0 {
		return true, nil
	}
	if l.ended {
		return false, nil
	}
	if l.pull != nil {
		return s.pulled(l)
	}
	if !s.flush() {
		l.ended = true
		return false, nil
	}
	sl := l.in.Take(&l.take, s.r.Clock, l.k, s.m.Last())
	if sl.Waited {
		s.m.Spent(meter.WaitIn, s.r.Clock.Now())
	}
	if !sl.OK {
		l.ended = true
		return false, l.in.Err()
	}
	l.k = min(2*l.k, l.in.Bound())
	l.cells = sl.Cells
	return s.peek(i)
}

// pulled is peek in a run without goroutines.
func (s *Merge[T]) pulled(l *lane[T]) (bool, error) {
	c, ok, err := l.pull()
	s.m.Spent(meter.WaitIn, s.r.Clock.Now())
	if !ok {
		l.ended = true
		return false, err
	}
	l.cells = append(l.cells, c)
	return true, nil
}

// flush hands the part over. False: the stream downstream has ended.
func (s *Merge[T]) flush() bool {
	n := int64(len(s.part.Cells))
	if n == 0 {
		return true
	}
	now := s.r.Clock.Now()
	d := s.m.Spent(meter.Busy, now)
	s.Meter.Service.Add(d/n, n)
	for i := range s.part.Cells {
		if t := s.part.Cells[i].Trail; t.Done == 0 {
			t.Done = now
		}
	}
	s.trail.mine, s.trail.prev = nil, nil
	if s.told != nil {
		s.told()
	}
	if s.Gave != nil {
		s.Gave(s.part.Cells)
	}
	s.part = edge.Part[T]{Lo: s.lo, N: n, Cells: s.part.Cells}
	s.lo += n
	res := s.Out.Put(s.wait, s.r.Clock, &s.part, int(min(n, MaxSlice)), now)
	if res.Waited {
		s.m.Spent(meter.WaitOut, s.r.Clock.Now())
	}
	return res.OK
}
