package item

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRowHasherGivesTheHashOfTheSample(t *testing.T) {
	b := &Batch{Columns: []Column{ColumnOf("x", []float32{1, 2, 3, 4, 5, 6}, 3), ColumnOf("n", []int64{-7, 8}), ColumnOf("f", []float64{0.5, 1}), ColumnOf("small", []int32{1, 2})},
		Rows: []Row{{Key: "a"}, {Key: "another"}}}
	var h RowHasher
	for range 2 { // what was laid out serves again
		h.Hash(b)
		for i, key := range []string{"a", "another"} {
			s := NewSample(key)
			s.Set("x", Tensor(taken(b.Columns[0].Data[12*i:12*i+12]), Float32, MakeShape(3)))
			s.Set("n", Int(b.Columns[1].Int64s()[i]))
			s.Set("f", Float(b.Columns[2].Float64s()[i]))
			s.Set("small", Tensor(taken(b.Columns[3].Data[4*i:4*i+4]), Int32, MakeShape()))
			assert.Equal(t, s.Hash(), b.Rows[i].Hash)
		}
	}
	assert.Panics(t, func() { new(RowHasher).Hash(&Batch{Columns: []Column{{Name: "t", Kind: KindText}}}) })
	assert.Panics(t, func() { ColumnOf("x", make([]uint8, 5), 2) })
}

func taken(data []byte) *Buffer {
	b := Heap.Take(len(data))
	copy(b.Data, data)
	return b
}

func BenchmarkRowHasher(b *testing.B) {
	batch := &Batch{Columns: []Column{ColumnOf("features", make([]float32, 16*64), 16), ColumnOf("label", make([]int64, 64))}, Rows: make([]Row, 64)}
	for i := range batch.Rows {
		batch.Rows[i].Key = "#123456"
	}
	var h RowHasher
	for range b.N {
		h.Hash(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/row")
}
