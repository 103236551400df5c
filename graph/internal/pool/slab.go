package pool

import "unsafe"

// Slab takes memory for one batch. It is taken once and used again, so it asks for huge pages: a fresh page of 4 KiB
// costs 14 microseconds on a virtual machine, one of 2 MiB not much more.
func Slab(n int) []byte { return huge(n)[:n] }

// huge makes n bytes, at least 8, so that every view is aligned. Where they cover several huge pages they begin with one
// and ask for such pages; what is left out before the first one is never touched, so it takes no memory.
func huge(n int) []byte {
	if n < 2*hugePage {
		return make([]byte, max(n, 8))
	}
	b := make([]byte, n+hugePage-pageSize)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	b = b[skip : skip+n : skip+n]
	adviseHuge(b)
	return b
}

const (
	hugePage = 2 << 20
	pageSize = 4 << 10
)
