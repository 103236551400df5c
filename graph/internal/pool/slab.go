package pool

import "unsafe"

const hugePage = 2 << 20

// Slab takes memory for one batch, to be used again and again. Where it covers several huge pages it begins with one, and
// asks for more of them if the first was had sooner than as much memory in small pages, which costs some milliseconds to
// find out: on one virtual machine huge pages took a fifth of the time at one moment, and four times as long at another
// (decision 29).
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
