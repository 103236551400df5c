package pool

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Memory hands out byte slices of four sizes an octave and takes them back. Fresh pages are dear (14 microseconds for
// 4 KiB on a virtual machine, by the fresh-page benchmark), so what comes back is kept, up to the largest amount that
// was in use at once. It is safe for use by several goroutines.
type Memory struct {
	used, peak, idle atomic.Int64
	limit            int64        // 0: none
	taken            atomic.Int64 // of it, by others
	classes          [nclasses]class
}

type class struct {
	mu   sync.Mutex
	free [][]byte
	_    [40]byte // one cache line a class
}

const (
	minBits  = 6
	nclasses = (48 - minBits) * 4
)

// NewMemory makes an empty pool. With a limit, idle memory is let go once used and idle together exceed it.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Shrink takes bytes off the limit, for memory that others hold within the same budget; a negative number gives them
// back.
func (m *Memory) Shrink(by int64) { m.taken.Add(by) }

// most is the limit now, 0 for none.
func (m *Memory) most() int64 {
	if m.limit == 0 {
		return 0
	}
	return max(1, m.limit-m.taken.Load())
}

// classOf is the class of the smallest size that holds n, and that size.
func classOf(n int) (int, int) {
	if n <= 1<<minBits {
		return 0, 1 << minBits
	}
	e := bits.Len(uint(n-1)) - 1 // 2^e < n <= 2^(e+1)
	step := 1 << (e - 2)
	q := (n - 1<<e + step - 1) / step // 1..4
	return (e-minBits)*4 + q, 1<<e + q*step
}

// Take gives n bytes; cap is the size of the class.
func (m *Memory) Take(n int) []byte {
	i, size := classOf(n)
	if i >= nclasses {
		return make([]byte, n)
	}
	m.use(int64(size))
	c := &m.classes[i]
	c.mu.Lock()
	if k := len(c.free); k > 0 {
		b := c.free[k-1]
		c.free[k-1] = nil
		c.free = c.free[:k-1]
		c.mu.Unlock()
		m.idle.Add(int64(-size))
		return b[:n]
	}
	c.mu.Unlock()
	if l := m.most(); l > 0 && m.used.Load()+m.idle.Load() > l {
		m.trim(i)
	}
	return make([]byte, n, size)
}

func (m *Memory) use(n int64) {
	u := m.used.Add(n)
	for p := m.peak.Load(); u > p && !m.peak.CompareAndSwap(p, u); p = m.peak.Load() {
	}
}

// Back takes a slice that Take gave.
func (m *Memory) Back(b []byte) {
	size := int64(cap(b))
	i, want := classOf(int(size))
	if i >= nclasses || int64(want) != size {
		return
	}
	m.used.Add(-size)
	keep := m.peak.Load()
	if l := m.most(); l > 0 {
		keep = min(keep, l)
	}
	if m.used.Load()+m.idle.Load()+size > keep {
		return // more than was ever in use at once: leave it to the garbage collector
	}
	m.idle.Add(size)
	c := &m.classes[i]
	c.mu.Lock()
	c.free = append(c.free, b[:0])
	c.mu.Unlock()
}

// trim lets go of idle memory of other sizes than class keep.
func (m *Memory) trim(keep int) {
	for i := range m.classes {
		if i == keep {
			continue
		}
		c := &m.classes[i]
		c.mu.Lock()
		for _, b := range c.free {
			m.idle.Add(int64(-cap(b)))
		}
		clear(c.free)
		c.free = c.free[:0]
		c.mu.Unlock()
	}
}

// Held is the memory in use and the most there was at once.
func (m *Memory) Held() (used, peak int64) { return m.used.Load(), m.peak.Load() }
