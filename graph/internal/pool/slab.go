package pool

import "unsafe"

const hugePage = 2 << 20

// Slab takes memory for one batch, to be used again and again. Where it covers several huge pages it begins with one, and
// asks for more of them if the first was had sooner than as much memory in small pages, which costs some milliseconds to
// find out. On a machine of its own, or a virtual one whose memory is all there, huge pages take a fifth of the time; where
// the host has taken free memory back, which it does by huge pages first, four times as long (decision 29).
func Slab(n int) []byte {
	if n < 4*hugePage {
		return make([]byte, max(n, 8))[:n] // at least 8, so that every view is aligned
	}
	b := make([]byte, n+hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)) // never touched, so it takes no memory
	b = b[skip : skip+n : skip+n]
	askHuge(b)
	return b
}
