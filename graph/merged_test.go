package graph_test

import (
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Merges above stages that leave items out or make several of one.
func init() {
	three := func(p *graph.Pipeline, w graph.Option) (a, b, c graph.Port[*item.Sample]) {
		return graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3})), graph.From(p, "b", samples{4, "b"}.source(), w),
			graph.From(p, "c", samples{7, "c"}.source(), w, graph.Sampler(rotated{1}))
	}
	some := func(id string, in graph.Port[*item.Sample], w graph.Option, not int64) graph.Port[*item.Sample] {
		return graph.Via(in, id, graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%3 != not, nil }), w)
	}
	more := func(id string, in graph.Port[*item.Sample], w graph.Option) graph.Port[*item.Sample] {
		return graph.Via(in, id, graph.FlatMap(copies(func(n int64) int64 { return (n + 1) % 4 })), w)
	}
	cuts["merge_filter"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a, b, c := three(p, w)
		return some("some", graph.Merge(p, "abc", []graph.Port[*item.Sample]{a, b, c}), w, 1)
	}
	cuts["merge_flat"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { // flat-maps on both sides
		a, b, c := three(p, w)
		return more("most", graph.Merge(p, "abc", []graph.Port[*item.Sample]{more("more", a, w), b, c}), w)
	}
	cuts["merge_nested"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { // something dropped between two
		a, b, c := three(p, w)
		ab := graph.Merge(p, "ab", []graph.Port[*item.Sample]{a, some("odd", b, w, 2)})
		return some("some", graph.Merge(p, "abc", []graph.Port[*item.Sample]{c, some("few", ab, w, 0)}), w, 1)
	}
	cuts["merge_skip"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a, b, c := three(p, w)
		return graph.Via(graph.Merge(p, "abc", []graph.Port[*item.Sample]{a, b, c}), "bad", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			if s.Get("n").Int()%3 == 2 {
				return nil, errBad
			}
			return s, nil
		}), w, graph.OnError(graph.Skip))
	}
	cuts["merge_skips"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { // above
		a, b, c := three(p, w)
		bad := graph.Via(c, "bad", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			if s.Get("n").Int()%3 == 2 {
				return nil, errBad
			}
			return s, nil
		}), w, graph.OnError(graph.Skip))
		return graph.Merge(p, "abc", []graph.Port[*item.Sample]{a, b, bad})
	}
	cuts["merge_mix"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a, b, c := three(p, w)
		ab := graph.Merge(p, "ab", []graph.Port[*item.Sample]{a, b})
		return some("some", graph.Mix(p, "abc", []graph.Port[*item.Sample]{ab, c}, graph.Mixing{Weights: []float64{2, 1}}), w, 1)
	}
	cuts["merge_block"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a, b, c := three(p, w)
		abc := graph.Merge(p, "abc", []graph.Port[*item.Sample]{a, some("odd", b, w, 2), c})
		return some("some", graph.Via(abc, "block", graph.Stage[*item.Sample, *item.Sample](swapped{5})), w, 1)
	}
}
