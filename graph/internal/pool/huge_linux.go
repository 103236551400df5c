package pool

import (
	"bytes"
	"os"
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

// HugeOff says that the system gives no huge pages although a slab of n bytes should have some.
func HugeOff(n int) bool {
	if n < 2*hugePage {
		return false
	}
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(text, []byte("[never]"))
}

// adviseHuge asks for huge pages where b covers some. It may be refused: then pages are small and nothing else changes.
func adviseHuge(b []byte) {
	if len(b) < 2*hugePage {
		return
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-at & (hugePage - 1))
	_ = syscall.Madvise(b[skip:skip+(len(b)-skip)&^(hugePage-1)], syscall.MADV_HUGEPAGE)
}
