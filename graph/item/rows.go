package item

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// Number is what a column of [ColumnOf] may hold.
type Number interface {
	uint8 | int32 | int64 | float32 | float64
}

// ColumnOf views numbers as the tensors of a column, one of shape dims after the other; without dims each row is one
// number: int64 and float64 are then whole and floating-point numbers, as [Int] and [Float], others tensors without
// dimensions. Nothing is copied. Numbers that do not fill whole rows panic.
func ColumnOf[T Number](name string, numbers []T, dims ...int) Column {
	var zero T
	var d DType
	kind := KindTensor
	switch any(zero).(type) {
	case uint8:
		d = Uint8
	case int32:
		d = Int32
	case int64:
		if d = Int64; len(dims) == 0 {
			kind = KindInt
		}
	case float32:
		d = Float32
	case float64:
		if d = Float64; len(dims) == 0 {
			kind = KindFloat
		}
	}
	shape := MakeShape(dims...)
	each := shape.Elems()
	if each <= 0 || len(numbers)%each != 0 {
		panic(fmt.Sprintf("item: %d numbers are no whole rows of %v", len(numbers), dims))
	}
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*d.Size())
	return Column{Name: name, Kind: kind, DType: d, Shape: shape.Prepend(len(numbers) / each), Data: data}
}

// RowHasher hashes the rows of batches: each gets the hash that [Sample.Hash] gives for a sample of the same key and
// fields. It is for sources that make batches at once. It belongs to one worker. Columns of text and bytes, whose lengths
// vary, are refused by a panic. Cost: BenchmarkRowHasher.
type RowHasher struct {
	fixed []byte // of a row, without key and data; made from the first batch
	at    []int  // where a column's data, or number, stands
	buf   []byte
}

// Hash sets the hash of every row of b from its key and the columns, which must be laid out as in the batch before.
func (h *RowHasher) Hash(b *Batch) {
	if h.fixed == nil {
		h.layout(b)
	}
	for i := range b.Rows {
		key := b.Rows[i].Key
		h.buf = binary.LittleEndian.AppendUint64(h.buf[:0], uint64(len(key)))
		h.buf = append(append(h.buf, key...), h.fixed...)
		from := 8 + len(key)
		for k := range b.Columns {
			c := &b.Columns[k]
			n := c.RowBytes()
			fold(h.buf[from+h.at[k]:], c.Data[i*n:(i+1)*n])
		}
		b.Rows[i].Hash = max(1, xxhash.Sum64(h.buf)) // 0 stands for "not hashed"
	}
}

// layout makes the bytes that a sample's hash is of, see [Sample.Hash].
func (h *RowHasher) layout(b *Batch) {
	h.fixed = []byte{}
	for k := range b.Columns {
		c := &b.Columns[k]
		h.fixed = binary.LittleEndian.AppendUint64(h.fixed, uint64(len(c.Name)))
		h.fixed = append(h.fixed, c.Name...)
		var head [8 + MaxRank*4 + 8]byte
		head[0], head[1] = byte(c.Kind), byte(c.DType)
		data := c.RowBytes()
		switch c.Kind {
		case KindInt, KindFloat:
			h.at = append(h.at, len(h.fixed)+8+MaxRank*4)
			data = 0
		case KindImage, KindTensor:
			head[2] = byte(c.Shape.rank - 1)
			for i, l := range c.Shape.dims[1:c.Shape.rank] {
				binary.LittleEndian.PutUint32(head[8+4*i:], uint32(l))
			}
			h.at = append(h.at, len(h.fixed)+len(head)+16)
		default:
			panic(fmt.Sprintf("item: rows of column %q are %v, which have no fixed length", c.Name, c.Kind))
		}
		h.fixed = append(h.fixed, head[:]...)
		h.fixed = binary.LittleEndian.AppendUint64(h.fixed, 0) // of a text
		h.fixed = binary.LittleEndian.AppendUint64(h.fixed, uint64(data))
		h.fixed = append(h.fixed, make([]byte, foldedLen(data))...)
	}
}
