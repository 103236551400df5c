package graph_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// sleeper is a stage whose service time is d.
func sleeper[T any](d time.Duration) graph.Stage[T, T] {
	return graph.Map(func(v T) (T, error) { time.Sleep(d); return v, nil })
}

// timesAddUp checks what holds exactly in virtual time: the states of the workers add up to their lifetimes, the blame
// to the sink's wait, and the counts of items balance.
func timesAddUp(t *testing.T, s graph.Snapshot) {
	t.Helper()
	for _, st := range s.Stages {
		require.Equal(t, st.Lifetime, st.WaitIn+st.Busy+st.WaitOut, "states of stage %q", st.ID)
	}
	var blamed time.Duration
	for _, b := range s.Blame {
		blamed += b.Time
	}
	require.Equal(t, s.Sink.Wait, blamed, "blame %v", s.Blame)
	require.Empty(t, s.Totals.Unbalanced)
}

func TestSinkWaitsExactlyWhatTheSlowStageLacks(t *testing.T) {
	for _, c := range []struct {
		service    time.Duration
		workers    int
		wait, busy time.Duration
	}{
		{25 * time.Millisecond, 1, 25 * time.Millisecond, 300 * time.Millisecond},
		{35 * time.Millisecond, 1, (35 + 9*5) * time.Millisecond, 300 * time.Millisecond},
		{25 * time.Millisecond, 4, 25 * time.Millisecond, 300 * time.Millisecond},
		{35 * time.Millisecond, 4, 35 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%v by %d workers", c.service, c.workers), func(t *testing.T) {
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					p := graph.New("v")
					src := graph.From(p, "src", ints(10), graph.Workers(1))
					out := graph.Output(graph.Via(src, "slow", sleeper[int](c.service), graph.Workers(c.workers), graph.Buffer(4)), "out")
					run, err := p.Start(t.Context())
					require.NoError(t, err)
					for _, err := range out.All(run) {
						require.NoError(t, err)
						time.Sleep(30 * time.Millisecond)
					}
					require.NoError(t, run.Wait())
					s := run.Snapshot()
					timesAddUp(t, s)
					require.Equal(t, c.wait, s.Sink.Wait)
					require.Equal(t, c.busy, s.Sink.Busy)
					require.Equal(t, 10*c.service, s.Stages[1].Busy)
					require.Equal(t, c.wait, blamed(s, "slow", graph.CauseService))
				})
			}
		})
	}
}

// blamed sums the blame on a stage for a cause in all phases; "" is any.
func blamed(s graph.Snapshot, stage, cause string, phase ...string) (sum time.Duration) {
	for _, b := range s.Blame {
		if (stage == "" || b.Stage == stage) && (cause == "" || b.Cause == cause) && (len(phase) == 0 || b.Phase == phase[0]) {
			sum += b.Time
		}
	}
	return sum
}

// planted is a pipeline of a source, two stages, a group of 8 and a stage on groups, with these service times; those
// of the last are for a group.
type planted struct {
	read, first, second, batch, step time.Duration
	workers, items, epochs           int
	slow                             func(i int) time.Duration // of first, instead
}

func (c planted) run(t *testing.T, opts ...graph.PipelineOption) (s graph.Snapshot) {
	p := graph.New("planted", append(opts, graph.Epochs(c.epochs))...)
	w := graph.Workers(c.workers)
	src := graph.From(p, "read", source[int]{int64(c.items), func(_ *graph.Call, i int64) (int, error) {
		time.Sleep(c.read)
		return int(i), nil
	}}, w)
	first := sleeper[int](c.first)
	if c.slow != nil {
		first = graph.Map(func(i int) (int, error) { time.Sleep(c.slow(i)); return i, nil })
	}
	a := graph.Via(src, "first", first, w)
	b := graph.Via(a, "second", sleeper[int](c.second), w)
	g := graph.Via(b, "group", graph.Collect[int](8), w, graph.Buffer(1))
	d := graph.Via(g, "batch", sleeper[[]int](c.batch), w, graph.Buffer(1))
	out := graph.Output(d, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for _, err := range out.All(run) {
		require.NoError(t, err)
		time.Sleep(c.step)
	}
	require.NoError(t, run.Wait())
	s = run.Snapshot()
	timesAddUp(t, s)
	return s
}

// source is a map-style source of a function.
type source[T any] struct {
	n  int64
	at func(*graph.Call, int64) (T, error)
}

func (s source[T]) Open(context.Context, *graph.Env) (graph.Reader[T], error) {
	return graph.Reader[T]{Len: s.n, At: s.at}, nil
}

const ms = time.Millisecond

func TestPlantedBottleneckCarriesTheSteadyWait(t *testing.T) {
	for _, slow := range []string{"read", "first", "second", "batch"} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s/workers=%d", slow, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := planted{read: ms, first: ms, second: ms, batch: 8 * ms, step: 5 * ms, workers: workers, items: 64, epochs: 3}
					d := time.Duration(workers) * 10 * ms
					switch slow {
					case "read":
						c.read = d
					case "first":
						c.first = d
					case "second":
						c.second = d
					case "batch":
						c.batch = 8 * d
					}
					s := c.run(t)
					share := float64(blamed(s, slow, "", graph.PhaseSteady)) / float64(s.Sink.Steady)
					require.GreaterOrEqual(t, share, 0.9, "blame %v", s.Blame)
				})
			})
		}
	}
}

func TestJitterBehindAGoodMeanIsTheWindowsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := planted{step: 12 * ms, workers: 4, items: 400, epochs: 2, slow: func(i int) time.Duration {
			if i%40 == 7 {
				return 200 * ms
			}
			return ms
		}}
		s := c.run(t)
		require.GreaterOrEqual(t, float64(blamed(s, "first", "", graph.PhaseSteady)), 0.9*float64(s.Sink.Steady), "blame %v", s.Blame)
		require.NotZero(t, s.Sink.Steady)
	})
}

func TestAcceleratorBoundPipelineDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := planted{read: ms, first: ms, second: ms, batch: 8 * ms, step: 50 * ms, workers: 1, items: 64, epochs: 3}.run(t)
		require.NotNil(t, s.Sink.WaitRatio)
		require.Less(t, *s.Sink.WaitRatio, 0.05)
	})
}

// What is blamed on a stage is what making it instant saves, or more, where the next slowest then limits.
func TestBlameAgreesWithTheCounterfactual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := planted{read: 10 * ms, first: 4 * ms, second: 0, batch: 20 * ms, step: 5 * ms, workers: 1, items: 160, epochs: 1}
		all := base.run(t)
		for _, stage := range []string{"read", "first", "batch"} {
			c := base
			switch stage {
			case "read":
				c.read = 0
			case "first":
				c.first = 0
			case "batch":
				c.batch = 0
			}
			s := c.run(t)
			saved := all.Sink.Wait - s.Sink.Wait
			was := blamed(all, stage, "")
			t.Logf("%s: blamed %v, saved %v of %v", stage, was, saved, all.Sink.Wait)
			if stage == "read" { // first then limits, with 4 ms an item
				next := time.Duration(160*4)*ms + 20*ms - 20*5*ms
				require.InDelta(t, float64(all.Sink.Wait-was+next), float64(s.Sink.Wait), float64(120*ms))
				continue
			}
			require.InDelta(t, float64(was), float64(saved), float64(40*ms))
		}
	})
}

func TestPositionsAreTheSameForAnyWorkers(t *testing.T) {
	var want map[int]item.Pos
	for _, workers := range []int{1, 3} {
		got := map[int]item.Pos{}
		p := graph.New("pos")
		src := graph.From(p, "src", ints(20), graph.Workers(workers))
		twice := graph.Via(src, "twice", graph.FlatMap(func(v int, emit func(int)) error { emit(2 * v); emit(2*v + 1); return nil }), graph.Workers(workers))
		type at struct {
			v   int
			pos item.Pos
		}
		seen := graph.Via(twice, "seen", graph.MapCall(func(c *graph.Call, v int) (at, error) { return at{v, c.Pos()}, nil }), graph.Workers(workers))
		out := graph.Output(seen, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for v, err := range out.All(run) {
			require.NoError(t, err)
			got[v.v] = v.pos
		}
		require.NoError(t, run.Wait())
		require.Equal(t, "epoch 0, place 3, output 1", got[7].String())
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
}
