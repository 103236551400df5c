package graph_test

import (
	"context"
	"fmt"
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
	fault  *trap
	timed  []graph.Option // of the stages that may be late
	tokens uint64
}

// read is a source of n tokens; all sources of a line count their calls together.
func (c *lineOf) read(id string, n int64) graph.Port[*token] {
	from := c.tokens
	c.tokens += uint64(n)
	return graph.From(c.p, id, source[*token]{n, func(_ *graph.Call, i int64) (*token, error) {
		time.Sleep(time.Duration(i%3) * ms)
		if err := c.fault.trip("src"); err != nil {
			return nil, err
		}
		return newToken(c.l, (from+uint64(i))*900), nil // of 100 bytes
	}}, c.timed...)
}

func (c *lineOf) pass(in graph.Port[*token], id string) graph.Port[*token] {
	return graph.Via(in, id, graph.Map(func(v *token) (*token, error) { time.Sleep(ms); return v, c.fault.trip(id) }), c.timed...)
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
			for _, fault := range faultsOf(stage) {
				for _, workers := range []int{3, 1} {
					if workers == 1 && !sweep() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/workers=%d", name, stage, fault, workers), func(t *testing.T) {
						whole := lineFault(t, name, stage, "none", workers, -1)
						for i := int64(0); ; i++ {
							r := lineFault(t, name, stage, fault, workers, i)
							if !r.hit {
								require.Greater(t, i, int64(3))
								require.Equal(t, whole.n, r.n)
								return
							}
							own := ends(fault) && fault != "cancel"
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
	f := &trap{stage: stage, fault: fault, at: at}
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("faults", graph.Seed(2), graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: 2000}))
		c := &lineOf{p: p, l: &ledger{}, fault: f, timed: f.options(workers)}
		out := graph.Output(c.pass(holders[name](c), "last"), "out")
		r.n, r.err = trapped(t.Context(), t, f, p, out, func(v *token) { _ = v.use() })
		if r.err != nil {
			f.caused(t, r.err, "a", "b")
		}
		require.Zero(t, c.l.items.Load(), "every item is released, at call %d", at)
		require.Zero(t, c.l.opened.Load(), "every part is closed")
	})
	r.hit = f.hit.Load()
	return r
}
