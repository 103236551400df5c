package stages

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func call(place int64) *graph.Call {
	return graph.NewCall(context.Background(), 7, "stage", item.Pos{Place: place})
}

func group(t testing.TB, c Collate) *graph.Group[*item.Sample, *item.Batch] {
	t.Helper()
	tr, err := c.Open(context.Background(), &graph.Env{Memory: item.Heap})
	require.NoError(t, err)
	return tr.Group
}

// picture is an image whose every byte is v.
func picture(h, w, ch int, v byte) item.Value {
	b := item.Heap.Take(h * w * ch)
	for i := range b.Data {
		b.Data[i] = v
	}
	return item.Picture(b, h, w, ch)
}

func tensor(d item.DType, dims ...int) item.Value {
	s := item.MakeShape(dims...)
	return item.Tensor(item.Heap.Take(s.Elems()*d.Size()), d, s)
}

func sample(key string, fields ...any) *item.Sample {
	s := item.NewSample(key)
	for i := 0; i < len(fields); i += 2 {
		s.Set(fields[i].(string), fields[i+1].(item.Value))
	}
	return s
}

func full(i int) *item.Sample {
	v := tensor(item.Float32, 2)
	v.Float32s()[0], v.Float32s()[1] = float32(i), -float32(i)
	return sample(fmt.Sprint("s", i),
		"image", picture(2, 3, 3, byte(i)), "points", v, "label", item.Int(int64(-i)), "weight", item.Float(float64(i)/2),
		"name", item.Text(fmt.Sprint("n", i)), "raw", item.HeapBytes(make([]byte, i)))
}

func TestCollateFillsRowsOfEveryKindByManyWorkers(t *testing.T) {
	g := group(t, Collate{Size: 8})
	require.NoError(t, g.First(full(3)))
	b, err := g.Slab()
	require.NoError(t, err)
	freed := 0
	for round, n := range []int{8, 3, 8} { // a slab is used again, also after a short batch
		var wg sync.WaitGroup
		meta := make([]item.Row, n)
		for row := range n {
			meta[row] = item.Row{Key: fmt.Sprint("s", row), Pos: item.Pos{Epoch: int64(round)}}
			wg.Go(func() { assert.NoError(t, g.Row(call(0), b, row, full(row))) })
		}
		wg.Wait()
		g.Done(b, n, int64(round), meta, func() { freed++ })

		require.Equal(t, n, b.Len())
		assert.EqualValues(t, round, b.Epoch)
		assert.EqualValues(t, round, b.Number)
		image, err := b.Need("image", item.KindImage)
		require.NoError(t, err)
		assert.Equal(t, item.MakeShape(n, 2, 3, 3), image.Shape)
		assert.Len(t, image.Data, n*18)
		for i := range n {
			assert.Equal(t, byte(i), image.Data[i*18+17])
			assert.EqualValues(t, -i, b.Column("label").Int64s()[i])
			assert.EqualValues(t, float64(i)/2, b.Column("weight").Float64s()[i])
			assert.EqualValues(t, -i, b.Column("points").Float32s()[2*i+1])
			assert.Equal(t, fmt.Sprint("n", i), b.Column("name").Texts[i])
			assert.Len(t, b.Column("raw").Blobs[i], i)
		}
		b.Release()
		assert.Equal(t, round+1, freed)
	}
}

func TestCollateOfOne(t *testing.T) {
	g := group(t, Collate{Size: 1, DropLast: true})
	assert.Equal(t, 1, g.Size)
	assert.True(t, g.DropLast)
	require.NoError(t, g.First(full(1)))
	b, err := g.Slab()
	require.NoError(t, err)
	require.NoError(t, g.Row(call(0), b, 0, full(5)))
	g.Done(b, 1, 4, make([]item.Row, 1), func() {})
	assert.Equal(t, []int64{-5}, b.Column("label").Int64s())
}

func TestCollateRefusesRaggedSamplesNamingBoth(t *testing.T) {
	base := func() *item.Sample {
		return sample("first.jpg", "image", picture(4, 6, 3, 1), "label", item.Int(1))
	}
	cases := map[string]struct {
		in   *item.Sample
		want string
	}{
		"size": {sample("odd.jpg", "image", picture(5, 6, 3, 1), "label", item.Int(1)),
			`field "image" is image 5×6×3, but image 4×6×3 in the first sample, "first.jpg"; put resize or a crop before collate`},
		"channels": {sample("odd.jpg", "image", picture(4, 6, 1, 1), "label", item.Int(1)), "image 4×6×1"},
		"kind": {sample("odd.jpg", "image", picture(4, 6, 3, 1), "label", item.Float(2.5)),
			`field "label" is float, but int in the first sample, "first.jpg"`},
		"dtype": {sample("odd.jpg", "image", tensor(item.Float32, 4, 6, 3), "label", item.Int(1)), "tensor float32 4×6×3"},
		"missing": {sample("odd.jpg", "image", picture(4, 6, 3, 1)),
			`field "label" is missing; the first sample, "first.jpg", has "image", "label"`},
		"extra": {sample("odd.jpg", "image", picture(4, 6, 3, 1), "label", item.Int(1), "mask", item.Int(0)),
			`field "mask" is one too many; the first sample, "first.jpg", has "image", "label"`},
		"renamed": {sample("odd.jpg", "image", picture(4, 6, 3, 1), "Label", item.Int(1)), `field "label" is missing`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := group(t, Collate{Size: 4})
			require.NoError(t, g.First(base()))
			b, err := g.Slab()
			require.NoError(t, err)
			assert.ErrorContains(t, g.Row(call(0), b, 1, c.in), c.want)
		})
	}
}

func TestCollateTakesFieldsInAnyOrder(t *testing.T) {
	g := group(t, Collate{Size: 2})
	require.NoError(t, g.First(sample("a", "x", item.Int(1), "y", item.Int(2))))
	b, err := g.Slab()
	require.NoError(t, err)
	require.NoError(t, g.Row(call(0), b, 0, sample("b", "y", item.Int(4), "x", item.Int(3))))
	assert.EqualValues(t, 3, b.Column("x").Int64s()[0])
	assert.EqualValues(t, 4, b.Column("y").Int64s()[0])
}

func TestCollateRefusesWhatHasNoLayout(t *testing.T) {
	assert.ErrorContains(t, group(t, Collate{}).First(sample("a")), "no fields")
	assert.ErrorContains(t, group(t, Collate{}).First(sample("a", "x", item.Value{})), `field "x" holds nothing`)
	assert.ErrorContains(t, group(t, Collate{}).First(sample("a", "x", tensor(item.Uint8, 1, 1, 1, 1, 1, 1))), "no room")
	assert.ErrorContains(t, Collate{Size: -1}.Check(), "size must be at least 1, got -1")
}

func TestCollateStandsInForSkippedRows(t *testing.T) {
	g := group(t, Collate{Size: 3})
	require.NoError(t, g.First(full(1)))
	b, err := g.Slab()
	require.NoError(t, err)
	require.NoError(t, g.Row(call(0), b, 0, full(0)))
	require.NoError(t, g.Row(call(0), b, 2, full(2)))
	g.Fill(b, 1, 2)
	g.Done(b, 3, 0, make([]item.Row, 3), func() {})
	assert.Equal(t, []int64{0, -2, -2}, b.Column("label").Int64s())
	assert.Equal(t, []string{"n0", "n2", "n2"}, b.Column("name").Texts)
	assert.Equal(t, b.Column("image").Data[36:], b.Column("image").Data[18:36])
	assert.Len(t, b.Column("raw").Blobs[1], 2)
}

func TestCollateKeepsEveryBitOfNumbers(t *testing.T) {
	g := group(t, Collate{Size: 1})
	in := sample("a", "i", item.Int(math.MinInt64+1), "f", item.Float(math.Copysign(0, -1)))
	require.NoError(t, g.First(in))
	b, err := g.Slab()
	require.NoError(t, err)
	require.NoError(t, g.Row(call(0), b, 0, in))
	assert.EqualValues(t, math.MinInt64+1, b.Column("i").Int64s()[0])
	assert.True(t, math.Signbit(b.Column("f").Float64s()[0]))
}

func TestCollateSchemaIsThatOfRows(t *testing.T) {
	in := item.Schema{Fields: []item.FieldSpec{{Name: "label", Kind: item.KindInt}, {Name: "raw", Kind: item.KindBytes}}}
	out, err := Collate{}.Schema(in)
	require.NoError(t, err)
	assert.True(t, out.Batch)
	assert.Equal(t, "label: int, raw: bytes", out.String())
}

func BenchmarkCollateRow(b *testing.B) {
	const n = 3 * 224 * 224
	run := func(b *testing.B, in item.Value) {
		g := group(b, Collate{Size: 64})
		s := sample("a", "image", in, "label", item.Int(1))
		require.NoError(b, g.First(s))
		slab, err := g.Slab()
		require.NoError(b, err)
		b.SetBytes(int64(len(in.Data())))
		b.ReportAllocs()
		row := 0
		for b.Loop() {
			in.Buffer().Retain() // of which the row releases one
			s := sample("a", "image", in, "label", item.Int(1))
			_ = g.Row(nil, slab, row, s)
			row = (row + 1) % 64
		}
	}
	b.Run("uint8 224", func(b *testing.B) { run(b, picture(224, 224, 3, 1)) })
	b.Run("float32 224", func(b *testing.B) { run(b, tensor(item.Float32, 3, 224, 224)) })
	b.Run("memcpy float32 224", func(b *testing.B) {
		from, to := make([]byte, 4*n), make([]byte, 64*4*n)
		b.SetBytes(4 * n)
		row := 0
		for b.Loop() {
			copy(to[row*4*n:], from)
			row = (row + 1) % 64
		}
	})
}
