package graph_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// ranksInAnyOrder starts one rank of a job and gives its state after some batches.
func ranksInAnyOrder(t *testing.T, batches int, opts ...graph.PipelineOption) (st graph.State, places []int64, err error) {
	var no error
	p := graph.New("ranks", append([]graph.PipelineOption{graph.Seed(4), graph.Epochs(2)}, opts...)...)
	any := graph.Order(graph.CompletionOrder)
	src := slow("slow", graph.From(p, "read", samples{24, "a"}.source(), graph.Workers(2)), 1, graph.Workers(4), any)
	out := graph.Output(graph.Via(src, "group", rowsOf{2}, graph.Workers(2)), "out")
	run, err := p.Start(t.Context())
	if err != nil {
		return st, nil, err
	}
	for b, err := range out.All(run) {
		require.NoError(t, err)
		for _, r := range b.Rows {
			places = append(places, r.Pos.Epoch*100+r.Pos.Place)
		}
		if batches--; batches == 0 {
			st, no = run.State()
			break
		}
	}
	return st, places, errors.Join(no, run.Wait())
}

func TestInexactStateIsOfOneRankUntilTheEpochEnds(t *testing.T) {
	job := func(batches int, opts ...graph.PipelineOption) (st graph.State, places []int64, err error) {
		synctest.Test(t, func(t *testing.T) { st, places, err = ranksInAnyOrder(t, batches, opts...) })
		return st, places, err
	}
	_, _, err := job(1, graph.Rank(0, 2))
	require.ErrorContains(t, err, "the stage \"slow\" has order: completion, so each of the 2 ranks would go on from a place of its own")
	require.ErrorContains(t, err, "set steps_per_epoch, or order: input")

	steps := graph.StepsPerEpoch(6)
	st, head, err := job(3, graph.Rank(1, 2), steps)
	require.NoError(t, err)
	_, tail, err := job(0, graph.Rank(1, 2), steps, graph.Resume(st, false))
	require.NoError(t, err)
	require.Len(t, tail, 2*(3+6), "the epoch still ends at its step")
	for _, p := range tail {
		require.False(t, p < st.Sources[0].Place, "place %d comes again: %+v", p, st)
		require.EqualValues(t, 1, p%2, "of the rank's own places")
	}
	slices.Sort(head)
	for i := int64(1); i < st.Sources[0].Place; i += 2 {
		require.Contains(t, head, i, "%+v", st)
	}
	_, _, err = job(0, graph.Rank(0, 2), steps, graph.Resume(st, false))
	require.ErrorIs(t, err, graph.ErrState)
	require.ErrorContains(t, err, "rank 1 of 2 in the middle of an epoch, this is rank 0 of 2")
	st, _, err = job(6, graph.Rank(1, 2), steps)
	require.NoError(t, err)
	_, tail, err = job(0, graph.Rank(0, 3), steps, graph.Resume(st, false))
	require.NoError(t, err, "at the end of an epoch")
	require.Len(t, tail, 12)

	st, _, err = job(12)
	require.NoError(t, err)
	require.EqualValues(t, 24, st.Sources[0].Place)
	_, tail, err = job(0, graph.Rank(1, 2), graph.Resume(st, false))
	require.NoError(t, err, "one rank had all of the epoch")
	require.Len(t, tail, 12)
	require.EqualValues(t, 101, slices.Min(tail))
	st, _, err = job(11)
	require.NoError(t, err)
	_, _, err = job(0, graph.Rank(1, 2), graph.Resume(st, false))
	require.ErrorIs(t, err, graph.ErrState)
}

func TestWhatHasNoLowWaterMarkSaysWhy(t *testing.T) {
	p := graph.New("mix")
	a, b := graph.From(p, "a", ints(3)), graph.From(p, "b", ints(3), graph.Workers(2), graph.Order(graph.CompletionOrder))
	out := graph.Output(graph.Mix(p, "ab", []graph.Port[int]{a, b}, graph.Mixing{}), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	_, err = run.State()
	require.ErrorContains(t, err, `the stage "b" has order: completion, and an epoch of the mix "ab" ends where an input does (stop: first)`)
	require.ErrorContains(t, err, "set stop: all, or order: input")
	for range out.All(run) {
	}
	require.NoError(t, run.Wait())
}
