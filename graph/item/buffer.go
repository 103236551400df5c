package item

import "sync/atomic"

// Buffer is a piece of recycled memory with a count of its holders. It comes from [Memory]; the last Release gives it
// back. Data may be shortened by the holder but never grown.
type Buffer struct {
	Data []byte
	refs atomic.Int32
	home Home
	full []byte // Data as it was taken
}

// Memory hands out buffers. What a buffer held before is still in it: the taker writes every byte it wants to read.
// It is safe for use by several goroutines.
type Memory interface {
	Take(n int) *Buffer
}

// Home takes released buffers back. It is for those who write a [Memory].
type Home interface {
	Back(b *Buffer, full []byte)
}

// Lend makes a buffer over data with one holder. home gets it back after the last release; nil leaves it to the garbage
// collector.
func Lend(data []byte, home Home) *Buffer {
	b := &Buffer{}
	b.Reuse(data, data, home)
	return b
}

// Reuse sets a buffer that came back to its home up for its next holder: n bytes in use, full in all.
func (b *Buffer) Reuse(used, full []byte, home Home) {
	b.Data, b.full, b.home = used, full, home
	b.refs.Store(1)
}

// Retain adds a holder.
func (b *Buffer) Retain() {
	b.check()
	b.refs.Add(1)
}

// Release gives up one hold. Releasing more often than held panics.
func (b *Buffer) Release() {
	switch n := b.refs.Add(-1); {
	case n < 0:
		panic("item: buffer released twice")
	case n == 0:
		scribble(b.full)
		full := b.full
		if b.home != nil {
			b.Data, b.full = nil, nil
			b.home.Back(b, full)
		}
	}
}

func (b *Buffer) check() {
	if checked && b.refs.Load() <= 0 {
		panic("item: buffer used after its release")
	}
}

// heap is the Memory of samples that live outside a pipeline.
type heap struct{}

// Heap is a Memory that takes fresh memory each time and leaves it to the garbage collector. For tests and small uses.
var Heap Memory = heap{}

func (heap) Take(n int) *Buffer {
	full := make([]byte, max(n, 8)) // at least 8, so that every view is aligned
	b := &Buffer{}
	b.Reuse(full[:n], full, nil)
	return b
}
