package edge

import (
	"runtime"
	"sync/atomic"
)

// lock guards an edge. It is held for one copy of at most a slice and never while anything waits, so it is waited for
// by spinning. A sync.Mutex hands itself on to whoever has waited for a millisecond; with a thousand workers that made
// each hand-over a switch of goroutines. A goroutine that lets others run comes back after all of them, so that is
// done only when the holder has lost its processor.
type lock struct{ taken atomic.Int32 }

// spins is about twenty microseconds.
const spins = 20_000

func (l *lock) Lock() {
	for !l.taken.CompareAndSwap(0, 1) {
		for i := 0; i < spins && l.taken.Load() != 0; i++ {
		}
		if l.taken.Load() != 0 {
			runtime.Gosched()
		}
	}
}

func (l *lock) Unlock() { l.taken.Store(0) }
