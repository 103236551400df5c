package graph_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// shape is a pipeline whose stages take given times for an item of theirs.
type shape struct {
	name    string
	workers int
	items   int
	stages  map[string]int // its stages, and how many of their items make one of the sink's
	step    time.Duration
	build   func(p *graph.Pipeline, d map[string]time.Duration, w graph.Option, n int) graph.Port[[]int]
}

func nap(id string, d map[string]time.Duration) graph.Stage[int, int] { return sleeper[int](d[id]) }

func reads(p *graph.Pipeline, id string, n int, d map[string]time.Duration, w graph.Option) graph.Port[int] {
	return graph.From(p, id, source[int]{int64(n), func(_ *graph.Call, i int64) (int, error) {
		time.Sleep(d[id])
		return int(i), nil
	}}, w)
}

var shapes = []shape{
	{name: "chain", items: 400, step: 4 * ms, stages: map[string]int{"read": 8, "a": 8, "b": 8, "batch": 1},
		build: func(p *graph.Pipeline, d map[string]time.Duration, w graph.Option, n int) graph.Port[[]int] {
			port := graph.Via(graph.Via(reads(p, "read", n, d, w), "a", nap("a", d), w), "b", nap("b", d), w)
			return graph.Via(graph.Via(port, "group", graph.Collect[int](8), w), "batch", sleeper[[]int](d["batch"]), w)
		}},
	{name: "merge", items: 200, step: 4 * ms, stages: map[string]int{"left": 4, "right": 4, "a": 4, "batch": 1},
		build: func(p *graph.Pipeline, d map[string]time.Duration, w graph.Option, n int) graph.Port[[]int] {
			left := graph.Via(reads(p, "left", n, d, w), "a", nap("a", d), w)
			port := graph.Merge(p, "merge", []graph.Port[int]{left, reads(p, "right", n, d, w)})
			return graph.Via(graph.Via(port, "group", graph.Collect[int](8), w), "batch", sleeper[[]int](d["batch"]), w)
		}},
	{name: "filter", items: 4000, step: 4 * ms, stages: map[string]int{"read": 80, "a": 80, "filter": 80, "b": 8},
		build: func(p *graph.Pipeline, d map[string]time.Duration, w graph.Option, n int) graph.Port[[]int] {
			port := graph.Via(graph.Via(reads(p, "read", n, d, w), "a", nap("a", d), w), "filter", graph.Filter(func(i int) (bool, error) {
				time.Sleep(d["filter"])
				return i%10 == 3, nil
			}), w)
			return graph.Via(graph.Via(port, "b", nap("b", d), w), "group", graph.Collect[int](8), w)
		}},
	{name: "flat-map", items: 100, step: 4 * ms, stages: map[string]int{"read": 2, "fan": 2, "b": 10},
		build: func(p *graph.Pipeline, d map[string]time.Duration, w graph.Option, n int) graph.Port[[]int] {
			port := graph.Via(reads(p, "read", n, d, w), "fan", graph.FlatMap(func(i int, emit func(int)) error {
				time.Sleep(d["fan"])
				for k := range 5 {
					emit(5*i + k)
				}
				return nil
			}), w)
			return graph.Via(graph.Via(port, "b", nap("b", d), w), "group", graph.Collect[int](10), w)
		}},
	{name: "groups of one", items: 100, step: 4 * ms, stages: map[string]int{"read": 1, "a": 1, "batch": 1},
		build: func(p *graph.Pipeline, d map[string]time.Duration, w graph.Option, n int) graph.Port[[]int] {
			port := graph.Via(reads(p, "read", n, d, w), "a", nap("a", d), w)
			return graph.Via(graph.Via(port, "group", graph.Collect[int](1), w), "batch", sleeper[[]int](d["batch"]), w)
		}},
}

func (c shape) run(t *testing.T, d map[string]time.Duration) graph.Snapshot {
	p := graph.New("shape", graph.Epochs(2), graph.NoFuse())
	out := graph.Output(c.build(p, d, graph.Workers(c.workers), c.items), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for _, err := range out.All(run) {
		require.NoError(t, err)
		time.Sleep(c.step)
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	timesAddUp(t, s)
	return s
}

// Whatever the shape, the slow stage is blamed for the steady wait, and making it instant saves what was blamed.
func TestBlameFindsTheSlowStageInAnyShape(t *testing.T) {
	for _, c := range shapes {
		for _, workers := range []int{1, 3} {
			c.workers = workers
			for slow, per := range c.stages {
				t.Run(fmt.Sprintf("%s/workers=%d/%s", c.name, workers, slow), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						d := map[string]time.Duration{}
						for id, n := range c.stages { // each could make one of the sink's items in 2 ms
							d[id] = 2 * ms * time.Duration(workers) / time.Duration(n)
						}
						d[slow] = 20 * ms * time.Duration(workers) / time.Duration(per)
						s := c.run(t, d)
						was := blamed(s, slow, "", graph.PhaseSteady)
						require.GreaterOrEqual(t, float64(was), 0.9*float64(s.Sink.Steady), "of %v, blame %v", s.Sink.Steady, s.Blame)
						require.LessOrEqual(t, float64(blamed(s, "", graph.CauseUnattributed)), 0.01*float64(s.Sink.Wait))
						d[slow] = 0
						saved := s.Sink.Wait - c.run(t, d).Sink.Wait
						require.InDelta(t, float64(blamed(s, slow, "")), float64(saved), 0.1*float64(saved), "saved %v of %v, blame %v", saved, s.Sink.Wait, s.Blame)
					})
				})
			}
		}
	}
}

// The oldest item is slow and its siblings have run into the window: the window is blamed, and a wider one saves that.
func TestBlameOnTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(window int) graph.Snapshot {
			p := graph.New("w", graph.NoFuse())
			src := graph.From(p, "read", ints(800), graph.Workers(1))
			jit := graph.Via(src, "jitter", graph.Map(func(i int) (int, error) {
				if i%40 == 7 {
					time.Sleep(200 * ms)
				} else {
					time.Sleep(4 * ms)
				}
				return i, nil
			}), graph.Workers(4), graph.Window(window), graph.Buffer(400))
			out := graph.Output(jit, "out")
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			for _, err := range out.All(run) {
				require.NoError(t, err)
				time.Sleep(3 * ms)
			}
			require.NoError(t, run.Wait())
			s := run.Snapshot()
			timesAddUp(t, s)
			return s
		}
		narrow, wide := run(4), run(400)
		was := blamed(narrow, "jitter", graph.CauseWindow)
		saved := narrow.Sink.Wait - wide.Sink.Wait
		require.Greater(t, was, narrow.Sink.Wait/2)
		require.InDelta(t, float64(was), float64(saved), 0.15*float64(saved), "saved %v of %v, blame %v", saved, narrow.Sink.Wait, narrow.Blame)
	})
}

// A straggler that comes again is no latency which all items share, though the last time the sink waited it was for one
// just as slow.
func TestBlameOnAStragglerThatComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(slow time.Duration) graph.Snapshot {
			p := graph.New("again", graph.NoFuse())
			in := reads(p, "read", 400, map[string]time.Duration{"read": ms}, graph.Workers(1))
			in = graph.Via(in, "decode", graph.Map(func(i int) (int, error) {
				if i%100 == 17 {
					time.Sleep(slow)
				}
				time.Sleep(2 * ms)
				return i, nil
			}), graph.Workers(4), graph.Window(8))
			in = graph.Via(in, "crop", sleeper[int](ms/5), graph.Workers(1))
			out := graph.Output(graph.Via(in, "group", graph.Collect[int](8), graph.Workers(1)), "out")
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			for _, err := range out.All(run) {
				require.NoError(t, err)
				time.Sleep(20 * ms)
			}
			require.NoError(t, run.Wait())
			return run.Snapshot()
		}
		before, after := run(300*ms), run(0)
		saved := before.Sink.Wait - after.Sink.Wait
		require.InDelta(t, float64(saved), float64(blamed(before, "decode", "", graph.PhaseSteady)), 0.1*float64(saved), "saved %v, blame %v", saved, before.Blame)
	})
}
