package pool

import (
	"bytes"
	"math"
	"os"
	"slices"
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

// settle has the system give huge pages for b, which begins with one, ahead of their first use, as long as each is had
// sooner than as much memory in small pages. It may be refused: then pages are small and nothing else changes.
func (s *Slabs) settle(b []byte) {
	if time.Since(time.Unix(0, s.cold.Load())) < time.Second {
		return
	}
	whole := b[:len(b)&^(hugePage-1)]
	last := len(whole) - hugePage
	small := inSmall(whole[last:])
	for huge := range slices.Chunk(whole[:last], hugePage) {
		_ = syscall.Madvise(huge, syscall.MADV_HUGEPAGE)
		if populate(huge) > small {
			s.cold.Store(time.Now().UnixNano())
			return
		}
	}
}

// inSmall is how long a huge page of memory takes in small pages. Half of it is tried in pieces, and the quickest one
// counts: another program may have had the processor meanwhile.
func inSmall(b []byte) time.Duration {
	const pieces = 16
	least := time.Duration(math.MaxInt64 / pieces)
	for piece := range slices.Chunk(b[:len(b)/2], len(b)/pieces) {
		least = min(least, populate(piece))
	}
	return pieces * least
}

// madvPopulateWrite is MADV_POPULATE_WRITE, of Linux 5.14: pages are there as if they had been written to, with what they
// hold. Before that it is refused, takes no time, and all of a slab asks for huge pages.
const madvPopulateWrite = 23

func populate(b []byte) time.Duration {
	began := time.Now()
	if syscall.Madvise(b, madvPopulateWrite) != nil {
		return 0
	}
	return time.Since(began)
}
