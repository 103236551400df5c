package pool

import (
	"bytes"
	"os"
	"syscall"
)

// HugeOff says that the system gives no huge pages although a slab of n bytes should have some.
func HugeOff(n int) bool {
	if n < 2*hugePage {
		return false
	}
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(text, []byte("[never]"))
}

// adviseHuge asks for huge pages for b, which begins at one. It may be refused: then pages are small and nothing else
// changes.
func adviseHuge(b []byte) { _ = syscall.Madvise(b[:len(b)&^(hugePage-1)], syscall.MADV_HUGEPAGE) }
