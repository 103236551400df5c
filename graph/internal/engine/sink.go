package engine

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Sink is the taking end of a pipeline, used by one goroutine.
type Sink[T any] struct {
	Meter  *meter.Stage
	In     *edge.Edge[T]
	Waits  *meter.Histogram
	Blamer *meter.Blamer
	// Warmup is how many items after the first still count as start-up.
	Warmup int64
	// From, if set, is where a run without goroutines pulls from.
	From Pull[T]
	// Held, if set, is told the trail of what is delivered: someone may be waiting for its memory.
	Held func(*meter.Trail)

	run      *Run
	m        *meter.Worker
	take     edge.Taker[T]
	slice    []edge.Cell[T]
	at       int
	n        int64 // items of the slice that were handed out
	seen     int64
	lastWait int64
	epoch    int32
	k        int
	bound    int
	sampleAt int64

	// Err is what the stream ended with in a run that pulls.
	Err error

	mu    sync.Mutex
	phase [3]PhaseTimes
	when  meter.When
	first int64 // when the first item was delivered; 0 before
	ended bool
}

// PhaseTimes are the sink's times in one phase, and how many items it was busy with.
type PhaseTimes struct{ Wait, Busy, Items int64 }

// Start begins the sink's lifetime.
func (s *Sink[T]) Start(r *Run) {
	s.run, s.m, s.k = r, s.Meter.NewWorker(r.Clock.Now()), 1
	s.take.W = edge.NewWaiter()
	s.In.Prompt()
	s.bound = MaxSlice
	s.epoch = -1
	r.OnEnd(s.In.Abort)
}

// Next gives the next item, or nil at the end of the stream or of the run. The cell is valid until the next call.
func (s *Sink[T]) Next() *edge.Cell[T] {
	if s.at == len(s.slice) && !s.refill() {
		return nil
	}
	if s.run.Cancelled() != nil { // what a cancellation triggers runs later and elsewhere
		s.Abandon()
		return nil
	}
	c := &s.slice[s.at]
	s.at++
	if !c.Skipped() {
		s.n++
	}
	return c
}

// refill takes the next slice and charges the wait for it.
func (s *Sink[T]) refill() bool {
	if s.ended {
		return false
	}
	s.busy()
	clear(s.slice)
	t := s.m.Last()
	sl := s.wait(t)
	s.slice, s.at = sl.Cells, 0
	now := s.m.Last()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sl.OK {
		s.ended = true
		s.Blamer.Ended(t, now, s.when)
		s.phase[s.when].Wait += now - t
		return false
	}
	first := &sl.Cells[0]
	switch {
	case s.seen <= s.Warmup && (s.seen == 0 || s.when == meter.InStartup && s.seen < s.Warmup):
		s.when = meter.InStartup
	case first.Epoch != s.epoch:
		s.when = meter.AtEdge
	default:
		s.when = meter.InSteady
	}
	s.epoch = first.Epoch
	if s.first == 0 {
		s.first = max(now, 1)
		if s.run.begun != nil {
			s.run.begun()
		}
	}
	s.lastWait = now - t
	s.Waits.Add(now-t, 1)
	s.Waits.Add(0, int64(len(sl.Cells)-1))
	if now > t {
		s.phase[s.when].Wait += now - t
		s.Blamer.Waited(first.Trail, t, now, s.when)
	}
	if s.Held != nil {
		s.Held(first.Trail)
	}
	s.seen += int64(len(sl.Cells))
	n := int64(0)
	for i := range sl.Cells {
		if !sl.Cells[i].Skipped() {
			n++
		}
	}
	s.Meter.In.Add(n)
	s.Meter.Entered(s.m, int64(s.epoch), n)
	return true
}

// wait takes the next slice.
func (s *Sink[T]) wait(t int64) (sl edge.Slice[T]) {
	s.m.Doing(meter.WaitIn)
	defer s.m.Doing(meter.Busy)
	if s.From == nil {
		if sl = s.In.Take(&s.take, s.run.Clock, s.k, t); sl.Waited {
			s.m.Spent(meter.WaitIn, s.run.Clock.Now())
		}
		return sl
	}
	if s.run.Cancelled() != nil {
		return sl
	}
	c, ok, err := s.From()
	s.m.Spent(meter.WaitIn, s.run.Clock.Now())
	s.Err = err
	if ok {
		sl.Cells, sl.OK = append(s.slice[:0], c), true
	}
	return sl
}

// LastWait is how long the last slice was waited for.
func (s *Sink[T]) LastWait() int64 { return s.lastWait }

// Read takes the sums by phase and the time of the first delivery, 0 before it.
func (s *Sink[T]) Read() (phases [3]PhaseTimes, first int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase, s.first
}

// busy ends the time that the consumer spent on the last slice.
func (s *Sink[T]) busy() {
	now := s.run.Clock.Now()
	d := s.m.Spent(meter.Busy, now)
	if f := s.run.Sample; f != nil && now >= s.sampleAt {
		s.sampleAt = f(now)
	}
	if s.n == 0 {
		return
	}
	when := s.when
	if when == meter.AtEdge {
		when = meter.InSteady
	}
	s.mu.Lock()
	s.phase[when].Busy += d
	s.phase[when].Items += s.n
	s.mu.Unlock()
	s.Meter.Service.Add(d/s.n, s.n)
	s.Meter.Done.Add(s.n)
	if s.n > 1 && !s.Meter.Sliced.Load() {
		s.Meter.Sliced.Store(true)
	}
	want := MaxSlice
	if d > 0 {
		want = int(min(int64(MaxSlice), target*s.n/d))
	}
	s.k = max(1, min(2*s.k, want, s.bound))
	s.n = 0
}

// Abandon ends the sink before the end of the stream: what it has taken and not handed out is dropped.
func (s *Sink[T]) Abandon() {
	if s.ended {
		return
	}
	s.busy()
	s.ended = true
	for s.at < len(s.slice) {
		c := &s.slice[s.at]
		if !c.Skipped() {
			s.Meter.Lost.Add(1)
		}
		s.In.Drop(c)
		s.at++
	}
	s.In.Leave(&s.take)
}

// Waiting says that the consumer waits for an item.
func (s *Sink[T]) Waiting() bool {
	state, _, _, _, _, ok := s.m.Look()
	return ok && state == meter.WaitIn
}
