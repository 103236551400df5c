package graph

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/pool"
	"github.com/penstock-go/penstock/graph/item"
)

// memory lends recycled buffers of a pool.
type memory struct {
	pool    *pool.Memory
	buffers sync.Pool
}

func newMemory(limit int64) *memory {
	m := &memory{pool: pool.NewMemory(limit)}
	m.buffers.New = func() any { return new(item.Buffer) }
	return m
}

// Take lends a buffer.
func (m *memory) Take(n int) *item.Buffer {
	b := m.buffers.Get().(*item.Buffer)
	full := m.pool.Take(n)
	b.Reuse(full[:n], full[:cap(full)], m)
	return b
}

// Back takes a buffer's memory back after its last release.
func (m *memory) Back(b *item.Buffer, full []byte) {
	m.pool.Back(full)
	m.buffers.Put(b)
}
