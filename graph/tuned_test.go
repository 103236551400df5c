package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// fidget moves settings at random, at any moment.
type fidget struct {
	r     *rand.Rand
	may   graph.Tunable
	moved int
}

func (f *fidget) Next(graph.Snapshot) (m graph.Move, ok bool, again time.Duration) {
	again = []time.Duration{0, time.Microsecond, 70 * time.Microsecond, ms, 4 * ms}[f.r.IntN(5)]
	if len(f.may.Knobs) == 0 {
		return m, false, time.Second
	}
	k := f.may.Knobs[f.r.IntN(len(f.may.Knobs))]
	f.moved++
	return graph.Move{Stage: k.Stage, Key: k.Key, To: []int{0, 1, 1, 2, 3, 5, 9, 40}[f.r.IntN(8)]}, true, again
}

func (f *fidget) Decisions() []graph.Decision { return nil }

// Settings that move while the pipeline runs change nothing of what comes out, nor of the error that it ends with.
func TestRandomGraphsDeliverTheSameWhileTheirSettingsMove(t *testing.T) {
	from, n := networks(t, 30)
	for seed := from; seed < from+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := makeNetwork(seed)
			sync := g.run(t, &knobs{sync: true}, nil)
			want, werr := g.model()
			r := rand.New(rand.NewPCG(seed, 500))
			k := &knobs{r: r, fidget: true}
			if r.IntN(2) == 0 {
				k.budget, k.scarce = 5000+r.Int64N(20000), r.IntN(2) == 0
			}
			o := g.run(t, k, nil)
			g.same(t, want, werr, o, "moving against the model")
			require.Equal(t, sync.key, o.key)
			require.Equal(t, sync.snap.Digest, o.snap.Digest)
			if len(want) == 0 {
				return
			}
			at, cancels := 1+r.IntN(len(want)), r.IntN(2) == 0
			o = g.run(t, &knobs{r: r, fidget: true}, func(n int, _ *graph.Run, cancel func()) bool {
				if n == at && cancels {
					cancel()
				}
				return n == at && !cancels
			})
			require.LessOrEqual(t, len(o.ids), at)
			for i := range o.ids {
				require.Equal(t, want[i].id, o.ids[i], "broken off at %d: item %d", at, i)
			}
		})
	}
}

// script moves one setting after the other, each at its time.
type script struct {
	moves []graph.Move
	every time.Duration
	seen  []graph.Snapshot
}

func (s *script) Next(snap graph.Snapshot) (m graph.Move, ok bool, again time.Duration) {
	if s.seen = append(s.seen, snap); len(s.seen) == 1 || len(s.seen)-2 >= len(s.moves) {
		return m, false, s.every
	}
	return s.moves[len(s.seen)-2], true, s.every
}

func (s *script) Decisions() []graph.Decision {
	return []graph.Decision{{Move: graph.Move{Stage: "map", Key: "workers", To: len(s.seen)}}}
}

func TestWorkersComeAndGoWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{every: time.Second}
		for _, n := range []int{1, 8, 2, 8, 40, 1} {
			s.moves = append(s.moves, graph.Move{Stage: "map", Key: "workers", To: n})
		}
		var opened, closed atomic.Int64
		p := graph.New("p", graph.KeepTimeline(), graph.Tuned(func(graph.Tunable) graph.Tuner { return s }))
		src := graph.From(p, "src", ints(100_000), graph.Workers(1))
		work := apart{func() (graph.Transform[int, int], error) {
			opened.Add(1)
			return graph.Transform[int, int]{Map: func(_ *graph.Call, v int) (int, error) { time.Sleep(10 * ms); return v, nil },
				Close: func() error { closed.Add(1); return nil }}, nil
		}}
		out := graph.Output(graph.Via(src, "map", work, graph.Waits()), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		want, began := 0, time.Now()
		for v, err := range out.All(run) {
			require.NoError(t, err)
			require.Equal(t, want, v)
			if want++; time.Since(began) > 8*time.Second {
				break
			}
		}
		require.NoError(t, run.Wait())
		for i, n := range []int{1, 8, 2, 8, 40, 1} {
			before := s.seen[i+1].Stages[1].Workers // what they had made lies in the queue
			got := s.seen[i+2].Totals.Samples - s.seen[i+1].Totals.Samples
			require.InDelta(t, 100*n, got, 20+float64(4*n+3*before), "second %d with %d workers", i+1, n)
			require.Equal(t, n, s.seen[i+2].Stages[1].Workers)
		}
		snap := run.Snapshot()
		timesAddUp(t, snap)
		require.InDelta(t, 16+1+8+2+8+40+1+1, snap.Stages[1].Lifetime.Seconds(), 1, "only workers that are wanted count")
		require.Equal(t, []int64{40, 40}, []int64{opened.Load(), closed.Load()}, "a worker opens what it has once")
		require.NotEmpty(t, snap.Decisions)
		busy := time.Duration(0)
		for _, d := range snap.Timeline.Stages[1].Busy {
			busy += d
		}
		require.Equal(t, snap.Stages[1].Busy, busy)
	})
}

// apart opens each worker apart.
type apart struct {
	open func() (graph.Transform[int, int], error)
}

func (apart) Kind() string { return "opening" }

func (o apart) Open(context.Context, *graph.Env) (graph.Transform[int, int], error) {
	return graph.Transform[int, int]{NewWorker: func(context.Context) (graph.Transform[int, int], error) { return o.open() }}, nil
}

func TestAWorkerThatCannotBeOpenedLaterIsDoneWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		s := &script{every: time.Second, moves: []graph.Move{{Stage: "map", Key: "workers", To: 100}, {Stage: "map", Key: "workers", To: 200}}}
		p := graph.New("p", graph.Tuned(func(graph.Tunable) graph.Tuner { return s }))
		limited := apart{func() (graph.Transform[int, int], error) {
			if opened.Add(1) > 30 {
				return graph.Transform[int, int]{}, errBad
			}
			return graph.Transform[int, int]{Map: func(_ *graph.Call, v int) (int, error) { time.Sleep(10 * ms); return v, nil }}, nil
		}}
		out := graph.Output(graph.Via(graph.From(p, "src", ints(20_000), graph.Workers(1)), "map", limited, graph.Waits()), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for v, err := range out.All(run) {
			require.NoError(t, err)
			require.Equal(t, n, v)
			n++
		}
		require.NoError(t, run.Wait())
		require.Equal(t, 20_000, n)
		snap := run.Snapshot()
		require.LessOrEqual(t, snap.Stages[1].Workers, 30)
		require.GreaterOrEqual(t, snap.Stages[1].Workers, 16)
		require.Contains(t, fmt.Sprint(snap.Warnings), `: another one could not be opened: `)
	})
}

func TestWhatTheUserSetIsNotMoved(t *testing.T) {
	var may graph.Tunable
	p := graph.New("p", graph.WithBudget(graph.Budget{CPU: 1, Memory: 1 << 20}), graph.Tuned(func(m graph.Tunable) graph.Tuner { may = m; return nil }))
	port := graph.From(p, "src", ints(10), graph.Workers(3), graph.Buffer(2))
	port = graph.Via(port, "map", sleeper[int](0), graph.Waits())
	lists := graph.Via(port, "lists", graph.Collect[int](2), graph.Workers(2))
	port = graph.Via(lists, "flat", graph.FlatMap(func(l []int, emit func(int)) error { return nil }), graph.Window(5), graph.Waits())
	out := graph.Output(port, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
	}
	require.NoError(t, run.Wait())
	var names []string
	for _, k := range may.Knobs {
		names = append(names, k.Stage+"."+k.Key)
	}
	require.Equal(t, []string{"src.window", "map.workers", "map.buffer", "map.window", "flat.workers"}, names, "queues of batches have their slabs")
	require.EqualValues(t, 1<<20, may.Memory)
	require.Positive(t, may.Cores)
	p.With(graph.Sync())
	may = graph.Tunable{}
	run, err = p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
	}
	require.NoError(t, run.Wait())
	require.Empty(t, may.Knobs, "one goroutine has nothing to tune")
}

func TestIterablesGiveTheSameWhileTheirWorkersMove(t *testing.T) {
	src := splits{records: []int{50, 1, 80, 20, 90, 33, 7, 60, 41, 2}, interleave: 6, badSplit: -1}
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			p := graph.New("p", graph.Tuned(func(may graph.Tunable) graph.Tuner { return &fidget{r: r, may: may} }))
			port := graph.Via(graph.From(p, "src", src), "map", sleeper[int](ms), graph.Waits())
			out := graph.Output(port, "out")
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			var got []int
			for v, err := range out.All(run) {
				require.NoError(t, err)
				got = append(got, v)
			}
			require.NoError(t, run.Wait())
			require.Equal(t, src.inTurn(), got)
		})
	}
}

// A tuner that breaks down leaves the run alone.
func TestATunerThatPanicsIsDoneWithout(t *testing.T) {
	p := graph.New("p", graph.Tuned(func(graph.Tunable) graph.Tuner { return broken{} }))
	out := graph.Output(graph.Via(graph.From(p, "src", ints(100)), "map", sleeper[int](ms)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for range out.All(run) {
		n++
	}
	require.NoError(t, run.Wait())
	require.Equal(t, 100, n)
	require.Contains(t, fmt.Sprint(run.Snapshot().Warnings), "the tuner gave up")
}

type broken struct{}

func (broken) Next(graph.Snapshot) (graph.Move, bool, time.Duration) { panic("no idea") }
func (broken) Decisions() []graph.Decision                           { return nil }
