package graph_test

import (
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
