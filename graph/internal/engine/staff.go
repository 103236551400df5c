package engine

import (
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Staff are the workers of a stage. They have numbers from 0 on, and come and go by them while the stage runs: one that is
// not wanted stands by, with all that it has opened, and goes on when it is wanted again.
type Staff struct {
	refused func(most int, err error)

	mu    sync.Mutex
	tell  func(n int) // the edge that they take from
	begin func(no int, late bool)
	begun int // numbers that have been given out
	live  int
	most  int // 0: no bound
	hands atomic.Int32
}

// OnRefused sets what is told why a worker that came later could not be opened, and how many there can be.
func (s *Staff) OnRefused(f func(most int, err error)) { s.refused = f }

// open begins the first workers.
func (s *Staff) open(n int, tell func(int), begin func(no int, late bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell, s.begin = tell, begin
	s.begun, s.live = n, n
	s.hands.Store(int32(n))
	tell(n)
	for no := range n {
		begin(no, false)
	}
}

// Resize makes it n workers, or fewer where no more could be opened, and says how many. It is called from a goroutine of
// the run.
func (s *Staff) Resize(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == 0 { // it is over, or has not begun
		return int(s.hands.Load())
	}
	if s.most > 0 {
		n = min(n, s.most)
	}
	s.set(n)
	for ; s.begun < n; s.begun++ {
		s.live++
		s.begin(s.begun, true)
	}
	return n
}

func (s *Staff) set(n int) {
	s.hands.Store(int32(n))
	s.tell(n)
}

// Several says that there is more than one.
func (s *Staff) Several() bool { return s.hands.Load() > 1 }

// refuse notes that a worker could not be opened. False: that ends the run.
func (s *Staff) refuse(no int, err error) bool {
	if s.refused == nil {
		return false
	}
	s.mu.Lock()
	if s.most == 0 || no < s.most {
		s.most = no
	}
	if n := int(s.hands.Load()); n > s.most {
		s.set(s.most)
	}
	most := s.most
	s.mu.Unlock()
	s.refused(most, err)
	return true
}

// left says that the worker is the last to leave. No other one is begun then.
func (s *Staff) left() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live--
	return s.live == 0
}

// standBy waits until a worker is wanted again. That time is not part of its lifetime.
func standBy[A any](in *edge.Edge[A], t *edge.Taker[A], st *meter.Stage, m *meter.Worker, clock *meter.Clock) {
	m.Spent(meter.WaitIn, clock.Now())
	m.Left()
	in.StandBy(t)
	st.Back(m, clock.Now())
}
