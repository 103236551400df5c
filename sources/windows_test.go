package sources

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// series has a number of each kind, and as the last one a sample that is not like the others.
type series struct{ n, odd int64 }

func (series) Schema(item.Schema) (item.Schema, error) {
	return item.Schema{Fields: []item.FieldSpec{
		{Name: "t", Kind: item.KindInt, Typed: true, DType: item.Int64}, {Name: "x", Kind: item.KindFloat, Typed: true, DType: item.Float64},
		{Name: "v", Kind: item.KindTensor, Typed: true, DType: item.Int32, Shape: item.MakeShape(2)},
		{Name: "p", Kind: item.KindImage, Typed: true, DType: item.Uint8, Shape: item.MakeShape(1, 2, 3)},
	}}, nil
}

func (s series) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: s.n, At: func(c *graph.Call, i int64) (*item.Sample, error) {
		out := item.NewSample(indexKey(i))
		out.Set("t", item.Int(i))
		out.Set("x", item.Float(float64(i)/2))
		b := c.Buffer(8)
		binary.NativeEndian.PutUint32(b.Data, uint32(i))
		binary.NativeEndian.PutUint32(b.Data[4:], uint32(-i))
		out.Set("v", item.Tensor(b, item.Int32, item.MakeShape(2)))
		w := 2
		if s.odd > 0 && i == s.odd {
			w = 1
		}
		p := c.Buffer(3 * w)
		for k := range p.Data {
			p.Data[k] = byte(i)
		}
		out.Set("p", item.Picture(p, 1, w, 3))
		return out, nil
	}}, nil
}

func take[T any](t *testing.T, src graph.Source[T], see func(T), opts ...graph.Option) (graph.Snapshot, error) {
	t.Helper()
	p := graph.New("series", graph.Seed(1))
	out := graph.Output(graph.From(p, "read", src, opts...), "take")
	run, err := p.Start(t.Context())
	if err != nil {
		return graph.Snapshot{}, err
	}
	for x, err := range out.All(run) {
		if err == nil {
			see(x)
		}
	}
	err = run.Wait()
	return run.Snapshot(), err
}

func TestWindowsJoinRunsOnANewFirstAxis(t *testing.T) {
	var starts []int64
	see := func(s *item.Sample) {
		ts := s.Get("t").Int64s()
		starts = append(starts, ts[0])
		require.Len(t, ts, 4)
		for k := range int64(4) {
			i := ts[0] + k
			require.Equal(t, i, ts[k])
			require.Equal(t, float64(i)/2, s.Get("x").Float64s()[k])
			require.Equal(t, []int32{int32(i), int32(-i)}, s.Get("v").Int32s()[2*k:2*k+2])
			require.Equal(t, byte(i), s.Get("p").Data()[6*k+5])
		}
		require.Equal(t, item.MakeShape(4, 1, 2, 3), s.Get("p").Shape())
		require.Equal(t, indexKey(ts[0])+"+4", s.Key())
	}
	_, err := take(t, graph.Source[*item.Sample](series{n: 12}), see, graph.Sampler(Windows{Length: 4, Stride: 3}), graph.Workers(3))
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 3, 6}, starts)
	starts = nil
	_, err = take(t, graph.Source[*item.Sample](series{n: 40}), see, graph.Sampler(Windows{Length: 4, Shuffled: true}))
	require.NoError(t, err)
	assert.Len(t, starts, 37)
	assert.NotEqual(t, int64(0), starts[0])
}

func TestWindowsDeclareWhatTheyMake(t *testing.T) {
	p := graph.New("series")
	graph.Output(graph.From(p, "read", series{n: 12}, graph.Sampler(Windows{Length: 4})), "take")
	require.NoError(t, p.Build())
	s, _ := p.Schema("read")
	assert.Equal(t, "t: tensor int64 4, x: tensor float64 4, v: tensor int32 4×2, p: tensor uint8 4×1×2×3", s.String())

	p = graph.New("files")
	graph.Output(graph.From(p, "read", Folder{Root: "x"}, graph.Sampler(Windows{})), "take")
	err := p.Build()
	assert.ErrorContains(t, err, "windows: length is missing")
	assert.ErrorContains(t, err, `field "image" is bytes`)
}

func TestWindowsSayWhatCannotBeJoined(t *testing.T) {
	drop := func(*item.Sample) {}
	_, err := take(t, graph.Source[*item.Sample](series{n: 3}), drop, graph.Sampler(Windows{Length: 4}))
	assert.ErrorContains(t, err, "has 3 samples, fewer than one run of 4")
	_, err = take(t, graph.Source[*item.Sample](series{n: 9, odd: 5}), drop, graph.Sampler(Windows{Length: 4}))
	assert.ErrorContains(t, err, `sample "#5" of the run: field "p" is image 1×1×3, which does not fit`)
	_, err = take(t, Map(Slice[int]{1, 2, 3}), func(int) {}, graph.Sampler(Windows{Length: 2}))
	assert.ErrorContains(t, err, "this source makes other items")
}

func TestWindowsOfASourceWithWorkersOfItsOwn(t *testing.T) {
	n := 0
	_, err := take(t, graph.Source[*item.Sample](Slow{Count: 10, FeatureDim: 3, Delay: graph.Fixed(1)}), func(s *item.Sample) {
		n++
		require.Equal(t, item.MakeShape(5, 3), s.Get("features").Shape())
	}, graph.Sampler(Windows{Length: 5}), graph.Workers(2))
	require.NoError(t, err)
	assert.Equal(t, 6, n)
}

func TestTheClassesOfASourceReachItsSampler(t *testing.T) {
	labels := map[int64]int{}
	_, err := take(t, graph.Source[*item.Sample](SyntheticImages{Count: 30, Classes: 3, Width: 16, Height: 16}), func(s *item.Sample) {
		labels[s.Get("label").Int()]++
	}, graph.Sampler(ClassBalanced{Batch: 6, Count: 12}))
	require.NoError(t, err)
	assert.Equal(t, map[int64]int{0: 4, 1: 4, 2: 4}, labels)
	_, err = take(t, graph.Source[*item.Sample](Range{Count: 5}), func(*item.Sample) {}, graph.Sampler(ClassBalanced{Batch: 6}))
	assert.ErrorContains(t, err, "does not tell the classes")
}
