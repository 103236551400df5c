package edge

import "sync/atomic"

// lock guards an edge. It is held for one copy of at most a slice and never while anything waits, so it is first waited
// for by spinning, a few hundred nanoseconds. Who does not get it then, because the holder has lost its processor, parks
// until the next unlock and tries again. It is never handed on: a sync.Mutex does that once somebody has waited for a
// millisecond, and with a thousand workers each hand-over then was a switch of goroutines (BenchmarkSlow).
type lock struct {
	taken  atomic.Int32
	parked atomic.Int32
	wake   chan struct{}
}

// spins is about half a microsecond.
const spins = 400

func makeLock() lock { return lock{wake: make(chan struct{}, 1)} }

func (l *lock) Lock() {
	if l.taken.CompareAndSwap(0, 1) {
		return
	}
	for range spins {
		if l.taken.Load() == 0 && l.taken.CompareAndSwap(0, 1) {
			return
		}
	}
	l.parked.Add(1)
	for !l.taken.CompareAndSwap(0, 1) {
		<-l.wake
	}
	l.parked.Add(-1)
}

func (l *lock) Unlock() {
	l.taken.Store(0)
	if l.parked.Load() > 0 {
		select {
		case l.wake <- struct{}{}:
		default: // somebody is being woken already
		}
	}
}
