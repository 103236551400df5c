package meter

import (
	"sync"
	"sync/atomic"
)

// Stage keeps the numbers of one stage. Counters count items: marks of skipped items that pass through do not count.
type Stage struct {
	ID string
	No int // in order of declaration

	In, Done, Out, Filtered, Skipped, StandIns, Dropped, Failed, Lost, Retried, Overdue, Abandoned, BytesOut atomic.Int64

	Service Histogram
	Sliced  atomic.Bool // service times are means over slices
	Copies  bool        // its work is copying to a device
	Reports bool        // it adds its service times itself
	Slowest Slowest

	Stragglers Stragglers // at the stage's output

	hands   atomic.Int64
	mu      sync.Mutex
	workers []*Worker
	epochs  map[int64]int64
	line    *Series // of what the workers spent, by state; nil: none is kept
	begin   func(*Worker)
}

// NewWorker adds a worker, born now.
func (s *Stage) NewWorker(now int64) *Worker {
	w := &Worker{}
	w.Born(now)
	if s.begin != nil {
		s.begin(w)
	}
	s.mu.Lock()
	s.workers = append(s.workers, w)
	s.mu.Unlock()
	return w
}

// Back notes that a worker which has left is at work again. The time since then is not part of its lifetime.
func (s *Stage) Back(w *Worker, now int64) {
	last := w.last.Load()
	if w.cross != nil {
		w.cross(w, WaitIn, last) // what it has spent belongs to the bucket that it left in
		w.edge = 0               // and the next reading is of another one
	}
	s.mu.Lock()
	w.born.Add(now - last)
	w.last.Store(now)
	s.mu.Unlock()
	w.Doing(WaitIn)
}

// Hand numbers the goroutines of the stage.
func (s *Stage) Hand() int { return int(s.hands.Add(1)) - 1 }

// Workers lists the stage's workers.
func (s *Stage) Workers() []*Worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Worker(nil), s.workers...)
}

// Times sums the workers' times.
func (s *Stage) Times() Times {
	var t Times
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.workers {
		t.Add(w)
	}
	return t
}

// Entered counts items of an epoch that worker w took. It is called by that worker.
func (s *Stage) Entered(w *Worker, epoch, n int64) {
	if w.epoch.Load() == epoch {
		w.entered.Add(n)
		return
	}
	s.mu.Lock()
	s.keep(w.epoch.Load(), w.entered.Swap(n))
	w.epoch.Store(epoch)
	s.mu.Unlock()
}

func (s *Stage) keep(epoch, n int64) {
	if n == 0 {
		return
	}
	if s.epochs == nil {
		s.epochs = map[int64]int64{}
	}
	s.epochs[epoch] += n
}

// TakeEntered gives the count of an epoch and forgets it.
func (s *Stage) TakeEntered(epoch int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.epochs[epoch]
	delete(s.epochs, epoch)
	for _, w := range s.workers {
		if w.epoch.Load() == epoch {
			n += w.entered.Swap(0)
		}
	}
	return n
}
