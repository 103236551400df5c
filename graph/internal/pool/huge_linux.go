package pool

import (
	"bytes"
	"os"
	"syscall"
	"time"
)

// HugeOff says that the system gives no huge pages although a slab of n bytes should have some.
func HugeOff(n int) bool {
	if n < 4*hugePage {
		return false
	}
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(text, []byte("[never]"))
}

// askHuge has the system give huge pages for b, which begins with one, if they are had sooner than small ones. It may be
// refused: then pages are small and nothing else changes.
func askHuge(b []byte) {
	whole := b[:len(b)&^(hugePage-1)]
	one, as, rest := whole[:hugePage], whole[hugePage:2*hugePage], whole[2*hugePage:]
	_ = syscall.Madvise(one, syscall.MADV_HUGEPAGE)
	began := time.Now()
	touch(one)
	huge := time.Since(began)
	touch(as)
	if huge <= time.Since(began)-huge {
		_ = syscall.Madvise(rest, syscall.MADV_HUGEPAGE)
	}
}

// touch has the system give the pages of b, which is all zeros.
func touch(b []byte) {
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 0
	}
}
