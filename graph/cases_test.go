package graph_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// A straggler, item 0, takes a second: in order the rest waits for it, out of order it does not.
func TestStragglerHoldsBackOnlyWhatMustBeInOrder(t *testing.T) {
	for _, at := range []string{"source", "stage"} {
		for _, by := range []graph.OrderBy{graph.InputOrder, graph.CompletionOrder} {
			t.Run(fmt.Sprint(at, " ", by), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := &ledger{}
					slow := func(where string, i uint64) {
						if at == where && i == 0 {
							time.Sleep(time.Second)
						} else {
							time.Sleep(10 * ms)
						}
					}
					o := []graph.Option{graph.Workers(4), graph.Order(by)}
					p := graph.New("straggler", graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: 1 << 20}))
					src := graph.From(p, "src", source[*token]{32, func(_ *graph.Call, i int64) (*token, error) {
						slow("source", uint64(i))
						return newToken(l, uint64(i)), nil
					}}, o...)
					out := graph.Output(graph.Via(src, "work", graph.Map(func(v *token) (*token, error) { slow("stage", v.id); return v, nil }), o...), "out")
					start := time.Now()
					run, err := p.Start(t.Context())
					require.NoError(t, err)
					for e := range out.Epochs(run) {
						seen := map[uint64]bool{}
						for v, err := range e.All() {
							require.NoError(t, err)
							if e.Number == 0 && len(seen) == 0 {
								first := time.Since(start)
								if by == graph.CompletionOrder {
									require.Less(t, first, 200*ms)
								} else {
									require.GreaterOrEqual(t, first, time.Second)
								}
							}
							if by == graph.InputOrder {
								require.Equal(t, uint64(len(seen)), v.id)
							}
							require.False(t, seen[v.id])
							seen[v.id] = true
						}
						require.Len(t, seen, 32, "epochs do not mix")
					}
					require.NoError(t, run.Wait())
					timesAddUp(t, run.Snapshot())
				})
			})
		}
	}
}

// Random numbers depend on the item and the epoch, and on nothing else.
func TestRandomNumbersAreTheItemsOwn(t *testing.T) {
	table := func(seed uint64, workers int) (all []uint64) {
		p := graph.New("random", graph.Seed(seed), graph.Epochs(3))
		src := graph.From(p, "src", ints(64), graph.Workers(workers))
		out := graph.Output(graph.Via(src, "draw", graph.MapCall(func(c *graph.Call, _ int) (uint64, error) { return c.Rand().Uint64(), nil }), graph.Workers(workers)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for v, err := range out.All(run) {
			require.NoError(t, err)
			all = append(all, v)
		}
		require.NoError(t, run.Wait())
		return all
	}
	one := table(7, 1)
	different := map[uint64]bool{}
	for _, v := range one {
		different[v] = true
	}
	require.Len(t, different, 192)
	for _, w := range []int{1, 4, 16} {
		require.Equal(t, one, table(7, w))
	}
	require.NotEqual(t, one, table(8, 1))
}

// Batches of children of one item have random numbers of their own.
func TestBatchesOfOneItemsChildrenDifferInTheirRandomNumbers(t *testing.T) {
	p := graph.New("children")
	fan := graph.Via(graph.From(p, "src", ints(3), graph.Workers(1)), "fan", graph.FlatMap(func(v int, emit func(int)) error {
		for i := range 8 {
			emit(i)
		}
		return nil
	}))
	group := graph.Via(fan, "group", graph.Collect[int](2))
	out := graph.Output(graph.Via(group, "draw", graph.MapCall(func(c *graph.Call, _ []int) (uint64, error) { return c.Rand().Uint64(), nil })), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	seen := map[uint64]bool{}
	for v := range out.All(run) {
		seen[v] = true
	}
	require.NoError(t, run.Wait())
	require.Len(t, seen, 12)
}

// Groups of an epoch: 1000 items in 128s drop 104, whatever the workers; sizes of one, of the epoch and beyond.
func TestGroupSizes(t *testing.T) {
	for _, c := range []struct{ items, size, full, last int }{
		{1000, 128, 7, 104}, {7, 1, 7, 0}, {7, 7, 1, 0}, {7, 8, 0, 7}, {7, 3, 2, 1}, {1, 1, 1, 0}, {1, 5, 0, 1},
	} {
		for _, workers := range []int{1, 4, 10} {
			for _, drop := range []bool{false, true} {
				l := &ledger{}
				s := &step{op: "bags", id: "bags", n: c.size, drop: drop}
				p := graph.New("sizes", graph.Epochs(3))
				src := graph.From(p, "src", tokenSource{&step{id: "src", n: c.items}, l}, graph.Workers(workers))
				out := graph.Output(graph.Via(src, "bags", graph.Stage[*token, *bag](withWorkers[*token, *bag]{s, l, s.group()}), graph.Workers(workers)), "out")
				run, err := p.Start(t.Context())
				require.NoError(t, err)
				for e := range out.Epochs(run) {
					var sizes []int
					for b := range e.All() {
						sizes = append(sizes, b.n)
					}
					var want []int
					for range c.full {
						want = append(want, c.size)
					}
					if c.last > 0 && !drop {
						want = append(want, c.last)
					}
					require.Equal(t, want, sizes)
				}
				require.NoError(t, run.Wait())
				snap := run.Snapshot()
				require.Empty(t, snap.Totals.Unbalanced)
				if drop {
					require.Equal(t, int64(3*c.last), snap.Totals.Dropped)
				}
				require.Zero(t, l.items.Load())
			}
		}
	}
}

// A stage's own error type comes out whole, with where and which, once; afterwards everything still works.
func TestErrorsAreTold(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, sync := range []bool{false, true} {
		p := graph.New("told")
		if sync {
			p.With(graph.Sync())
		}
		src := graph.From(p, "src", ints(100), graph.Workers(3))
		out := graph.Output(graph.Via(src, "work", graph.Map(func(v int) (int, error) {
			if v >= 13 {
				return 0, &own{v}
			}
			return v, nil
		}), graph.Workers(3)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		told := 0
		for range 3 { // asking again is harmless
			for _, err := range out.All(run) {
				if err != nil {
					told++
				}
			}
		}
		require.Equal(t, 1, told)
		err = run.Wait()
		require.Equal(t, err, run.Wait())
		var o *own
		require.True(t, errors.As(err, &o))
		require.Equal(t, 13, o.v)
		require.Equal(t, `pipeline "told", stage "work": #13: own 13`, err.Error())
	}
	noMoreGoroutines(t, before)
}

type own struct{ v int }

func (o *own) Error() string { return fmt.Sprint("own ", o.v) }

func TestEmptySourceIsRefusedByName(t *testing.T) {
	p := graph.New("empty")
	graph.Into(graph.From(p, "src", ints(0)), "sink", counting{})
	_, err := p.Start(t.Context())
	require.ErrorIs(t, err, graph.ErrEmpty)
	require.ErrorContains(t, err, `"src"`)
}

// Busy times are counted once, whatever the workers, and wall time shrinks with them.
func TestTimesAreCountedOnce(t *testing.T) {
	var wall []time.Duration
	for _, workers := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			w := graph.Workers(workers)
			p := graph.New("times")
			port := graph.From(p, "src", ints(100), graph.Workers(1))
			for i, d := range []time.Duration{10 * ms, 20 * ms, 5 * ms} {
				port = graph.Via(port, fmt.Sprint("s", i), sleeper[int](d), w)
			}
			graph.Into(port, "sink", counting{})
			start := time.Now()
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			require.NoError(t, run.Wait())
			wall = append(wall, time.Since(start))
			s := run.Snapshot()
			timesAddUp(t, s)
			for i, want := range []time.Duration{time.Second, 2 * time.Second, 500 * ms} {
				require.Equal(t, want, s.Stages[i+1].Busy)
				require.Equal(t, "item", s.Stages[i+1].Resolution)
			}
		})
	}
	require.Less(t, wall[1], wall[0]/3)
}

// Reports at odd moments hold no nonsense.
func TestSnapshotsAtOddMoments(t *testing.T) {
	check := func(s graph.Snapshot) {
		for _, st := range s.Stages {
			require.GreaterOrEqual(t, st.WaitIn, time.Duration(0))
			require.GreaterOrEqual(t, st.Busy, time.Duration(0))
			if st.Capacity != nil {
				require.False(t, *st.Capacity != *st.Capacity || *st.Capacity > 1e18)
			}
		}
		if s.Sink.WaitRatio != nil {
			require.True(t, *s.Sink.WaitRatio >= 0 && *s.Sink.WaitRatio <= 1)
		}
	}
	p := graph.New("odd")
	out := graph.Output(graph.From(p, "src", ints(10), graph.Workers(1)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	check(run.Snapshot())
	for range out.All(run) {
		check(run.Snapshot())
		break
	}
	require.NoError(t, run.Wait())
	check(run.Snapshot())
	require.Equal(t, int64(1), run.Snapshot().Totals.Samples)
}

// Epochs without end leave nothing growing: goroutines, open files, memory.
func TestManyEpochsOfASmallSetStayFlat(t *testing.T) {
	l := &ledger{}
	p := graph.New("soak", graph.Epochs(200))
	s := &step{op: "bags", id: "bags", n: 8}
	src := graph.From(p, "src", tokenSource{&step{id: "src", n: 40}, l}, graph.Workers(3))
	bags := graph.Via(src, "bags", graph.Stage[*token, *bag](withWorkers[*token, *bag]{s, l, s.group()}), graph.Workers(2))
	out := graph.Output(bags, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var goroutines, files int
	var heap uint64
	for e := range out.Epochs(run) {
		n := 0
		for range e.All() {
			n++
		}
		require.Equal(t, 5, n)
		if e.Number == 20 || e.Number == 199 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			g, f := runtime.NumGoroutine(), openFiles()
			if e.Number == 20 {
				goroutines, files, heap = g, f, m.HeapAlloc
				continue
			}
			require.LessOrEqual(t, g, goroutines)
			require.LessOrEqual(t, f, files)
			require.LessOrEqual(t, m.HeapAlloc, heap+400<<10)
		}
	}
	require.NoError(t, run.Wait())
	require.Len(t, run.Snapshot().Epochs, 200)
}

func openFiles() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(d)
}

// A stage may give its input up and make a new item: the slow one is named by what came out, for the input is gone, and
// by its place where nothing came out.
func TestSlowItemsAreNamedByWhatCameOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("slowest")
		src := graph.From(p, "src", samples{4, "in"}.source(), graph.Workers(1))
		made := graph.Via(src, "made", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			n := s.Get("n").Int()
			s.Release()
			time.Sleep(time.Duration(n+1) * ms)
			return item.NewSample(fmt.Sprintf("out%d", n)), nil
		}), graph.Workers(1))
		kept := graph.Via(made, "kept", graph.Filter(func(*item.Sample) (bool, error) { time.Sleep(ms); return false, nil }), graph.Workers(1))
		out := graph.Output(kept, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for range out.All(run) {
		}
		require.NoError(t, run.Wait())
		s := run.Snapshot()
		require.Equal(t, "out3", s.Stages[1].Slowest[0].Key)
		require.Equal(t, 4*ms, s.Stages[1].Slowest[0].Time)
		require.Contains(t, []string{"#0", "#1", "#2", "#3"}, s.Stages[2].Slowest[0].Key)
	})
}

func TestBatchesEndsARunWithAnOutput(t *testing.T) {
	p := graph.New("limit", graph.Batches(3))
	out := graph.Output(graph.From(p, "src", ints(10)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for range out.All(run) {
		n++
	}
	require.NoError(t, run.Wait())
	require.Equal(t, 3, n)
}
