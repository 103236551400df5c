package graph_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// piece is an item of a size.
type piece int64

func (p piece) Bytes() int64 { return int64(p) }

// pieces is a source of them.
func pieces(n, size int64, took time.Duration) source[piece] {
	return source[piece]{n, func(*graph.Call, int64) (piece, error) {
		time.Sleep(took)
		return piece(size), nil
	}}
}

// becomes is a stage whose outputs have a size.
func becomes(size int64, took time.Duration) graph.Stage[piece, piece] {
	return graph.Map(func(piece) (piece, error) {
		time.Sleep(took)
		return piece(size), nil
	})
}

// packs makes batches of pieces, in slabs.
type packs struct{ size, bytes int }

func (c packs) Open(_ context.Context, env *graph.Env) (graph.Transform[piece, *item.Batch], error) {
	return graph.Transform[piece, *item.Batch]{Group: &graph.Group[piece, *item.Batch]{
		Size: c.size,
		Slab: func() (*item.Batch, error) {
			slab, err := env.Slab(c.size * c.bytes)
			return &item.Batch{Slab: slab}, err
		},
		Row:  func(*graph.Call, *item.Batch, int, piece) error { return nil },
		Fill: func(*item.Batch, int, int) {},
		Done: func(out *item.Batch, _ int, number int64, meta []item.Row, free func()) *item.Batch {
			out.Number, out.Rows = number, append(out.Rows[:0], meta...)
			out.OnRelease(free)
			return out
		},
	}}, nil
}

func same(took time.Duration) graph.Stage[*item.Batch, *item.Batch] {
	return graph.Map(func(b *item.Batch) (*item.Batch, error) {
		time.Sleep(took)
		return b, nil
	})
}

// memories are pipelines whose memory lies in different places. Each gives its slowest stage.
var memories = map[string]func(p *graph.Pipeline) (slow string, run func(*testing.T) graph.Snapshot){
	"the consumer is slow": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(4000, 1000, ms), graph.Workers(4), graph.Buffer(8))
		in = graph.Via(in, "grow", becomes(3000, ms), graph.Workers(3), graph.Buffer(20))
		return "out", consumed(p, in, 10*ms)
	},
	"a stage is slow": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(4000, 1000, ms), graph.Workers(4), graph.Buffer(64))
		in = graph.Via(in, "grow", becomes(3000, 8*ms), graph.Workers(2), graph.Buffer(64), graph.Waits())
		in = graph.Via(in, "trim", becomes(500, ms), graph.Workers(2), graph.Buffer(64))
		return "grow", consumed(p, in, ms)
	},
	"large buffers, as they finish": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(9000, 500, ms), graph.Workers(4), graph.Buffer(1000), graph.Order(graph.CompletionOrder))
		in = graph.Via(in, "grow", becomes(1900, ms), graph.Workers(4), graph.Buffer(500), graph.Window(200))
		return "out", consumed(p, in, 5*ms)
	},
	"rows, in slices": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(200000, 100, 10*time.Microsecond), graph.Workers(2))
		in = graph.Via(in, "more", becomes(300, 10*time.Microsecond), graph.Workers(2))
		return "out", consumed(p, in, ms)
	},
	"batches in slabs": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(4000, 4000, ms), graph.Workers(4), graph.Buffer(8), graph.Window(16)) // an auto window grows later
		b := graph.Via(in, "collate", packs{8, 1 << 20}, graph.Workers(2), graph.Buffer(3))
		b = graph.Via(b, "mend", same(ms), graph.Workers(2), graph.Buffer(2))
		return "out", consumed(p, b, 60*ms)
	},
	"batches in slabs, starved": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(4000, 4000, ms), graph.Workers(2), graph.Buffer(80))
		in = graph.Via(in, "grow", becomes(4000, 10*ms), graph.Workers(1), graph.Buffer(8))
		b := graph.Via(in, "collate", packs{8, 1 << 20}, graph.Workers(1), graph.Buffer(3))
		return "grow", consumed(p, b, 10*ms)
	},
	"lists": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(9000, 1000, ms), graph.Workers(2), graph.Buffer(8))
		return "out", consumed(p, graph.Via(in, "lists", graph.Collect[piece](50), graph.Workers(1), graph.Buffer(4)), 200*ms)
	},
	"two sources": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		a := graph.From(p, "small", pieces(4000, 100, ms), graph.Workers(2), graph.Buffer(100))
		b := graph.From(p, "large", pieces(4000, 5000, ms), graph.Workers(2), graph.Buffer(10))
		return "out", consumed(p, graph.Merge(p, "both", []graph.Port[piece]{a, b}, graph.Buffer(50)), 5*ms)
	},
	"a budget": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		p.With(graph.WithBudget(graph.Budget{Memory: 100_000}))
		in := graph.From(p, "read", pieces(4000, 1000, ms), graph.Workers(4), graph.Buffer(800))
		return "out", consumed(p, in, 5*ms)
	},
	"some are left out": func(p *graph.Pipeline) (string, func(*testing.T) graph.Snapshot) {
		in := graph.From(p, "read", pieces(9000, 1000, ms), graph.Workers(2), graph.Buffer(30))
		n := 0
		in = graph.Via(in, "filter", graph.Filter(func(piece) (bool, error) { n++; return n%3 == 0, nil }), graph.Workers(1), graph.Buffer(60))
		return "out", consumed(p, in, 9*ms)
	},
}

// consumed takes everything, each for a time.
func consumed[T any](p *graph.Pipeline, in graph.Port[T], step time.Duration) func(t *testing.T) graph.Snapshot {
	out := graph.Output(in, "out")
	return func(t *testing.T) graph.Snapshot {
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(step)
		}
		require.NoError(t, run.Wait())
		return run.Snapshot()
	}
}

// An auto window may grow after the estimate: what is held then is within what was said to be held with every queue full.
func TestAWindowThatGrowsLaterHoldsNoMoreThanWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("memory", graph.EstimateMemory(func(graph.MemoryEstimate) {}))
		in := graph.From(p, "read", pieces(4000, 4000, ms), graph.Workers(4), graph.Buffer(8))
		b := graph.Via(in, "collate", packs{8, 1 << 20}, graph.Workers(2), graph.Buffer(3))
		b = graph.Via(b, "mend", same(ms), graph.Workers(2), graph.Buffer(2))
		m := consumed(p, b, 60*ms)(t).Memory
		require.NotNil(t, m.Estimated)
		full := m.Estimated.Full - m.Estimated.Slabs
		assert.LessOrEqual(t, float64(m.InFlightPeak), 1.2*float64(full), "%+v\n%+v", m, *m.Estimated)
	})
}

// What is estimated at the beginning is what is then held, within 20 %.
func TestMemoryIsEstimated(t *testing.T) {
	for name, declare := range memories {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				p := graph.New("memory", graph.EstimateMemory(func(e graph.MemoryEstimate) {
					told++
					assert.Positive(t, e.Total())
				}))
				slow, run := declare(p)
				s := run(t)
				m := s.Memory
				require.NotNil(t, m.Estimated)
				assert.Equal(t, 1, told)
				assert.Equal(t, slow, m.Estimated.Slowest)
				assert.Equal(t, m.Estimated.Total(), *m.Estimate)
				assert.GreaterOrEqual(t, m.Estimated.Full, m.Estimated.Total())
				assert.Less(t, m.Estimated.At, s.Totals.Elapsed/4)
				assert.InEpsilon(t, m.InFlightPeak, m.Estimated.InFlight, 0.2, "%+v\n%+v", m, *m.Estimated)
				if m.SlabsPeak > 0 || m.Estimated.Slabs > 0 {
					assert.InEpsilon(t, m.SlabsPeak, m.Estimated.Slabs, 0.2, "%+v\n%+v", m, *m.Estimated)
				}
			})
		})
	}
}
