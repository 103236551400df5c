package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Cases that were reported against other programs, and that no other test holds as they were reported.

// One split of 12 samples for 4 ranks with 3 workers each: every rank gets 3, or nothing starts.
func TestOneSplitForManyRanksGivesEachItsShare(t *testing.T) {
	var jobs []job
	for rank := range 4 {
		j := ranked(t, forward(records{of: []int{12}}), 1, 3, 0, graph.Epochs(1), graph.Rank(rank, 4), graph.StepsPerEpoch(3))
		require.Len(t, j.rows, 3)
		require.Len(t, real(j.rows), 3)
		jobs = append(jobs, j)
	}
	all := merged(jobs)
	noneTwice(t, all)
	require.Len(t, real(all), 12)

	p := graph.New("without_steps", graph.Rank(0, 4))
	graph.Output(graph.From(p, "read", records{of: []int{12}}, graph.Workers(3)), "out")
	_, err := p.Start(t.Context())
	require.ErrorContains(t, err, "steps_per_epoch")
}

// 21 samples on 2 ranks: the one that is repeated to make them equal is marked and counted, and each is there once.
func TestWhatIsRepeatedToMakeRanksEqualIsMarkedAndCounted(t *testing.T) {
	build := func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", samples{21, "a"}.source(), w, graph.Sampler(rotated{5}))
	}
	var jobs []job
	var padded, counted int64
	for rank := range 2 {
		j := ranked(t, build, 4, 3, 0, graph.Epochs(1), graph.Rank(rank, 2))
		jobs, padded, counted = append(jobs, j), padded+j.snap.Totals.Padded, counted+j.snap.Totals.Samples
	}
	all := merged(jobs)
	require.Len(t, all, 22)
	once := real(all)
	slices.Sort(once)
	require.Len(t, slices.Compact(once), 21)
	require.EqualValues(t, 1, padded)
	require.EqualValues(t, 21, counted)
}

// Uneven shards: together the ranks deliver each record once, whatever their number and that of their workers; what one
// rank gets does not depend on its workers.
func TestUnevenShardsComeOnceForAnyWorldAndWorkers(t *testing.T) {
	for _, c := range []struct {
		of     []int
		worlds []int
	}{
		{[]int{1, 40, 3, 20, 7, 29, 1}, []int{1, 2, 3, 5}},
		{[]int{1, 5, 94, 1}, []int{1, 4}},
	} {
		for _, world := range c.worlds {
			var first []row
			for _, workers := range []int{0, 1, 2, 3, 4, 8} { // 0 is auto
				var jobs []job
				for rank := range world {
					jobs = append(jobs, ranked(t, forward(records{of: c.of}), 1, workers, 0, graph.Epochs(1), graph.Rank(rank, world), graph.StepsPerEpoch(101)))
				}
				all := merged(jobs)
				noneTwice(t, all)
				keys := real(all)
				slices.Sort(keys)
				require.Len(t, slices.Compact(keys), 101, "%v, world %d, workers %d", c.of, world, workers)
				require.Len(t, keys, 101)
				if first == nil {
					first = jobs[0].rows
				}
				require.Equal(t, first, jobs[0].rows, "world %d, workers %d", world, workers)
			}
		}
	}
}

// 101 samples, left after 40 by two ranks of two workers: one process with eight workers delivers the other 61.
func TestALoneProcessGoesOnWhereTwoRanksLeftOff(t *testing.T) {
	build := func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", samples{101, "a"}.source(), w, graph.Sampler(rotated{5}))
	}
	one := real(ranked(t, build, 4, 1, 0, graph.Epochs(1)).rows)
	var head []job
	for rank := range 2 {
		head = append(head, ranked(t, build, 4, 2, 5, graph.Epochs(1), graph.Rank(rank, 2)))
	}
	require.Equal(t, one[:40], real(merged(head)))
	for _, h := range head {
		tail := ranked(t, build, 4, 8, 0, graph.Epochs(1), graph.Resume(reread(t, h.state), false))
		require.Equal(t, one[40:], real(tail.rows))
	}
}

// The state counts what the loop received, not what was read ahead of it.
func TestTheStateCountsWhatWasReceivedHoweverFarItIsReadAhead(t *testing.T) {
	start := func(buffer int, opts ...graph.PipelineOption) (*graph.Run, *graph.Out[*item.Batch]) {
		p := graph.New("ahead", opts...)
		o := []graph.Option{graph.Workers(3)}
		if buffer > 0 {
			o = append(o, graph.Buffer(buffer))
		}
		src := graph.From(p, "read", samples{300, "a"}.source(), o...)
		out := graph.Output(graph.Via(src, "group", rowsOf{3}, o...), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		return run, out
	}
	for _, buffer := range []int{0, 1, 8, 64} {
		run, out := start(buffer)
		var st graph.State
		n := 0
		for _, err := range out.All(run) {
			require.NoError(t, err)
			if n++; n == 2 {
				st, err = run.State()
				require.NoError(t, err)
				break
			}
		}
		require.NoError(t, run.Wait())
		run, out = start(buffer, graph.Resume(reread(t, st), false))
		for b, err := range out.All(run) {
			require.NoError(t, err)
			require.Equal(t, []string{"a6", "a7", "a8"}, []string{b.Rows[0].Key, b.Rows[1].Key, b.Rows[2].Key}, "buffer %d", buffer)
			break
		}
		require.NoError(t, run.Wait())
	}
}

// A state that comes after the start is for the next run: the one under way keeps telling its own place.
func TestAStateThatComesAfterTheStartIsForTheNextRun(t *testing.T) {
	p := graph.New("late")
	out := graph.Output(graph.From(p, "read", samples{20, "a"}.source(), graph.Workers(2)), "out")
	runs := func(stop int, at func(run *graph.Run, n int)) (keys []string) {
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for s, err := range out.All(run) {
			require.NoError(t, err)
			keys = append(keys, s.Key())
			at(run, len(keys))
			if len(keys) == stop {
				break
			}
		}
		require.NoError(t, run.Wait())
		return keys
	}
	place := func(run *graph.Run) int64 {
		st, err := run.State()
		require.NoError(t, err)
		return st.Sources[0].Place
	}
	var st graph.State
	runs(12, func(run *graph.Run, n int) {
		var err error
		st, err = run.State()
		require.NoError(t, err)
	})
	keys := runs(5, func(run *graph.Run, n int) {
		if n == 1 {
			p.With(graph.Resume(st, false))
		}
		require.EqualValues(t, n, place(run))
	})
	require.Equal(t, []string{"a0", "a1", "a2", "a3", "a4"}, keys)
	keys = runs(0, func(run *graph.Run, n int) { require.EqualValues(t, 12+n, place(run)) })
	require.Len(t, keys, 8)
	require.Equal(t, "a12", keys[0])
}

// A run that was broken off with a half-filled cache leaves nothing in the way of the next.
func TestACacheOfABrokenOffRunLeavesNothingInTheWay(t *testing.T) {
	l := &ledger{}
	p := graph.New("broken_off", graph.Epochs(2))
	src := graph.From(p, "read", graph.Source[*token](&sized{n: 20, l: l}), graph.Workers(3))
	kept := graph.Via(src, "keep", graph.Stage[*token, *token](&memo[*token]{limit: 1 << 30, copy: (*token).Share, l: l}))
	out := graph.Output(kept, "out")
	for _, stop := range []int{7, 27, 0, 0} {
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for v, err := range out.All(run) {
			require.NoError(t, err)
			require.Equal(t, uint64(n%20)*900, v.use())
			if n++; n == stop {
				break
			}
		}
		require.NoError(t, run.Wait())
		require.Zero(t, l.items.Load())
		require.Zero(t, l.opened.Load())
		if s := run.Snapshot(); stop == 0 {
			require.Equal(t, 40, n)
			require.Equal(t, graph.CacheEpoch{ID: "keep", Hits: 20}, s.Epochs[1].Caches[0], fmt.Sprint(s.Epochs))
		}
	}
}

// An epoch of more steps than there are records goes through all of them before it repeats any, and is resumed on both
// sides of that edge.
func TestAPassOfAnIterableEndsBeforeTheNextBegins(t *testing.T) {
	build := forward(records{of: []int{1, 40, 0, 20, 7, 33}, width: 3})
	opts := []graph.PipelineOption{graph.Epochs(2), graph.StepsPerEpoch(250)}
	want := ranked(t, build, 1, 1, 0, opts...).rows
	require.Len(t, want, 500)
	for pass, rows := range [][]row{want[:101], want[101:202], want[202:250], want[250:351]} {
		seen := map[string]bool{}
		for _, r := range rows {
			require.False(t, seen[r.key], "%s twice in part %d", r.key, pass)
			seen[r.key] = true
			require.Equal(t, pass == 1 || pass == 2, r.padding)
		}
	}
	for _, cut := range []int{60, 95, 100, 101, 102, 140, 201, 202, 203, 249, 250, 251, 360} {
		j := ranked(t, build, 1, 8, cut, opts...)
		rest := ranked(t, build, 1, 2, 0, append(opts, graph.Resume(reread(t, j.state), false))...).rows
		require.Len(t, rest, 500-cut)
		for i, r := range rest {
			require.Equal(t, want[cut+i].pos, r.pos, "cut at %d, row %d", cut, i)
			require.Equal(t, want[cut+i].key, r.key)
		}
	}
}
