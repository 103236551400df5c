package sources_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
)

// table is n rows whose numbers tell their index.
func table(n int) []item.Column {
	features, labels, weights := make([]float32, 0, 3*n), make([]int64, n), make([]float64, n)
	pixels := make([]byte, 0, 12*n)
	for i := range n {
		features = append(features, float32(i), float32(i)+0.25, float32(i)+0.5)
		labels[i], weights[i] = int64(i*10), float64(i)/2
		for k := range 12 {
			pixels = append(pixels, byte(i+k))
		}
	}
	image := item.ColumnOf("image", pixels, 2, 2, 3)
	image.Kind = item.KindImage
	return []item.Column{item.ColumnOf("features", features, 3), item.ColumnOf("label", labels), item.ColumnOf("weight", weights), image}
}

// labelsOf runs a source of batches and gives the labels of each epoch, the keys and the digest.
func labelsOf(t *testing.T, src graph.Source[*item.Batch], epochs int, o ...graph.Option) (labels [][]int64, sizes []int, digest string) {
	t.Helper()
	p := graph.New("rows", graph.Seed(3), graph.Epochs(epochs))
	out := graph.Output(graph.From(p, "read", src, o...), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	labels = make([][]int64, epochs)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		sizes = append(sizes, b.Len())
		features, image := b.Column("features").Float32s(), b.Column("image")
		require.Equal(t, []int{b.Len(), 2, 2, 3}, image.Shape.Dims())
		for row, l := range b.Column("label").Int64s() {
			i := int(l / 10)
			require.Equal(t, fmt.Sprint("#", i), b.Rows[row].Key)
			require.Equal(t, []float32{float32(i), float32(i) + 0.25, float32(i) + 0.5}, features[3*row:3*row+3])
			require.Equal(t, float64(i)/2, b.Column("weight").Float64s()[row])
			require.Equal(t, byte(i+11), image.Data[12*row+11])
		}
		labels[b.Epoch] = append(labels[b.Epoch], b.Column("label").Int64s()...)
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	assert.True(t, s.Totals.Balanced, s.Totals.Unbalanced)
	require.NotNil(t, s.Digest)
	return labels, sizes, *s.Digest
}

func TestRowsComeOnceAnEpochWhateverTheWorkers(t *testing.T) {
	const n = 1000
	want, sizes, digest := labelsOf(t, sources.Rows{Columns: table(n), Size: 64, Shuffled: true}, 3, graph.Workers(1))
	assert.Equal(t, 40, sizes[15], "the last batch of an epoch is short")
	for _, epoch := range want {
		assert.False(t, slices.IsSorted(epoch))
		sorted := slices.Sorted(slices.Values(epoch))
		require.Len(t, slices.Compact(sorted), n)
		assert.Equal(t, int64(10*(n-1)), sorted[n-1])
	}
	assert.NotEqual(t, want[0], want[1])
	for _, workers := range []int{2, 8} {
		got, _, d := labelsOf(t, sources.Rows{Columns: table(n), Size: 64, Shuffled: true}, 3, graph.Workers(workers))
		assert.Equal(t, want, got)
		assert.Equal(t, digest, d)
	}
	got, _, d := labelsOf(t, sources.Rows{Columns: table(n), Size: 7, Shuffled: true}, 3)
	assert.Equal(t, want, got, "another size")
	assert.Equal(t, digest, d)
}

func TestRowsInOrderAndWithoutTheLast(t *testing.T) {
	labels, sizes, _ := labelsOf(t, sources.Rows{Columns: table(10), Size: 4, DropLast: true}, 1)
	assert.Equal(t, []int{4, 4}, sizes)
	assert.Equal(t, []int64{0, 10, 20, 30, 40, 50, 60, 70}, labels[0])
}

func TestASizeBeyondAllRowsIsOneBatch(t *testing.T) {
	labels, sizes, _ := labelsOf(t, sources.Rows{Columns: table(3), Size: math.MaxInt}, 2)
	assert.Equal(t, []int{3, 3}, sizes)
	assert.Equal(t, [][]int64{{0, 10, 20}, {0, 10, 20}}, labels)
	p := graph.New("rows")
	graph.Output(graph.From[*item.Batch](p, "read", sources.Rows{Columns: table(3), Size: math.MaxInt, DropLast: true}), "train")
	_, err := p.Start(t.Context())
	assert.ErrorContains(t, err, "no samples")
}

// oneByOne gives the rows of a table as samples.
type oneByOne struct{ columns []item.Column }

func (o oneByOne) Len() int64 { return int64(o.columns[0].Shape.Dim(0)) }

func (o oneByOne) at(i int) *item.Sample {
	s := item.NewSample(fmt.Sprint("#", i))
	for _, c := range o.columns {
		data := item.Heap.Take(c.RowBytes())
		copy(data.Data, c.Data[i*c.RowBytes():])
		switch c.Kind {
		case item.KindInt:
			s.Set(c.Name, item.Int(c.Int64s()[i]))
		case item.KindFloat:
			s.Set(c.Name, item.Float(c.Float64s()[i]))
		case item.KindImage:
			s.Set(c.Name, item.Picture(data, c.Shape.Dim(1), c.Shape.Dim(2), c.Shape.Dim(3)))
		default:
			s.Set(c.Name, item.Tensor(data, c.DType, item.MakeShape(c.Shape.Dims()[1:]...)))
		}
	}
	return s
}

func TestRowsHaveTheHashesOfSamples(t *testing.T) {
	one := oneByOne{table(20)}
	p := graph.New("rows")
	out := graph.Output(graph.From[*item.Batch](p, "read", sources.Rows{Columns: one.columns, Size: 7}), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	i := 0
	for b, err := range out.All(run) {
		require.NoError(t, err)
		for _, r := range b.Rows {
			assert.Equal(t, one.at(i).Hash(), r.Hash, "row %d", i)
			i++
		}
	}
	require.Equal(t, 20, i)
	require.NoError(t, run.Wait())
}

func TestRowsAreSharedByRanks(t *testing.T) {
	src := sources.Rows{Columns: table(100), Size: 8, Shuffled: true}
	assert.NotContains(t, fmt.Sprintf("%+v", src), "0.25", "a declaration shows no data")
	whole, _, _ := labelsOf(t, src, 1)
	var parts []int64
	for rank := range 2 {
		p := graph.New("rows", graph.Seed(3), graph.Rank(rank, 2))
		out := graph.Output(graph.From[*item.Batch](p, "read", src), "train")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			for row, l := range b.Column("label").Int64s() {
				if !b.Rows[row].Padding {
					parts = append(parts, l)
				}
			}
		}
		require.NoError(t, run.Wait())
	}
	assert.ElementsMatch(t, whole[0], parts, "two ranks have all rows once, padding left out")
}

func TestRowsRefuseWhatIsNoData(t *testing.T) {
	good := table(4)
	for name, c := range map[string]struct {
		src  sources.Rows
		want string
	}{
		"size":    {sources.Rows{Columns: good}, "Size must be at least 1, got 0"},
		"none":    {sources.Rows{Size: 1}, "nothing to give"},
		"lengths": {sources.Rows{Size: 1, Columns: append(slices.Clone(good), item.ColumnOf("x", make([]int64, 3)))}, `column "x" has shape 3`},
		"texts":   {sources.Rows{Size: 1, Columns: []item.Column{{Name: "t", Kind: item.KindText}}}, `column "t" is text`},
		"bytes":   {sources.Rows{Size: 1, Columns: []item.Column{{Name: "t", Kind: item.KindTensor, DType: item.Float32, Shape: item.MakeShape(2, 3), Data: make([]byte, 5)}}}, "takes 24 bytes and has 5"},
	} {
		p := graph.New("rows")
		graph.Output(graph.From[*item.Batch](p, "read", c.src), "train")
		assert.ErrorContains(t, p.Build(), c.want, name)
	}
	assert.Panics(t, func() { item.ColumnOf("x", make([]int32, 5), 2) })
}

// BenchmarkRows is a million rows of 16 numbers and a label, in batches of 64: nanoseconds a row, beside a plain loop that
// gathers the same rows, which is the limit of one core.
func BenchmarkRows(b *testing.B) {
	const n = 1_000_000
	columns := []item.Column{item.ColumnOf("features", make([]float32, 16*n), 16), item.ColumnOf("label", make([]int64, n))}
	for _, plain := range []bool{false, true} {
		b.Run(fmt.Sprintf("plain=%v", plain), func(b *testing.B) {
			p := graph.New("rows", graph.Epochs((b.N+n-1)/n))
			if plain {
				p.With(graph.NoDigest(), graph.Untimed())
			}
			out := graph.Output(graph.From[*item.Batch](p, "read", sources.Rows{Columns: columns, Size: 64, Shuffled: true}), "train")
			b.ReportAllocs()
			b.ResetTimer()
			run, err := p.Start(b.Context())
			require.NoError(b, err)
			for _, err := range out.All(run) {
				require.NoError(b, err)
			}
			require.NoError(b, run.Wait())
		})
	}
	b.Run("loop", func(b *testing.B) {
		places, err := sources.Shuffled{}.Places(n, 1)
		require.NoError(b, err)
		features, labels := make([]byte, 64*64), make([]byte, 64*8)
		b.ResetTimer()
		for i := range b.N {
			k, at := int(places.Index(int64(i/n), int64(i%n))), i%64
			copy(features[64*at:64*at+64], columns[0].Data[64*k:])
			copy(labels[8*at:8*at+8], columns[1].Data[8*k:])
		}
	})
}
