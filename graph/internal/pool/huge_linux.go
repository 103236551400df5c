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

// settle has the system give huge pages for b, which begins with one, ahead of their first use, as long as each is had
// sooner than as much memory in small pages. It may be refused: then pages are small and nothing else changes. It ends
// early once over is true.
func (s *Slabs) settle(b []byte, over func() bool) {
	if time.Since(time.Unix(0, s.cold.Load())) < time.Second {
		return
	}
	last := len(b)&^(hugePage-1) - hugePage
	small := inSmall(b[last : last+hugePage])
	if 0 < small && small < present {
		return
	}
	for ; last > 0 && !over(); last -= hugePage {
		huge := b[:hugePage]
		b = b[hugePage:]
		_ = syscall.Madvise(huge, syscall.MADV_HUGEPAGE)
		if populate(huge) > small {
			s.cold.Store(time.Now().UnixNano())
			return
		}
	}
}

// present is what small pages for a huge page cannot take unless they are there already, as in memory that is used again:
// then nothing was measured.
const present = hugePage / 4096 * 100 * time.Nanosecond

// inSmall is how long a huge page of memory takes in small pages. Half of it is tried in pieces, and the quickest one
// counts: another program may have had the processor meanwhile.
func inSmall(b []byte) time.Duration {
	const pieces = 16
	_ = syscall.Madvise(b, syscall.MADV_NOHUGEPAGE) // where the system gives them unasked
	least := time.Hour
	for range pieces / 2 {
		least = min(least, populate(b[:hugePage/pieces]))
		b = b[hugePage/pieces:]
	}
	return pieces * least
}

// madvPopulateWrite is MADV_POPULATE_WRITE, of Linux 5.14: pages are there as if they had been written to, with what they
// hold. Before that it is refused, which counts as no time, and all of a slab asks for huge pages.
const madvPopulateWrite = 23

func populate(b []byte) time.Duration {
	began := time.Now()
	if syscall.Madvise(b, madvPopulateWrite) != nil {
		return 0
	}
	return time.Since(began)
}
