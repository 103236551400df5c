package graph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// BenchmarkResume is the time from the start to the first delivery at different places of an epoch of a million items.
func BenchmarkResume(b *testing.B) {
	const n = 1_000_000
	sources := map[string]graph.Source[*item.Sample]{
		"map_style": samples{n, "a"}.source(),
		"iterable":  records{of: []int{n / 4, n / 4, n / 4, n / 4}, width: 4},
	}
	for name, src := range sources {
		for _, share := range []int{1, 50, 99} {
			b.Run(fmt.Sprintf("%s/at=%d%%", name, share), func(b *testing.B) {
				start := func(opts ...graph.PipelineOption) (*graph.Run, *graph.Out[*item.Sample]) {
					p := graph.New("bench", append(opts, graph.NoDigest())...)
					out := graph.Output(graph.From(p, "read", src, graph.Workers(2)), "out")
					run, err := p.Start(b.Context())
					require.NoError(b, err)
					return run, out
				}
				first := func(at int, opts ...graph.PipelineOption) (s graph.State) {
					run, out := start(opts...)
					i := 0
					for range out.All(run) {
						if i++; i == at {
							s, _ = run.State()
							break
						}
					}
					require.NoError(b, run.Wait())
					return s
				}
				state := first(n / 100 * share)
				for b.Loop() {
					first(1, graph.Resume(state, false))
				}
			})
		}
	}
}

// BenchmarkLowWater is what order: completion costs an item, where places are counted for states, beside order: input.
func BenchmarkLowWater(b *testing.B) {
	for _, order := range []graph.OrderBy{graph.InputOrder, graph.CompletionOrder} {
		b.Run(string(order), func(b *testing.B) {
			p := graph.New("bench", graph.NoDigest())
			src := graph.From(p, "read", samples{int64(b.N), "a"}.source(), graph.Workers(2))
			out := graph.Output(graph.Via(src, "pass", graph.Map(func(s *item.Sample) (*item.Sample, error) { return s, nil }), graph.Workers(2), graph.Order(order)), "out")
			run, err := p.Start(b.Context())
			require.NoError(b, err)
			for range out.All(run) {
			}
			require.NoError(b, run.Wait())
		})
	}
}
