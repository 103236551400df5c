package pool

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

const hugePage = 2 << 20

// Slabs are a run's. The zero value is ready.
type Slabs struct {
	cold atomic.Int64 // when a huge page was last found to take long, as UnixNano: for a second nobody tries again

	mu    sync.Mutex
	aside [][]byte // what is left of it
	cut   bool     // some was taken
}

// What SetAside takes: room for two batches of 64 pictures of 224×224 as float32.
const (
	asidePieces = 2
	asideBytes  = 44 << 20
)

// SetAside takes fresh memory, for the first slabs to be cut from. Nobody touches it before.
func (s *Slabs) SetAside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range asidePieces {
		s.aside = append(s.aside, make([]byte, asideBytes))
	}
}

// Drop lets go of what was set aside, and says so, unless a slab was cut from it: then the rest is for the next ones. The
// next slab would otherwise be made where it was, and the runtime writes to memory before it hands it out again.
func (s *Slabs) Drop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut || s.aside == nil {
		return false
	}
	s.aside = nil
	return true
}

// fresh gives memory of zeros that nobody has touched, if it can.
func (s *Slabs) fresh(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range s.aside {
		if len(b) >= n {
			s.aside[i], s.cut = b[n:], true
			return b[:n:n]
		}
	}
	return make([]byte, n)
}

// Take takes memory for one batch, to be used again and again. Where it covers several huge pages it begins with one, and
// ahead, if it is not nil, asks for them, beside the first use or before it: one by one, as long as each is had sooner than
// as much memory in small pages. On one virtual machine a huge page took a fifth of that time where it had been in use a
// moment ago, and five times as long where the host had taken it back meanwhile (decision 29). It ends early once over is true.
func (s *Slabs) Take(n int) (b []byte, ahead func(over func() bool)) {
	if n < 4*hugePage {
		return make([]byte, max(n, 8))[:n], nil // at least 8, so that every view is aligned
	}
	b = s.fresh(n + hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)) // never touched, so it takes no memory
	b = b[skip : skip+n : skip+n]
	return b, func(over func() bool) { s.settle(b, over) }
}
