package engine

import (
	"sync/atomic"
	"time"
)

// scarcityAge is how long an answer is good: asking reads two files of the system.
const scarcityAge = 100 * time.Millisecond

// Scarcity slows the admission while memory is scarce beyond the budget: as long as Near says so, only the oldest items
// pass, which some stage waits for. It is asked where items are admitted, at most ten times a second, and never sleeps.
type Scarcity struct {
	Near func() bool // called without any lock

	base  time.Time
	asked atomic.Int64 // since base, plus 1; 0: never
	now   atomic.Bool
	lost  atomic.Int64
}

// Watch sets what tells of scarcity. Call it before the run starts.
func (a *Admission) Watch(near func() bool) {
	a.scarcity = &Scarcity{Near: near, base: time.Now()}
}

// Scarce is for how long the admission was slowed.
func (a *Admission) Scarce() time.Duration {
	if a.scarcity == nil {
		return 0
	}
	return time.Duration(a.scarcity.lost.Load())
}

func (s *Scarcity) tight() bool {
	if s == nil {
		return false
	}
	at, last := int64(time.Since(s.base))+1, s.asked.Load()
	if last > 0 && at-last < int64(scarcityAge) || !s.asked.CompareAndSwap(last, at) {
		return s.now.Load()
	}
	if s.now.Load() {
		s.lost.Add(at - last)
	}
	near := s.Near()
	s.now.Store(near)
	return near
}
