package graph_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/graph"
)

// BenchmarkHandOver is the engine's cost: a source, three trivial maps over integers and the sink's loop, in order.
// ns/item/stage divides by the four stages before the sink. The reference loop beside it does the same work in one
// goroutine; untimed leaves the clocks out.
func BenchmarkHandOver(b *testing.B) {
	inc := func(v int) (int, error) { return v + 1, nil }
	b.Run("reference_loop", func(b *testing.B) {
		src, _ := ints(b.N).Open(context.Background(), nil)
		fs := []func(int) (int, error){inc, inc, inc}
		sum := 0
		for i := range b.N {
			v, _ := src.At(nil, int64(i))
			for _, f := range fs {
				v, _ = f(v)
			}
			sum += v
		}
		sinkInt = sum
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4, "ns/item/stage")
	})
	for _, timed := range []bool{true, false} {
		for _, W := range []int{1, 2, 4} {
			name := fmt.Sprintf("workers=%d", W)
			if !timed {
				name += "/untimed"
			}
			b.Run(name, func(b *testing.B) {
				p := graph.New("bench")
				if !timed {
					p.With(graph.Untimed())
				}
				w := graph.Workers(W)
				port := graph.From(p, "src", ints(b.N), w)
				for i := range 3 {
					port = graph.Via(port, fmt.Sprintf("map%d", i), graph.Map(inc), w)
				}
				out := graph.Output(port, "out")
				b.ReportAllocs()
				b.ResetTimer()
				run, err := p.Start(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				sum := 0
				for v, err := range out.All(run) {
					if err != nil {
						b.Fatal(err)
					}
					sum += v
				}
				sinkInt = sum
				if err := run.Wait(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4, "ns/item/stage")
			})
		}
	}
}

var sinkInt int
