package item

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPosOrderIsThatOfItsParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	steps := []int{0, 1, 2, 127, 128, 255, 256, 257, 65535, 65536, 1 << 40}
	var all []Pos
	var paths [][]int
	for range 300 {
		p := Pos{}
		var path []int
		for range r.IntN(4) {
			s := steps[r.IntN(len(steps))]
			path = append(path, s)
			p = p.Down(s)
		}
		all, paths = append(all, p), append(paths, path)
		require.Equal(t, path, p.Children())
	}
	for i := range all {
		for j := range all {
			require.Equal(t, slices.Compare(paths[i], paths[j]), all[i].Compare(all[j]), "%v and %v", paths[i], paths[j])
		}
	}
	sorted := []Pos{
		{}, {Place: 1}, {Place: 1, Child: Pos{}.Down(0).Child}, {Place: 2}, {Source: 1}, {Epoch: 1}, {Epoch: 1, Source: 1, Place: 3},
	}
	for i := range sorted {
		for j := range sorted {
			require.Equal(t, i < j, sorted[i].Compare(sorted[j]) < 0)
		}
	}
}

func TestPosInWords(t *testing.T) {
	require.Equal(t, "epoch 0, place 12", Pos{Place: 12}.String())
	require.Equal(t, "epoch 2, source 1, place 12, output 3.0", Pos{Epoch: 2, Source: 1, Place: 12}.Down(3).Down(0).String())
	p := Pos{Place: SplitPlace(7, 1<<39)}
	require.Equal(t, "epoch 0, split 7, record 549755813888", p.String())
	split, record, ok := p.Split()
	require.True(t, ok)
	require.Equal(t, 7, split)
	require.Equal(t, int64(1<<39), record)
	require.Negative(t, Pos{Place: SplitPlace(0, 5)}.Compare(Pos{Place: SplitPlace(1, 0)}))
	_, _, ok = Pos{Place: 5}.Split()
	require.False(t, ok)
}

func TestShape(t *testing.T) {
	s := MakeShape(3, 224, 200)
	require.Equal(t, "3×224×200", s.String())
	require.Equal(t, 3*224*200, s.Elems())
	require.Equal(t, MakeShape(8, 3, 224, 200), s.Prepend(8))
	require.Equal(t, "scalar", Shape{}.String())
	require.Equal(t, 1, Shape{}.Elems())
	require.Equal(t, "?×2", MakeShape(-1, 2).String())
	require.Equal(t, -1, MakeShape(-1, 2).Elems())
	require.True(t, MakeShape(5, 2).Matches(MakeShape(-1, 2)))
	require.False(t, MakeShape(5, 2).Matches(MakeShape(-1, 3)))
	require.False(t, MakeShape(5).Matches(MakeShape(5, 1)))
	require.Panics(t, func() { MakeShape(1, 2, 3, 4, 5, 6, 7) })
	require.Panics(t, func() { MakeShape(-2) })
	require.Panics(t, func() { MakeShape(1 << 31) })
}

func TestShapesFromFilesAreChecked(t *testing.T) {
	require.NoError(t, CheckShape(Float32, []int64{3, 4}, 48))
	for _, dims := range [][]int64{{3, 5}, {-1}, {math.MaxInt64}, {1 << 31}, {1 << 30, 1 << 30, 1 << 30}, {1, 1, 1, 1, 1, 1, 1}} {
		require.Error(t, CheckShape(Float32, dims, 48), "%v", dims)
	}
	require.NoError(t, CheckShape(Float64, []int64{0, 1 << 30}, 48), "nothing needs nothing")
}

func TestSampleFields(t *testing.T) {
	s := NewSample("a.jpg")
	s.Set("label", Int(3))
	s.Set("name", Text("x"))
	before := s.Hash()
	s.Set("label", Int(4))
	require.NotEqual(t, before, s.Hash())
	s.Set("label", Int(3))
	require.Equal(t, before, s.Hash())
	_, err := s.Need("image", KindImage)
	require.EqualError(t, err, `field "image" is missing; the sample has "label", "name"`)
	_, err = s.Need("label", KindImage)
	require.EqualError(t, err, `field "label" is int, wanted image`)
	v, err := s.Need("label", KindInt)
	require.NoError(t, err)
	require.Equal(t, int64(3), v.Int())
	s.Drop("label")
	s.Drop("label")
	require.Nil(t, s.Get("label"))
	require.Equal(t, int64(len("a.jpg")+1), s.Bytes())
	s.Release()
}

func TestHashTellsFieldsApart(t *testing.T) {
	seen := map[uint64]string{}
	add := func(name string, key string, f func(s *Sample)) {
		s := NewSample(key)
		f(s)
		h := s.Hash()
		require.Empty(t, seen[h], "%s and %s", name, seen[h])
		seen[h] = name
	}
	add("nothing", "k", func(*Sample) {})
	add("another key", "kk", func(*Sample) {})
	add("ab, c", "k", func(s *Sample) { s.Set("ab", Text("c")) })
	add("a, bc", "k", func(s *Sample) { s.Set("a", Text("bc")) })
	add("bytes", "k", func(s *Sample) { s.Set("a", HeapBytes([]byte("bc"))) })
	add("int", "k", func(s *Sample) { s.Set("a", Int(0)) })
	add("float", "k", func(s *Sample) { s.Set("a", Float(0)) })
	add("minus nought", "k", func(s *Sample) { s.Set("a", Float(math.Copysign(0, -1))) })
	add("2×3", "k", func(s *Sample) { s.Set("a", Tensor(Heap.Take(6), Uint8, MakeShape(2, 3))) })
	add("3×2", "k", func(s *Sample) { s.Set("a", Tensor(Heap.Take(6), Uint8, MakeShape(3, 2))) })
	add("6×1 image", "k", func(s *Sample) { s.Set("a", Picture(Heap.Take(6), 6, 1, 1)) })
}

type counter struct{ back int }

func (c *counter) Back(*Buffer, []byte) { c.back++ }

func TestBufferGoesBackAfterTheLastHold(t *testing.T) {
	c := &counter{}
	b := Lend(make([]byte, 16), c)
	s := NewSample("k")
	s.Set("a", Bytes(b))
	b.Retain()
	require.True(t, s.Get("a").Shared())
	s.Set("b", Bytes(b))
	s.Set("a", Int(1)) // gives one hold up
	require.Zero(t, c.back)
	require.False(t, s.Get("b").Shared())
	s.Release()
	require.Equal(t, 1, c.back)
	require.Panics(t, func() { b.Release() }, "released twice")
}

func TestUseAfterReleasePanicsInCheckedBuilds(t *testing.T) {
	if !checked {
		t.Skip("only with the race detector")
	}
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	b := Lend(data, nil)
	v := Bytes(b)
	b.Release()
	require.Equal(t, byte(0xDB), data[3], "scribbled")
	require.Panics(t, func() { v.Data() })
	require.Panics(t, func() { b.Retain() })
	s := NewSample("k")
	s.Release()
	require.Panics(t, func() { s.Get("a") })
	require.Panics(t, func() { s.Release() })
}

func TestViewsNeedTheRightType(t *testing.T) {
	v := Tensor(Heap.Take(8), Float32, MakeShape(2))
	require.Len(t, v.Float32s(), 2)
	require.Panics(t, func() { v.Float64s() })
	require.Panics(t, func() { Tensor(Heap.Take(4), Float32, MakeShape(2)) }, "the buffer is too short")
	require.Panics(t, func() { Tensor(Heap.Take(4), Float32, MakeShape(-1)) })
}

func TestBatchHolds(t *testing.T) {
	freed, after := 0, 0
	b := &Batch{Columns: []Column{{Name: "v", Kind: KindInt, DType: Int64, Shape: MakeShape(2), Data: make([]byte, 16)}}}
	b.Release() // of nobody's memory: harmless
	b.OnRelease(func() { freed++ })
	b.Release()
	require.Equal(t, 1, freed)
	b.Keep()
	b.Keep()
	require.True(t, b.Kept())
	b.AfterRelease(func() { after++ })
	b.Release()
	b.Release()
	require.Equal(t, 1, freed, "the engine still holds it")
	require.False(t, b.Kept())
	b.Release()
	require.Equal(t, 2, freed)
	require.Equal(t, 1, after)
}

func TestBatchColumns(t *testing.T) {
	b := &Batch{Number: 3, Rows: []Row{{Key: "a"}, {Key: "b"}}, Columns: []Column{
		{Name: "v", Kind: KindInt, DType: Int64, Shape: MakeShape(2), Data: make([]byte, 16, 64)}, {Name: "t", Kind: KindText, Texts: []string{"x", "yz"}},
	}}
	require.Equal(t, "batch 3 (a ... b)", b.Key())
	require.Equal(t, int64(19), b.Bytes())
	require.Equal(t, int64(64), b.Capacity())
	require.Equal(t, 8, b.Column("v").RowBytes())
	_, err := b.Need("w", KindInt)
	require.EqualError(t, err, `field "w" is missing; the batch has "v", "t"`)
	_, err = b.Need("v", KindText, KindBytes)
	require.EqualError(t, err, `field "v" is int, wanted text or bytes`)
	require.True(t, strings.HasPrefix(b.Describe(), "batch of 2 {v: int"))
}

func TestSchemaNeeds(t *testing.T) {
	s := Schema{}.With(FieldSpec{Name: "image", Kind: KindBytes}).With(FieldSpec{Name: "any"})
	require.NoError(t, s.Needs("image", "", KindBytes, KindImage))
	require.NoError(t, s.Needs("any", "", KindTensor))
	require.EqualError(t, s.Needs("image", "decode_image", KindImage), `field "image": wanted image, found bytes; put decode_image before it`)
	require.ErrorContains(t, s.Needs("label", "", KindInt), "no such field")
	s.Open = true
	require.NoError(t, s.Needs("label", "", KindInt))
	require.Len(t, s.Without("any").Fields, 1)
	require.Len(t, s.Fields, 2, "copies are changed, not the schema")
}

func TestChainDependsOnOrder(t *testing.T) {
	var a, b Chain
	a.Add(1)
	a.Add(2)
	b.Add(2)
	b.Add(1)
	require.NotEqual(t, a.Sum(), b.Sum())
	require.Len(t, a.String(), 16)
	require.Equal(t, "0000000000000000", (&Chain{}).String())
}
