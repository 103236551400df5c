package pool

import (
	"sync/atomic"
	"unsafe"
)

const hugePage = 2 << 20

// Slabs are a run's. The zero value is ready.
type Slabs struct {
	cold atomic.Int64 // when a huge page was last found to take long, as UnixNano: for a second nobody tries again
}

// Take takes memory for one batch, to be used again and again. Where it covers several huge pages it begins with one, and
// ahead, if it is not nil, asks for them, beside the first use or before it: one by one, as long as each is had sooner than
// as much memory in small pages. On one virtual machine a huge page took a fifth of that time where it had been in use a
// moment ago, and five times as long where the host had taken it back meanwhile (decision 29). It ends early once over is true.
func (s *Slabs) Take(n int) (b []byte, ahead func(over func() bool)) {
	if n < 4*hugePage {
		return make([]byte, max(n, 8))[:n], nil // at least 8, so that every view is aligned
	}
	b = make([]byte, n+hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)) // never touched, so it takes no memory
	b = b[skip : skip+n : skip+n]
	return b, func(over func() bool) { s.settle(b, over) }
}
