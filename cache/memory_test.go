package cache_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cache"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/report"
)

// numbers is a source of n samples with a field of 100 bytes.
type numbers struct{ N int64 }

func (s numbers) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: s.N, At: func(c *graph.Call, i int64) (*item.Sample, error) {
		b := c.Buffer(97)
		clear(b.Data)
		binary.LittleEndian.PutUint64(b.Data, uint64(i))
		x := item.NewSample(fmt.Sprintf("%03d", i))
		x.Set("data", item.Tensor(b, item.Uint8, item.MakeShape(97)))
		return x, nil
	}}, nil
}

// scribbler writes into samples in place, as far as nobody else holds them.
func scribbler(c *graph.Call, s *item.Sample) (*item.Sample, error) {
	v := s.Get("data")
	if v.Shared() {
		b := c.Buffer(len(v.Data()))
		copy(b.Data, v.Data())
		s.Set("data", item.Tensor(b, item.Uint8, v.Shape()))
		v = s.Get("data")
	}
	v.Data()[90] = byte(c.Rand().Uint64())
	return s, nil
}

func runs(t *testing.T, limit int64, workers int, opts ...graph.PipelineOption) graph.Snapshot {
	t.Helper()
	p := graph.New("kept", append(opts, graph.Seed(1), graph.Epochs(3))...)
	port := graph.Via(graph.From(p, "read", numbers{200}, graph.Workers(workers)), "decode",
		graph.Map(func(s *item.Sample) (*item.Sample, error) { return s, nil }), graph.Workers(workers))
	if limit > 0 {
		port = graph.Via(port, "keep", cache.Memory{Limit: limit})
	}
	out := graph.Output(graph.Via(port, "scribble", graph.MapCall(scribbler), graph.Workers(workers)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for _, err := range out.All(run) {
		require.NoError(t, err)
		n++
	}
	require.NoError(t, run.Wait())
	require.Equal(t, 600, n)
	s := run.Snapshot()
	require.Empty(t, s.Totals.Unbalanced)
	return s
}

// What comes out is what would come out without the cache, although the stage behind it writes in place.
func TestSamplesAreTheSameWithACache(t *testing.T) {
	want := *runs(t, 0, 1).Digest
	for _, workers := range []int{1, 2, 8} {
		for _, limit := range []int64{1, 8000, 1 << 20} {
			for _, opts := range [][]graph.PipelineOption{nil, {graph.Sync()}} {
				s := runs(t, limit, workers, opts...)
				assert.Equal(t, want, *s.Digest, "workers %d, limit %d", workers, limit)
				share := min(1, float64(limit/100)/200)
				for _, e := range s.Epochs[1:] {
					assert.InDelta(t, share, float64(e.Caches[0].Hits)/200, 0.01)
					assert.Equal(t, 200-e.Caches[0].Hits, e.ItemsIn["decode"])
				}
				assert.LessOrEqual(t, s.Caches[0].Bytes, limit)
				assert.InDelta(t, share, *s.Caches[0].HitShare, 0.01)
				assert.Contains(t, report.Table(s), "Cache keep: ")
			}
		}
	}
}

// row is a program's own type.
type row struct{ a, b int64 }

func (row) Bytes() int64 { return 16 }

// leased has to be given back and cannot be shared.
type leased struct{ row }

func (*leased) Release() {}

type rows struct{}

func (rows) Open(context.Context, *graph.Env) (graph.Reader[row], error) {
	return graph.Reader[row]{Len: 10, At: func(_ *graph.Call, i int64) (row, error) { return row{i, i}, nil }}, nil
}

func TestAProgramsOwnTypeIsKept(t *testing.T) {
	p := graph.New("own", graph.Epochs(2))
	out := graph.Output(graph.Via(graph.From(p, "read", rows{}), "keep", cache.Items[row](80)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var got []int64
	for v, err := range out.All(run) {
		require.NoError(t, err)
		got = append(got, v.a)
	}
	require.NoError(t, run.Wait())
	assert.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, got)
	assert.Equal(t, int64(5), run.Snapshot().Caches[0].Hits)
}

func TestTypesThatCannotBeKeptAreRefused(t *testing.T) {
	check := func(s any) error { return s.(graph.Checker).Check() }
	assert.ErrorContains(t, check(cache.Items[int](1)), "no method Bytes")
	assert.ErrorContains(t, check(cache.Items[*leased](1)), "no method Share")
	assert.ErrorContains(t, check(cache.Items[row](0)), "at least 1")
	assert.ErrorContains(t, check(cache.Memory{Limit: -1}), "limit")
}

// A sink that waits for decoding in the first epoch, and not later, is told that the cold cache is the cause.
func TestAColdCacheIsNamedByTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("cold", graph.Epochs(3))
		slow := graph.Via(graph.From(p, "read", numbers{100}), "decode", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			time.Sleep(20 * time.Millisecond)
			return s, nil
		}), graph.Workers(1))
		out := graph.Output(graph.Via(slow, "keep", cache.Memory{Limit: 1 << 20}), "train")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(5 * time.Millisecond)
		}
		require.NoError(t, run.Wait())
		v := report.Judge(run.Snapshot())
		assert.Equal(t, "decode", v.Bottleneck)
		assert.Contains(t, v.Sentence, `The cause is the cold cache "keep": "train" waited 76 % of the first epoch and 0 % of those after it.`)
	})
}

// BenchmarkMemoryEntry is what an entry takes beside the bytes of its sample: a picture of 3 KiB with a label and a key.
func BenchmarkMemoryEntry(b *testing.B) {
	tr, err := cache.Memory{Limit: 1 << 40}.Open(b.Context(), nil)
	require.NoError(b, err)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	begin := heap()
	for i := range b.N {
		s := item.NewSample(fmt.Sprintf("train/class/%08d.jpg", i))
		s.Set("image", item.Picture(item.Heap.Take(32*32*3), 32, 32, 3))
		s.Set("label", item.Int(1))
		tr.Cache.Keep(int64(i), []*item.Sample{s})
		s.Release()
	}
	b.ReportMetric(float64(heap()-begin-tr.Cache.Held())/float64(b.N), "B/entry")
	runtime.KeepAlive(tr)
}

func ExampleMemory() {
	p := graph.New("kept", graph.Epochs(2))
	kept := graph.Via(graph.From(p, "read", numbers{10}), "keep", cache.Memory{Limit: 1 << 20})
	out := graph.Output(kept, "out")
	run, err := p.Start(context.Background())
	if err != nil {
		panic(err)
	}
	for _, err := range out.All(run) {
		if err != nil {
			panic(err)
		}
	}
	if err := run.Wait(); err != nil {
		panic(err)
	}
	for _, e := range run.Snapshot().Epochs {
		fmt.Println("epoch", e.Epoch, "read", e.ItemsIn["read"], "hits", e.Caches[0].Hits)
	}
	// Output:
	// epoch 0 read 10 hits 0
	// epoch 1 read 0 hits 10
}
