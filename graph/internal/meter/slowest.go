package meter

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Slow is a key and the time it took.
type Slow struct {
	Key  string
	Time int64
}

// Slowest keeps the slowest few items of a stage. The test that keeps most items out is one atomic load.
type Slowest struct {
	floor atomic.Int64
	mu    sync.Mutex
	top   []Slow
}

const slowest = 8

// Beats says whether a time would enter the list.
func (s *Slowest) Beats(t int64) bool { return t > s.floor.Load() }

// Add enters a time.
func (s *Slowest) Add(key string, t int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.top, t, func(a Slow, t int64) int {
		if a.Time >= t {
			return -1
		}
		return 1
	})
	s.top = slices.Insert(s.top, i, Slow{key, t})
	if len(s.top) > slowest {
		s.top = s.top[:slowest]
	}
	if len(s.top) == slowest {
		s.floor.Store(s.top[slowest-1].Time)
	}
}

// Read copies the list, slowest first.
func (s *Slowest) Read() []Slow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.top)
}
