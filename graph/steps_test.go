package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// free are pipelines in which a batch is made of any number of items.
var free = map[string]shaped{
	"filter":   cuts["filter"],
	"flat_map": cuts["flat_map"],
	"below a merge": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		all := alike["merge"](p, w)
		return graph.Via(all, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%5 != 3, nil }), w)
	},
	"above a merge": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { return cuts["merge"](p, w) },
}

func TestStepsAreMadeOfHoweverManyItemsTheyTake(t *testing.T) {
	const size = 3
	for name, build := range free {
		for _, world := range []int{1, 2, 3, 7} {
			for _, steps := range []int{1, 7} {
				t.Run(fmt.Sprintf("%s/world=%d/steps=%d", name, world, steps), func(t *testing.T) {
					var jobs []job
					for rank := range world {
						opts := []graph.PipelineOption{graph.Rank(rank, world), graph.StepsPerEpoch(steps)}
						want := ranked(t, build, size, 1, 0, append(opts, graph.Sync())...)
						require.EqualValues(t, steps*rankEpochs, want.steps)
						require.Len(t, want.rows, steps*rankEpochs*size)
						for _, workers := range some(1, 2, 8) {
							j := ranked(t, build, size, workers, 0, opts...)
							require.Equal(t, want.rows, j.rows)
							require.Equal(t, want.snap.Digest, j.snap.Digest)
							require.Equal(t, want.snap.Totals.Dropped, j.snap.Totals.Dropped)
							require.Equal(t, want.snap.Totals.Padded, j.snap.Totals.Padded)
						}
						jobs = append(jobs, want)
					}
					noneTwice(t, merged(jobs))
				})
			}
		}
	}
}

func TestResumedStepsAreTheRestOfTheUnbrokenOnes(t *testing.T) {
	const size, steps = 3, 5
	for name, build := range free {
		if strings.HasPrefix(name, "below") {
			continue // such a pipeline has no state
		}
		for _, world := range some(1, 3, 2) {
			for rank := range world {
				t.Run(fmt.Sprintf("%s/rank=%d of %d", name, rank, world), func(t *testing.T) {
					resumes(t, build, size, []graph.PipelineOption{graph.Rank(rank, world), graph.StepsPerEpoch(steps)})
				})
			}
		}
	}
}

func TestStepsThatCanNeverBeMadeAreAnError(t *testing.T) {
	for _, sync := range []bool{false, true} {
		p := graph.New("none", graph.StepsPerEpoch(3))
		if sync {
			p.With(graph.Sync())
		}
		a, b := graph.From(p, "a", samples{1000, "a"}.source()), graph.From(p, "b", samples{3, "b"}.source())
		m := graph.Merge(p, "m", []graph.Port[*item.Sample]{a, b})
		few := graph.Via(m, "none", graph.Filter(func(s *item.Sample) (bool, error) { return s.Key() == "a999", nil }))
		batches := graph.Via(few, "group", rowsOf{2})
		out := graph.Output(batches, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for _, err := range out.All(run) {
			require.NoError(t, err)
			n++
		}
		require.NoError(t, run.Wait())
		require.Equal(t, 3, n, "one item of each pass is enough")

		p = graph.New("none", graph.StepsPerEpoch(3))
		if sync {
			p.With(graph.Sync())
		}
		none := graph.Via(graph.From(p, "a", samples{1000, "a"}.source()), "none", graph.Filter(func(*item.Sample) (bool, error) { return false, nil }))
		last := graph.Output(graph.Via(none, "group", rowsOf{2}), "out")
		run, err = p.Start(t.Context())
		require.NoError(t, err)
		for range last.All(run) {
		}
		require.ErrorContains(t, run.Wait(), `stage "none"`)
		require.ErrorContains(t, run.Wait(), "the data were gone through without an item passing")
	}
}

func TestStepsCountBatchesSoNoneMayBeLeftOut(t *testing.T) {
	p := graph.New("x", graph.StepsPerEpoch(3))
	batches := graph.Via(graph.From(p, "read", samples{17, "a"}.source()), "group", rowsOf{2})
	graph.Output(graph.Via(batches, "some", graph.Filter(func(*item.Batch) (bool, error) { return true, nil })), "out")
	_, err := p.Start(t.Context())
	require.ErrorContains(t, err, `stage "some"`)
	require.ErrorContains(t, err, "put it before the batches are made")
}

func TestStepsOfSkippedItemsAreMadeUpFor(t *testing.T) {
	for _, world := range []int{1, 2} {
		for rank := range world {
			j := ranked(t, cuts["skip"], 0, 0, 0, graph.StepsPerEpoch(20), graph.Rank(rank, world))
			require.Len(t, j.rows, 20*rankEpochs)
			require.NotZero(t, j.snap.Totals.Skipped)
		}
	}
}

func TestRanksThatMayMakeUnequalStepsNeedTheirNumber(t *testing.T) {
	p := graph.New("x", graph.Rank(0, 2))
	graph.Output(cuts["filter"](p, graph.Workers(1)), "out")
	require.ErrorContains(t, p.Build(), "set steps_per_epoch")
	p.With(graph.StepsPerEpoch(3))
	require.NoError(t, p.Build())

	p = graph.New("x", graph.Rank(0, 2)) // what the declaration does not tell is found at the start
	graph.Output(graph.Via(graph.From(p, "read", samples{17, "a"}.source()), "own", secret{}), "out")
	require.NoError(t, p.Build())
	_, err := p.Start(t.Context())
	require.ErrorContains(t, err, `stage "own"`)
	require.ErrorContains(t, err, "set steps_per_epoch")
}

// secret is a stage that leaves items out and does not say so in its declaration.
type secret struct{}

func (secret) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	return graph.Transform[*item.Sample, *item.Sample]{Choose: func(_ *graph.Call, s *item.Sample) (*item.Sample, bool, error) { return s, true, nil }}, nil
}
