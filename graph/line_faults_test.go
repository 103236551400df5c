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

// backwards hands blocks of tokens on from their last to their first.
type backwards struct{ Size int }

func (s backwards) Holds() int64 { return int64(s.Size) }

func (s backwards) Open(context.Context, *graph.Env) (graph.Transform[*token, *token], error) {
	return graph.Transform[*token, *token]{Block: &graph.Block{Size: s.Size, Order: func(_, _ int64, n int) func(int) int {
		return func(i int) int { return n - 1 - i }
	}}}, nil
}

// lineOf is a pipeline in whose stages, around a part that keeps items to itself, a fault is planted.
type lineOf struct {
	p      *graph.Pipeline
	l      *ledger
	trip   func(stage string) error
	timed  []graph.Option // of the stages that may be late
	tokens uint64
}

// read is a source of n tokens; all sources of a line count their calls together.
func (c *lineOf) read(id string, n int64) graph.Port[*token] {
	from := c.tokens
	c.tokens += uint64(n)
	return graph.From(c.p, id, source[*token]{n, func(_ *graph.Call, i int64) (*token, error) {
		time.Sleep(time.Duration(i%3) * ms)
		if err := c.trip("src"); err != nil {
			return nil, err
		}
		return newToken(c.l, (from+uint64(i))*900), nil // of 100 bytes
	}}, c.timed...)
}

func (c *lineOf) pass(in graph.Port[*token], id string) graph.Port[*token] {
	return graph.Via(in, id, graph.Map(func(v *token) (*token, error) { time.Sleep(ms); return v, c.trip(id) }), c.timed...)
}

// holders are the parts.
var holders = map[string]func(c *lineOf) graph.Port[*token]{
	"mix": func(c *lineOf) graph.Port[*token] {
		a := c.pass(c.read("a", 6), "first")
		return graph.Mix(c.p, "mix", []graph.Port[*token]{a, c.read("b", 3)}, graph.Mixing{Weights: []float64{1, 2}, Stop: graph.StopAll})
	},
	"mix_repeat": func(c *lineOf) graph.Port[*token] {
		a := c.pass(c.read("a", 6), "first")
		return graph.Mix(c.p, "mix", []graph.Port[*token]{a, c.read("b", 1)}, graph.Mixing{Weights: []float64{2, 1}, Stop: graph.StopRepeat})
	},
	"mix_first": func(c *lineOf) graph.Port[*token] {
		a := c.pass(c.read("a", 20), "first")
		return graph.Mix(c.p, "mix", []graph.Port[*token]{a, c.read("b", 3)}, graph.Mixing{Weights: []float64{2, 1}})
	},
	"block": func(c *lineOf) graph.Port[*token] {
		return graph.Via(c.pass(c.read("a", 9), "first"), "block", graph.Stage[*token, *token](backwards{4}))
	},
	"cached": func(c *lineOf) graph.Port[*token] { // five of nine are kept
		keep := &memo[*token]{limit: 500, copy: (*token).Share, l: c.l}
		return graph.Via(c.pass(c.read("a", 9), "first"), "keep", graph.Stage[*token, *token](keep))
	},
	"cached_block": func(c *lineOf) graph.Port[*token] {
		keep := &memo[*token]{limit: 500, copy: (*token).Share, l: c.l}
		kept := graph.Via(c.pass(c.read("a", 9), "first"), "keep", graph.Stage[*token, *token](keep))
		return graph.Via(kept, "block", graph.Stage[*token, *token](backwards{4}))
	},
}

// A fault of each sort at call i of each stage around a part that keeps items to itself, for every i until the run
// passes untouched.
func TestFaultAtEveryCallAroundWhatKeepsItems(t *testing.T) {
	for name := range holders {
		if testing.Short() && (readsOn[name] || name == "cached_block") {
			continue
		}
		for _, stage := range []string{"src", "first", "last", "sink"} {
			for _, fault := range []string{"error", "panic", "delay", "late", "cancel", "break", "stop"} {
				own := fault == "error" || fault == "panic" || fault == "late"
				if stage == "sink" && own || stage != "sink" && fault == "break" {
					continue // the loop is the program's own, and only the loop can be left
				}
				for _, workers := range some(3, 1) {
					t.Run(fmt.Sprintf("%s/%s/%s/workers=%d", name, stage, fault, workers), func(t *testing.T) {
						whole := lineFault(t, name, stage, "none", workers, -1)
						for i := int64(0); ; i++ {
							r := lineFault(t, name, stage, fault, workers, i)
							if !r.hit {
								require.Greater(t, i, int64(3))
								require.Equal(t, whole.n, r.n)
								return
							}
							beyond := own && r.err == nil && stage != "last" && readsOn[name] // what was read for nothing
							if fault == "delay" || beyond {
								require.Equal(t, whole.n, r.n, "nothing is lost by a fault at call %d", i)
							} else if own || fault == "cancel" && !readsOn[name] {
								require.Error(t, r.err, "fault at call %d", i)
							}
							require.LessOrEqual(t, r.n, whole.n)
						}
					})
				}
			}
		}
	}
}

// readsOn are the lines whose epochs may end before their sources have: a source may have read beyond.
var readsOn = map[string]bool{"mix_repeat": true, "mix_first": true}

// lineResult says whether a fault was reached, how many items were delivered, and what the run said of its end.
type lineResult struct {
	hit bool
	n   int
	err error
}

// lineFault runs a line with one fault.
func lineFault(t *testing.T, name, stage, fault string, workers int, at int64) (r lineResult) {
	var calls atomic.Int64
	var hit atomic.Bool
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var run atomic.Pointer[graph.Run]
		reached := func(here string) bool {
			if here != stage || calls.Add(1)-1 != at {
				return false
			}
			hit.Store(true)
			return true
		}
		trip := func(here string) error {
			if !reached(here) {
				return nil
			}
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
		timed := []graph.Option{graph.Workers(workers)}
		if fault == "late" {
			timed = append(timed, graph.Timeout(time.Second))
		}
		p := graph.New("faults", graph.Seed(2), graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: 2000}))
		c := &lineOf{p: p, l: &ledger{}, trip: trip, timed: timed}
		out := graph.Output(c.pass(holders[name](c), "last"), "out")
		started, err := p.Start(ctx)
		require.NoError(t, err)
		run.Store(started)
		var seen error
		for v, err := range out.All(started) {
			if err != nil {
				seen = err
				break
			}
			_ = v.use()
			r.n++
			if fault == "break" {
				if reached("sink") {
					break
				}
				continue
			}
			_ = trip("sink")
		}
		r.err = started.Wait()
		require.Equal(t, r.err, started.Wait(), "Wait tells the same again")
		require.Equal(t, r.err, seen, "the loop is told the same")
		if r.err != nil {
			lineFailed(t, fault, stage, hit.Load(), r.err)
		}
		if fault == "late" {
			time.Sleep(2 * time.Minute) // the call that was left behind has the item until it returns
		}
		require.Zero(t, c.l.items.Load(), "every item is released, at call %d", at)
		require.Zero(t, c.l.opened.Load(), "every part is closed")
		require.Empty(t, started.Snapshot().Totals.Unbalanced, "at call %d", at)
	})
	r.hit = hit.Load()
	return r
}

// lineFailed checks the error of a run.
func lineFailed(t *testing.T, fault, stage string, hit bool, err error) {
	t.Helper()
	require.True(t, hit, "%v", err)
	switch fault {
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
	if stage == "src" {
		require.Contains(t, []string{"a", "b"}, se.Stage)
	} else {
		require.Equal(t, stage, se.Stage)
	}
}
