package pool

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Memory hands out byte slices of four sizes an octave and takes them back. Fresh pages are dear (14 microseconds for
// 4 KiB on a virtual machine, by the fresh-page benchmark), so what comes back is kept, up to the largest amount that
// was in use at once: beyond that other sizes make room. It is safe for use by several goroutines.
type Memory struct {
	used, peak, idle atomic.Int64
	limit            int64        // 0: none
	taken            atomic.Int64 // of it, by others
	hand             atomic.Int32 // the class that is looked at next when memory must go
	classes          [nclasses]class
}

type class struct {
	mu   sync.Mutex
	free [][]byte
	_    [32]byte // one cache line a class
}

const (
	minBits  = 6
	nclasses = (48 - minBits) * 4
	near     = 2 // so many classes above its own may stand in for a size, one less where there is a limit
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
	most, last := m.most(), i+near
	if most > 0 {
		last--
	}
	for j := i; j <= min(last, nclasses-1); j++ {
		if b := m.pop(j); b != nil {
			m.use(int64(cap(b)))
			return b[:n]
		}
	}
	m.use(int64(size))
	for most > 0 && m.used.Load()+m.idle.Load() > most && m.evict(i) {
	}
	return make([]byte, n, size)
}

// pop takes an idle slice of a class out; nil: there is none.
func (m *Memory) pop(i int) (b []byte) {
	c := &m.classes[i]
	c.mu.Lock()
	if k := len(c.free) - 1; k >= 0 {
		b, c.free[k] = c.free[k], nil
		c.free = c.free[:k]
		m.idle.Add(int64(-cap(b)))
	}
	c.mu.Unlock()
	return b
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
	for m.used.Load()+m.idle.Load()+size > keep {
		if !m.evict(i) {
			return // more than was ever in use at once: leave it to the garbage collector
		}
	}
	m.idle.Add(size)
	c := &m.classes[i]
	c.mu.Lock()
	c.free = append(c.free, b[:0])
	c.mu.Unlock()
}

// evict lets one idle slice go, of another size than class keep, and says whether there was one.
func (m *Memory) evict(keep int) bool {
	for range nclasses {
		if m.idle.Load() == 0 {
			break
		}
		i := int(uint32(m.hand.Add(1)) % nclasses)
		if i != keep && m.pop(i) != nil {
			return true
		}
	}
	return false
}

// Held is the memory in use and the most there was at once.
func (m *Memory) Held() (used, peak int64) { return m.used.Load(), m.peak.Load() }
