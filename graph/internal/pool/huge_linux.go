package pool

import (
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

// adviseHuge asks for huge pages where b covers some. It may be refused: then pages are small and nothing else changes.
func adviseHuge(b []byte) {
	if len(b) < 2*hugePage {
		return
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-at & (hugePage - 1))
	_ = syscall.Madvise(b[skip:skip+(len(b)-skip)&^(hugePage-1)], syscall.MADV_HUGEPAGE)
}
