package meter

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Straggler is a key that others waited behind: how often, for how long finished work lay behind it, and for how long
// workers stood still because the window was full, added up over the workers.
type Straggler struct {
	Key                  string
	Times, Held, Blocked int64
}

// Stragglers keeps the few keys of a stage that held up others for longest. A key that does so again, in another epoch,
// is added to; a time that is shorter than all in a full list is not. The test that keeps most out is one atomic load.
type Stragglers struct {
	floor atomic.Int64
	mu    sync.Mutex
	top   []Straggler
}

// Beats says whether a time would enter the list.
func (s *Stragglers) Beats(held int64) bool { return held > s.floor.Load() }

// Add enters a key.
func (s *Stragglers) Add(key string, held, blocked int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.top, func(x Straggler) bool { return x.Key == key })
	if i < 0 {
		i, s.top = len(s.top), append(s.top, Straggler{Key: key})
	}
	x := &s.top[i]
	x.Times, x.Held, x.Blocked = x.Times+1, x.Held+held, x.Blocked+blocked
	for ; i > 0 && s.top[i].Held > s.top[i-1].Held; i-- {
		s.top[i], s.top[i-1] = s.top[i-1], s.top[i]
	}
	if len(s.top) > slowest {
		s.top = s.top[:slowest]
	}
	if len(s.top) == slowest {
		s.floor.Store(s.top[slowest-1].Held)
	}
}

// Read copies the list, the worst first.
func (s *Stragglers) Read() []Straggler {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.top)
}
