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

// trap is one fault at one call of a stage.
type trap struct {
	stage, fault string
	at           int64
	cancel       context.CancelCauseFunc
	calls        atomic.Int64
	hit          atomic.Bool
	run          atomic.Pointer[graph.Run]
}

// faultsOf are the faults that can be planted in a stage: the loop, "sink", is the program's own, and only it can be left.
func faultsOf(stage string) []string {
	if stage == "sink" {
		return []string{"delay", "cancel", "break", "stop"}
	}
	return []string{"error", "panic", "delay", "late", "cancel", "stop"}
}

// ends says that the run ends with an error where such a fault is reached.
func ends(fault string) bool {
	return fault == "error" || fault == "panic" || fault == "late" || fault == "cancel"
}

// options are those of the stages that may be late.
func (f *trap) options(workers int) []graph.Option {
	if f.fault == "late" {
		return []graph.Option{graph.Workers(workers), graph.Timeout(time.Second)}
	}
	return []graph.Option{graph.Workers(workers)}
}

// reached counts a call and says whether it is the one.
func (f *trap) reached(here string) bool {
	if here != f.stage || f.calls.Add(1)-1 != f.at {
		return false
	}
	f.hit.Store(true)
	return true
}

// trip is called at each call of each stage.
func (f *trap) trip(here string) error {
	if !f.reached(here) {
		return nil
	}
	switch f.fault {
	case "error":
		return errBad
	case "panic":
		panic(errBad)
	case "delay", "late":
		time.Sleep(time.Minute)
	case "cancel":
		f.cancel(errBad)
	case "stop":
		if r := f.run.Load(); r != nil {
			r.Stop()
		}
	}
	return nil
}

// trapped runs a pipeline to its end, or until the fault says that the loop is left, and gives how many items came. The
// run's error is the one that the loop was told.
func trapped[T any](ctx context.Context, t *testing.T, f *trap, p *graph.Pipeline, out *graph.Out[T], look func(T)) (n int, err error) {
	ctx, f.cancel = context.WithCancelCause(ctx)
	defer f.cancel(nil)
	run, err := p.Start(ctx)
	require.NoError(t, err)
	f.run.Store(run)
	var told error
	for v, err := range out.All(run) {
		if told = err; err != nil {
			break
		}
		n++
		look(v)
		if f.fault != "break" {
			_ = f.trip("sink")
		} else if f.reached("sink") {
			break
		}
	}
	err = run.Wait()
	require.Equal(t, err, run.Wait(), "Wait tells the same again")
	require.Equal(t, err, told, "the loop is told the same")
	if f.fault == "late" && f.hit.Load() {
		time.Sleep(2 * time.Minute) // the call that was left behind has the item until it returns
	}
	require.Empty(t, run.Snapshot().Totals.Unbalanced, "at call %d", f.at)
	return n, err
}

// caused checks that an error is the fault's, and names its stage; sources are those that count as "src".
func (f *trap) caused(t *testing.T, err error, sources ...string) {
	t.Helper()
	require.True(t, f.hit.Load(), "%v", err)
	switch f.fault {
	case "cancel":
		require.ErrorIs(t, err, errBad)
		return
	case "error", "panic":
		require.ErrorIs(t, err, errBad)
	case "late":
		require.ErrorIs(t, err, graph.ErrTimeout)
	default:
		require.NoError(t, err)
	}
	var se *graph.StageError
	require.ErrorAs(t, err, &se)
	require.NotEmpty(t, se.Key)
	if f.stage == "src" {
		require.Contains(t, sources, se.Stage)
	} else {
		require.Equal(t, f.stage, se.Stage)
	}
}

// A fault of each sort at call i of each stage, for every i until the run passes untouched.
func TestFaultAtEveryCallOfEveryStage(t *testing.T) {
	for _, stage := range []string{"src", "first", "second", "batch", "sink"} {
		for _, fault := range faultsOf(stage) {
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

// faultAt runs a small pipeline with one fault and says whether it was reached.
func faultAt(t *testing.T, stage, fault string, workers int, at int64) bool {
	f := &trap{stage: stage, fault: fault, at: at}
	synctest.Test(t, func(t *testing.T) {
		var live atomic.Int64
		pass := func(id string) graph.Stage[*tracked, *tracked] {
			return graph.Map(func(v *tracked) (*tracked, error) { time.Sleep(ms); return v, f.trip(id) })
		}
		w, timed := graph.Workers(workers), f.options(workers)
		p := graph.New("faults", graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: 2000}))
		src := graph.From(p, "src", trackedSource{9, &live, func() error { return f.trip("src") }}, timed...)
		g := graph.Via(graph.Via(graph.Via(src, "first", pass("first"), timed...), "second", pass("second"), timed...), "pairs", pairs{&live}, w)
		b := graph.Via(g, "batch", graph.Map(func(v *pair) (*pair, error) { return v, f.trip("batch") }), timed...)
		n, err := trapped(t.Context(), t, f, p, graph.Output(b, "out"), func(v *pair) { require.False(t, v.rows[0].gone.Load()) })
		if f.hit.Load() && ends(fault) {
			require.Error(t, err, "fault at call %d", at)
			f.caused(t, err, "src")
		} else {
			require.NoError(t, err)
			require.True(t, fault != "delay" || n == 2*5, "a delay loses nothing: %d of 10", n)
		}
		require.Zero(t, live.Load(), "every item is released")
	})
	return f.hit.Load()
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
	noMoreGoroutines(t, before)
}

// noMoreGoroutines says that there are no more than before: they have been joined, and may still be leaving.
func noMoreGoroutines(t *testing.T, before int) {
	for i := 0; i < 2000 && runtime.NumGoroutine() > before; i++ {
		time.Sleep(ms)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
