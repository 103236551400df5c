package item

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Row says which sample stands in a row of a batch.
type Row struct {
	Key     string
	Pos     Pos
	Hash    uint64
	StandIn bool // a copy of another row, in place of a sample that was skipped
	Padding bool // a sample that another rank or the epoch's begin delivered already
}

// Column is one field of a batch. Images and tensors lie in Data, row after row, with the batch dimension first in
// Shape; ints and floats are int64 and float64 columns of shape n. Text and bytes keep one entry a row in Texts or
// Blobs, since their lengths vary.
//
// Of a batch on a device Data is nil: its numbers begin Offset bytes after the batch's address there. Texts and Blobs
// stay on the host.
type Column struct {
	Name   string
	Kind   Kind
	DType  DType
	Shape  Shape
	Data   []byte
	Texts  []string
	Blobs  [][]byte
	Offset int // of Data in the batch's slab, and on the device
}

// Float32s views the column's data without a copy; likewise the others. A wrong dtype panics.
func (c *Column) Float32s() []float32 { return view[float32](c.Data, c.DType, Float32) }

// Float64s views a float64 column.
func (c *Column) Float64s() []float64 { return view[float64](c.Data, c.DType, Float64) }

// Int32s views an int32 column.
func (c *Column) Int32s() []int32 { return view[int32](c.Data, c.DType, Int32) }

// Int64s views an int64 column.
func (c *Column) Int64s() []int64 { return view[int64](c.Data, c.DType, Int64) }

// RowBytes is the size of one row in Data.
func (c *Column) RowBytes() int {
	if n := c.Shape.Dim(0); n > 0 {
		return len(c.Data) / n
	}
	return 0
}

// Batch is a collated group of samples. Its memory is a slab of a ring and is used again: a batch is valid until the
// consumer asks for the next one, unless Keep is called; then until the Release that belongs to it. A batch never spans
// epochs.
type Batch struct {
	Epoch   int64
	Number  int64 // counts from 0 in each epoch
	Rows    []Row
	Columns []Column
	Place   Place
	Handle  DeviceHandle // nil on the host
	Slab    []byte       // the one piece of memory that all columns lie in, or nil where each has its own

	keeps atomic.Int32 // holds beside the engine's own
	done  func()
	after func()
}

// Len is the number of rows, stand-ins and padding included.
func (b *Batch) Len() int { return len(b.Rows) }

// Column finds a column, or gives nil.
func (b *Batch) Column(name string) *Column {
	for i := range b.Columns {
		if b.Columns[i].Name == name {
			return &b.Columns[i]
		}
	}
	return nil
}

// Need finds a column of one of the kinds; the error says what is there.
func (b *Batch) Need(name string, kinds ...Kind) (*Column, error) {
	c := b.Column(name)
	if c == nil {
		names := make([]string, len(b.Columns))
		for i := range b.Columns {
			names[i] = b.Columns[i].Name
		}
		return nil, fmt.Errorf("field %q is missing; the batch has %s", name, quoted(names))
	}
	if !slices.Contains(kinds, c.Kind) {
		return nil, fmt.Errorf("field %q is %v, wanted %s", name, c.Kind, words(kinds))
	}
	return c, nil
}

// Key names the batch in messages by its first and last sample.
func (b *Batch) Key() string {
	switch n := len(b.Rows); n {
	case 0:
		return fmt.Sprintf("batch %d (empty)", b.Number)
	case 1:
		return fmt.Sprintf("batch %d (%s)", b.Number, b.Rows[0].Key)
	default:
		return fmt.Sprintf("batch %d (%s ... %s)", b.Number, b.Rows[0].Key, b.Rows[n-1].Key)
	}
}

// Bytes is the memory of the columns in use.
func (b *Batch) Bytes() int64 {
	var n int64
	for i := range b.Columns {
		c := &b.Columns[i]
		if n += int64(len(c.Data)); b.Place == Device && c.Texts == nil && c.Blobs == nil {
			n += int64(c.Shape.Elems() * c.DType.Size())
		}
		for _, t := range c.Texts {
			n += int64(len(t))
		}
		for _, t := range c.Blobs {
			n += int64(len(t))
		}
	}
	return n
}

// Capacity is the memory of the slab when all its rows are in use.
func (b *Batch) Capacity() int64 {
	if b.Slab != nil {
		return int64(len(b.Slab))
	}
	var n int64
	for i := range b.Columns {
		n += int64(cap(b.Columns[i].Data))
	}
	return n
}

// Keep holds the batch beyond the next iteration. Each Keep needs one Release, from whatever goroutine and whenever:
// also in the same iteration.
func (b *Batch) Keep() { b.keeps.Add(1) }

// Kept says whether someone holds the batch by Keep.
func (b *Batch) Kept() bool { return b.keeps.Load() > 0 }

// Release gives up one hold: that of a Keep, or the engine's own, which it gives up after the iteration. The last one
// gives the slab back to its ring.
func (b *Batch) Release() {
	if b.done == nil || b.keeps.Add(-1) >= 0 {
		return
	}
	for i := range b.Columns {
		scribble(b.Columns[i].Data)
	}
	b.keeps.Store(0)
	after := b.after
	b.after = nil
	b.done()
	if after != nil {
		after()
	}
}

// AfterRelease sets what follows the next Release. It is for the engine, which makes room for batches that are kept.
func (b *Batch) AfterRelease(f func()) { b.after = f }

// OnRelease sets what Release does. It is for the stage that makes batches.
func (b *Batch) OnRelease(done func()) { b.done = done }

// Describe is a short form for messages and drawings.
func (b *Batch) Describe() string {
	parts := make([]string, len(b.Columns))
	for i := range b.Columns {
		c := &b.Columns[i]
		parts[i] = fmt.Sprintf("%s: %v %v %v", c.Name, c.Kind, c.DType, c.Shape)
	}
	return fmt.Sprintf("batch of %d {%s}", b.Len(), strings.Join(parts, ", "))
}
