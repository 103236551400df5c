package graph_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// failing runs 200 items through a stage that fails for those for which bad is true, and gives what was delivered.
func failing(t *testing.T, workers int, stage graph.Stage[int, int], opts ...graph.Option) ([]int, *graph.Run, error) {
	p := graph.New("policy")
	src := graph.From(p, "src", ints(200), graph.Workers(workers))
	mid := graph.Via(src, "mid", stage, append(opts, graph.Workers(workers))...)
	out := graph.Output(graph.Via(mid, "tail", graph.Map(func(v int) (int, error) { return v, nil }), graph.Workers(workers)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var got []int
	for v, err := range out.All(run) {
		if err == nil {
			got = append(got, v)
		}
	}
	err = run.Wait()
	require.Empty(t, run.Snapshot().Totals.Unbalanced)
	return got, run, err
}

func badEvery(n int) graph.Stage[int, int] {
	return graph.Map(func(v int) (int, error) {
		if v%n == n-1 {
			return 0, fmt.Errorf("item %d: %w", v, errBad)
		}
		return v, nil
	})
}

func TestSkipsBeyondACountEndTheRunAtTheSameItem(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for range 5 {
			got, run, err := failing(t, workers, badEvery(10), graph.OnError(graph.Skip), graph.MaxSkips(2, 0))
			var se *graph.StageError
			require.ErrorAs(t, err, &se)
			require.ErrorIs(t, err, errBad)
			require.Equal(t, "mid", se.Stage)
			require.Equal(t, "#29", se.Key)
			require.ErrorContains(t, err, "3 items skipped, max_count is 2")
			require.Len(t, got, 27)
			require.GreaterOrEqual(t, len(run.Skips()), 3)
		}
	}
}

func TestSkipsBeyondARateEndTheRunAfterAProbation(t *testing.T) {
	got, _, err := failing(t, 4, badEvery(5), graph.OnError(graph.Skip), graph.MaxSkips(0, 0.1))
	require.ErrorContains(t, err, "max_rate is 0.1")
	require.Len(t, got, 80, "the hundredth item is the first one looked at")
	_, _, err = failing(t, 4, badEvery(5), graph.OnError(graph.Skip), graph.MaxSkips(0, 0.2))
	require.NoError(t, err)
}

func TestEachSkipIsTold(t *testing.T) {
	var keys []string
	p := graph.New("policy", graph.OnSkip(func(n graph.SkipNote) { keys = append(keys, n.String()) }))
	src := graph.From(p, "src", ints(20), graph.Workers(3))
	out := graph.Output(graph.Via(src, "mid", badEvery(10), graph.Workers(3), graph.OnError(graph.Skip)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
	}
	require.NoError(t, run.Wait())
	require.ElementsMatch(t, []string{`stage "mid": #9: item 9: bad`, `stage "mid": #19: item 19: bad`}, keys)
}

// flaky fails n times for each item, with a temporary error.
func flaky(n int) (graph.Stage[int, int], *[200]atomic.Int64) {
	var calls [200]atomic.Int64
	return graph.Map(func(v int) (int, error) {
		if calls[v].Add(1) <= int64(n) {
			return 0, graph.Temporary(errBad)
		}
		return v, nil
	}), &calls
}

func TestTemporaryErrorsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stage, calls := flaky(2)
		start := time.Now()
		got, run, err := failing(t, 4, stage, graph.Retry(3, 10*ms))
		require.NoError(t, err)
		require.Len(t, got, 200)
		require.Equal(t, int64(3), calls[5].Load())
		require.Equal(t, int64(400), run.Snapshot().Stages[1].Retried)
		took := time.Since(start) / 50 // four workers
		require.GreaterOrEqual(t, took, 15*ms)
		require.LessOrEqual(t, took, 30*ms)

		stage, _ = flaky(3)
		_, _, err = failing(t, 4, stage, graph.Retry(3, 10*ms))
		require.ErrorIs(t, err, errBad)

		_, run, err = failing(t, 4, badEvery(10), graph.Retry(3, 10*ms))
		require.ErrorIs(t, err, errBad)
		require.Zero(t, run.Snapshot().Stages[1].Retried, "only what may pass is tried again")
	})
}

func TestCallThatObeysItsContextTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stage := graph.MapCall(func(c *graph.Call, v int) (int, error) {
			d := ms
			if v == 9 {
				d = time.Hour
			}
			select {
			case <-time.After(d):
				return v, nil
			case <-c.Context().Done():
				return 0, c.Context().Err()
			}
		})
		start := time.Now()
		_, _, err := failing(t, 2, stage, graph.Timeout(500*ms))
		require.ErrorIs(t, err, graph.ErrTimeout)
		require.ErrorContains(t, err, `stage "mid": #9: timed out after 500ms (attempt 1)`)
		require.Less(t, time.Since(start), time.Second)

		got, run, err := failing(t, 2, stage, graph.Timeout(500*ms), graph.OnError(graph.Skip))
		require.NoError(t, err)
		require.Len(t, got, 199)
		require.Zero(t, run.Snapshot().Stages[1].Abandoned)
		require.Equal(t, int64(1), run.Snapshot().Stages[1].Overdue)
	})
}

func TestCallThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := func(ids ...int) graph.Stage[*tracked, *tracked] {
			return graph.Map(func(v *tracked) (*tracked, error) {
				for _, id := range ids {
					if v.id == id {
						<-release
					}
				}
				return v, nil
			})
		}
		var live atomic.Int64
		try := func(policy graph.Policy, ids ...int) (int, graph.Snapshot, error) {
			p := graph.New("stuck", graph.WithBudget(graph.Budget{Memory: 10_000}))
			src := graph.From(p, "src", trackedSource{30, &live, nil}, graph.Workers(2))
			out := graph.Output(graph.Via(src, "mid", stuck(ids...), graph.Workers(2), graph.Timeout(500*ms), graph.OnError(policy)), "out")
			start := time.Now()
			run, err := p.Start(context.Background())
			require.NoError(t, err)
			n := 0
			for _, err := range out.All(run) {
				if err == nil {
					n++
				}
			}
			err = run.Wait()
			require.Less(t, time.Since(start), 5*time.Second)
			return n, run.Snapshot(), err
		}
		n, s, err := try(graph.Fail, 9)
		require.ErrorIs(t, err, graph.ErrTimeout)
		require.ErrorContains(t, err, "item-9")
		require.Equal(t, 9, n)
		require.Equal(t, int64(1), s.Stages[1].Abandoned)
		require.Equal(t, int64(1), s.Stages[1].Overdue)
		require.Contains(t, s.Warnings[0], "item-9 ignored its context")

		n, s, err = try(graph.Skip, 9)
		require.NoError(t, err)
		require.Equal(t, 29, n)
		require.Empty(t, s.Totals.Unbalanced)

		_, _, err = try(graph.Skip, 3, 4, 5)
		require.ErrorContains(t, err, "3 calls were left behind, more than the stage has workers (2)")
		close(release)
		synctest.Wait()
		require.Zero(t, live.Load(), "what was left behind gives its item back when it returns after all")
	})
}

// A run that is broken off while reads are under way has not failed: what they were at counts as under way.
func TestItemsUnderWayAtTheEndHaveNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("cut", graph.Batches(3))
		src := graph.From(p, "read", source[int]{100, func(c *graph.Call, i int64) (int, error) {
			select {
			case <-time.After(10 * ms):
				return int(i), nil
			case <-c.Context().Done():
				return 0, context.Cause(c.Context())
			}
		}}, graph.Workers(4))
		out := graph.Output(src, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
		}
		require.NoError(t, run.Wait())
		s := run.Snapshot()
		require.Zero(t, s.Totals.Failed)
		require.NotZero(t, s.Stages[0].InFlight)
		require.Empty(t, s.Totals.Unbalanced)
	})
}
