package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// tracked is an item that must be released once.
type tracked struct {
	id   int
	live *atomic.Int64
	gone atomic.Bool
}

func (v *tracked) Key() string  { return fmt.Sprintf("item-%d", v.id) }
func (v *tracked) Bytes() int64 { return 100 }
func (v *tracked) Release() {
	if v.gone.Swap(true) {
		panic("released twice")
	}
	v.live.Add(-1)
}

type trackedSource struct {
	n    int64
	live *atomic.Int64
	trip func() error // nil: nothing goes wrong
}

func (s trackedSource) Open(context.Context, *graph.Env) (graph.Reader[*tracked], error) {
	return graph.Reader[*tracked]{Len: s.n, At: func(_ *graph.Call, i int64) (*tracked, error) {
		if s.trip != nil {
			if err := s.trip(); err != nil {
				return nil, err
			}
		}
		s.live.Add(1)
		return &tracked{id: int(i), live: s.live}, nil
	}}, nil
}

// pairs groups tracked items by two and releases them when the group is.
type pairs struct{ live *atomic.Int64 }

type pair struct {
	rows [2]*tracked
	n    int
	free func()
}

func (p *pair) Release() {
	for i := range p.n {
		p.rows[i].Release()
	}
	p.n = 0
	p.free()
}

func (pairs) Open(context.Context, *graph.Env) (graph.Transform[*tracked, *pair], error) {
	return graph.Transform[*tracked, *pair]{Group: &graph.Group[*tracked, *pair]{
		Size: 2,
		Slab: func() (*pair, error) { return &pair{}, nil },
		Row:  func(_ *graph.Call, out *pair, row int, in *tracked) error { out.rows[row] = in; return nil },
		Fill: func(out *pair, to, from int) {},
		Undo: func(out *pair, row int) { out.rows[row].Release() },
		Done: func(out *pair, n int, _ int64, _ []item.Row, free func()) *pair {
			out.n, out.free = n, free
			return out
		},
	}}, nil
}

var errBad = errors.New("bad")

func TestErrorAtItemEndsTheStreamThere(t *testing.T) {
	for _, workers := range []int{1, 4} {
		for _, at := range []int{0, 1, 17, 499} {
			for _, panics := range []bool{false, true} {
				t.Run(fmt.Sprintf("workers=%d/at=%d/panics=%v", workers, at, panics), func(t *testing.T) {
					p := graph.New("e")
					w := graph.Workers(workers)
					src := graph.From(p, "src", ints(500), w)
					mid := graph.Via(src, "mid", graph.Map(func(v int) (int, error) {
						if v >= at && v%2 == at%2 {
							if panics {
								panic(errBad)
							}
							return 0, errBad
						}
						return v, nil
					}), w)
					out := graph.Output(graph.Via(mid, "tail", graph.Map(func(v int) (int, error) { return v, nil }), w), "out")
					run, err := p.Start(t.Context())
					require.NoError(t, err)
					n := 0
					var last error
					for v, err := range out.All(run) {
						if err != nil {
							last = err
							continue
						}
						require.Equal(t, n, v)
						n++
					}
					err = run.Wait()
					var se *graph.StageError
					require.ErrorAs(t, err, &se)
					require.ErrorIs(t, err, errBad)
					require.Equal(t, err, last)
					require.Equal(t, at, n)
					require.Equal(t, "mid", se.Stage)
					require.Equal(t, fmt.Sprintf("#%d", at), se.Key)
					require.Equal(t, int64(at), se.Pos.Place)
					require.Equal(t, panics, se.Stack != nil)
					require.Empty(t, run.Snapshot().Totals.Unbalanced)
				})
			}
		}
	}
}

// A fault of each sort at call i of each stage, for every i until the run passes untouched.
func TestFaultAtEveryCallOfEveryStage(t *testing.T) {
	for _, stage := range []string{"src", "first", "second", "batch", "sink"} {
		for _, fault := range []string{"error", "panic", "delay", "late", "cancel", "break", "stop"} {
			if stage == "sink" && (fault == "error" || fault == "panic" || fault == "late") {
				continue // the loop is the program's own
			}
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/workers=%d", stage, fault, workers), func(t *testing.T) {
					for i := int64(0); ; i++ {
						if !faultAt(t, stage, fault, workers, i) {
							require.Greater(t, i, int64(3))
							return
						}
					}
				})
			}
		}
	}
}

// faultAt runs a pipeline with one fault and says whether the fault was reached.
func faultAt(t *testing.T, stage, fault string, workers int, at int64) bool {
	var live, calls atomic.Int64
	var hit atomic.Bool
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var run atomic.Pointer[graph.Run]
		trip := func(here string) error {
			if here != stage || calls.Add(1)-1 != at {
				return nil
			}
			hit.Store(true)
			switch fault {
			case "error":
				return errBad
			case "panic":
				panic(errBad)
			case "delay", "late":
				time.Sleep(time.Minute)
			case "cancel":
				cancel(errBad)
			case "stop":
				if r := run.Load(); r != nil {
					r.Stop()
				}
			}
			return nil
		}
		pass := func(id string) graph.Stage[*tracked, *tracked] {
			return graph.Map(func(v *tracked) (*tracked, error) { time.Sleep(ms); return v, trip(id) })
		}
		w := graph.Workers(workers)
		timed := []graph.Option{w}
		if fault == "late" {
			timed = append(timed, graph.Timeout(time.Second))
		}
		p := graph.New("faults", graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: 2000}))
		src := graph.From(p, "src", trackedSource{9, &live, func() error { return trip("src") }}, timed...)
		g := graph.Via(graph.Via(graph.Via(src, "first", pass("first"), timed...), "second", pass("second"), timed...), "pairs", pairs{&live}, w)
		b := graph.Via(g, "batch", graph.Map(func(v *pair) (*pair, error) { return v, trip("batch") }), timed...)
		out := graph.Output(b, "out")
		r, err := p.Start(ctx)
		require.NoError(t, err)
		run.Store(r)
		var seen error
		n := 0
		for v, err := range out.All(r) {
			if err != nil {
				seen = err
				break
			}
			n++
			require.False(t, v.rows[0].gone.Load())
			if stage == "sink" {
				if fault == "break" && calls.Add(1)-1 == at {
					hit.Store(true)
					break
				}
				_ = trip("sink")
			}
		}
		err = r.Wait()
		require.Equal(t, err, r.Wait(), "Wait tells the same again")
		switch {
		case fault == "late" && hit.Load():
			var se *graph.StageError
			require.ErrorAs(t, err, &se)
			require.ErrorIs(t, err, graph.ErrTimeout)
			require.Equal(t, stage, se.Stage)
			require.NotEmpty(t, se.Key)
		case hit.Load() && (fault == "error" || fault == "panic" || fault == "cancel"):
			require.ErrorIs(t, err, errBad)
			require.ErrorIs(t, seen, errBad)
		default:
			require.NoError(t, err)
			require.True(t, fault != "delay" || n == 2*5, "a delay loses nothing: %d of 10", n)
		}
		if fault == "late" && hit.Load() {
			time.Sleep(2 * time.Minute) // the call that was left behind has the item until it returns
		}
		require.Zero(t, live.Load(), "every item is released")
		require.Empty(t, r.Snapshot().Totals.Unbalanced, "at call %d", at)
	})
	return hit.Load()
}

func TestBreakingOffLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		p := graph.New("endless", graph.Epochs(graph.Forever))
		out := graph.Output(graph.Via(graph.From(p, "src", ints(10), graph.Workers(8)), "work", graph.Map(func(v int) (int, error) { return v, nil }), graph.Workers(8)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			if n++; n == 3 {
				break
			}
		}
		require.NoError(t, run.Wait())
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
