package sources_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
)

// keysOf is what one rank reads in an epoch.
func keysOf(t *testing.T, sampler graph.Sampling, n int64, opts ...graph.PipelineOption) (keys []int64) {
	p := graph.New("ranks", append(opts, graph.Seed(3))...)
	out := graph.Output(graph.From(p, "read", sources.Range{Count: n}, graph.Sampler(sampler), graph.Workers(2)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for s, err := range out.All(run) {
		require.NoError(t, err)
		keys = append(keys, number(s))
	}
	require.NoError(t, run.Wait())
	return keys
}

func number(s *item.Sample) int64 {
	_, v := s.Field(0)
	return v.Int()
}

// The ranks' parts of a sampler's order, taken in turn, are the order of one process.
func TestRanksCutTheOrderOfEverySampler(t *testing.T) {
	label := sources.Labels(func(i int64) int64 { return i % 3 })
	for name, s := range map[string]graph.Sampling{
		"sequential": sources.Sequential{}, "shuffled": sources.Shuffled{}, "subset": sources.Subset{Skip: 3, Take: 37, Shuffled: true},
		"replacement": sources.Replacement{Count: 55}, "class_balanced": sources.ClassBalanced{Batch: 12, Label: label},
	} {
		one := keysOf(t, s, 48)
		for _, world := range []int{1, 2, 3, 4, 7} {
			t.Run(fmt.Sprintf("%s/world=%d", name, world), func(t *testing.T) {
				parts := make([][]int64, world)
				for r := range parts {
					parts[r] = keysOf(t, s, 48, graph.Rank(r, world), graph.Uneven(graph.Keep))
				}
				var all []int64
				for i := range one {
					all = append(all, parts[i%world][i/world])
				}
				require.Equal(t, one, all)
			})
		}
	}
}

// A batch of all ranks together has equal parts of all classes.
func TestClassesAreBalancedOverTheRanksTogether(t *testing.T) {
	const world, size = 4, 3
	s := sources.ClassBalanced{Batch: world * size, Label: func(i int64) int64 { return i % 3 }}
	counts := make([]map[int64]int, 4)
	for r := range world {
		for i, k := range keysOf(t, s, 48, graph.Rank(r, world)) {
			if counts[i/size] == nil {
				counts[i/size] = map[int64]int{}
			}
			counts[i/size][k%3]++
		}
	}
	for _, c := range counts {
		require.Equal(t, map[int64]int{0: 4, 1: 4, 2: 4}, c)
	}
}
