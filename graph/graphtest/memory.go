package graphtest

import (
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/graph/item"
)

// Memory is an [item.Memory] that counts its buffers and fills fresh ones with nonsense, so that a stage which reads
// what it has not written is found. It is safe for use by several goroutines.
type Memory struct{ out, bytes, taken atomic.Int64 }

// Take lends n bytes.
func (m *Memory) Take(n int) *item.Buffer {
	m.out.Add(1)
	seed := m.taken.Add(1) // other nonsense each time: output that depends on it differs from run to run
	m.bytes.Add(int64(n))
	full := make([]byte, max(n, 8))
	for i := range full {
		full[i] = byte(seed*31) ^ 0xA5
	}
	b := &item.Buffer{}
	b.Reuse(full[:n], full, home{m, n})
	return b
}

// Out is how many buffers have not come back.
func (m *Memory) Out() int64 { return m.out.Load() }

// Taken is how many buffers were ever lent.
func (m *Memory) Taken() int64 { return m.taken.Load() }

// Bytes is what those that have not come back hold.
func (m *Memory) Bytes() int64 { return m.bytes.Load() }

// Empty fails the test if a buffer has not come back.
func (m *Memory) Empty(t testing.TB) {
	t.Helper()
	if n := m.Out(); n != 0 {
		t.Errorf("%d buffers of %d bytes were not released", n, m.Bytes())
	}
}

type home struct {
	m *Memory
	n int
}

// Back takes a buffer back. It is not lent again: a late reader must not find another sample's bytes.
func (h home) Back(*item.Buffer, []byte) {
	h.m.out.Add(-1)
	h.m.bytes.Add(-int64(h.n))
}
