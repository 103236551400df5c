package graph_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

func waitForEver(release chan struct{}) { <-release }

func TestWatchdogTellsWhereARunIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var told []string
		p := graph.New("stuck", graph.Watchdog(time.Minute, func(text string) {
			if told = append(told, text); len(told) == 2 {
				close(release)
			}
		}))
		src := graph.From(p, "src", ints(30), graph.Workers(2))
		mid := graph.Via(src, "mid", graph.Map(func(v int) (int, error) {
			if v == 9 {
				waitForEver(release)
			}
			return v, nil
		}), graph.Workers(2), graph.Buffer(2))
		out := graph.Output(mid, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			n++
		}
		require.NoError(t, run.Wait())
		require.Equal(t, 30, n)
		require.Len(t, told, 2, "it tells again while nothing moves")
		require.Contains(t, told[0], `pipeline "stuck": nothing has moved for 1m`)
		require.Contains(t, told[0], `the oldest item is #9 in stage "mid"`)
		require.Contains(t, told[0], `stage "out": 0 workers busy, 1 wait for input`)
		require.Contains(t, told[0], "graph_test.waitForEver", "the stack of the worker")
	})
}

func TestWatchdogIsQuietWhileTheConsumerIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("busy", graph.Watchdog(time.Minute, func(text string) { t.Error(text) }))
		out := graph.Output(graph.Via(graph.From(p, "src", ints(5)), "mid", sleeper[int](30*time.Second)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for range out.All(run) {
			time.Sleep(time.Hour)
		}
		require.NoError(t, run.Wait())
	})
}

// stuckSplits never gives record 2 of split 1.
type stuckSplits struct{ release chan struct{} }

func (s stuckSplits) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Splits: 3, Interleave: 2, Read: func(_ *graph.Call, split int, from int64, emit func(int) error) error {
		for i := range 4 {
			if split == 1 && i == 2 {
				waitForEver(s.release)
			}
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func TestWatchdogNamesTheRecordOfASourceThatIsReadForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var told []string
		p := graph.New("stuck", graph.Watchdog(time.Minute, func(text string) {
			told = append(told, text)
			close(release)
		}))
		out := graph.Output(graph.From(p, "src", stuckSplits{release}, graph.Workers(2)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			n++
		}
		require.NoError(t, run.Wait())
		require.Equal(t, 12, n)
		require.Len(t, told, 1)
		require.Contains(t, told[0], `stage "src": 1 workers busy, 1 wait for input`)
		require.Contains(t, told[0], `the oldest item is epoch 0, split 1, record 1 in stage "src"`, "the first of those not handed over")
		require.Contains(t, told[0], "graph_test.waitForEver", "the stack of the lane")
		timesAddUp(t, run.Snapshot())
	})
}
