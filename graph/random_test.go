package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// outcome is what a run delivered.
type outcome struct {
	ids    []uint64
	epochs []int64
	err    string
	key    string
	snap   graph.Snapshot
}

// run runs the network until its end, or until the consumer's stop says so.
func (g *network) run(t *testing.T, k *knobs, act func(n int, r *graph.Run, cancel func()) (stop bool)) (o outcome) {
	l := &ledger{}
	synctest.Test(t, func(t *testing.T) {
		defer g.explain(t)
		p, out := g.build(k, l)
		if testing.Verbose() {
			t.Log(p.Describe())
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		run, err := p.Start(ctx)
		require.NoError(t, err)
		pace := time.Duration(scramble(g.seed, 77)%4) * ms
		n := 0
	loop:
		for e := range out.Epochs(run) {
			for tok, err := range e.All() {
				if err != nil {
					require.False(t, act == nil && tok != nil)
					break
				}
				o.ids, o.epochs = append(o.ids, tok.use()), append(o.epochs, e.Number)
				time.Sleep(pace)
				if n++; act != nil && act(n, run, func() { cancel(errBroken) }) {
					break loop
				}
			}
		}
		if err = run.Wait(); err != nil {
			o.err = err.Error()
			var se *graph.StageError
			if errors.As(err, &se) {
				o.key = se.Stage + " " + se.Pos.String()
			}
		}
		o.snap = run.Snapshot()
		timesAddUp(t, o.snap)
		require.Zero(t, l.items.Load(), "every item is released")
		require.Zero(t, l.opened.Load(), "what was opened is closed once")
	})
	return o
}

var errBroken = errors.New("broken off")

func (g *network) explain(t *testing.T) {
	if t.Failed() {
		t.Logf("network of seed %d, %d epochs: %v", g.seed, g.epochs, g.root)
	}
}

// networks is how many random graphs are tried: a few hundred, or as PENSTOCK_GRAPHS says, from PENSTOCK_GRAPHS_FROM.
func networks(t *testing.T, usual int) (from, n uint64) {
	if testing.Short() {
		usual /= 10
	}
	if v := os.Getenv("PENSTOCK_GRAPHS"); v != "" {
		many, err := strconv.Atoi(v)
		require.NoError(t, err)
		usual = many
	}
	if v := os.Getenv("PENSTOCK_GRAPHS_FROM"); v != "" {
		first, err := strconv.ParseUint(v, 10, 64)
		require.NoError(t, err)
		return first, uint64(usual)
	}
	return 0, uint64(usual)
}

// Whatever the knobs, the delivered stream is that of the plain model, run item by item; so is the error it ends with.
func TestRandomGraphsDeliverTheSameForAnyKnobs(t *testing.T) {
	from, n := networks(t, 200)
	for seed := from; seed < from+n; seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := makeNetwork(seed)
			sync := g.run(t, &knobs{sync: true}, nil)
			want, werr := g.model()
			g.same(t, want, werr, sync, "sync against the model")
			for i := range uint64(2) {
				r := rand.New(rand.NewPCG(seed, 100+i))
				k := &knobs{r: r}
				if r.IntN(2) == 0 {
					k.budget, k.scarce = 5000+r.Int64N(20000), r.IntN(2) == 0
				}
				o := g.run(t, k, nil)
				g.same(t, want, werr, o, fmt.Sprintf("knobs %d against the model", i))
				require.Equal(t, sync.key, o.key)
				require.Equal(t, sync.snap.Digest, o.snap.Digest)
			}
		})
		if !ok && t.Failed() && from == 0 && n > 50 && seed > 60 {
			break
		}
	}
}

func (g *network) same(t *testing.T, want []entry, werr bool, o outcome, what string) {
	t.Helper()
	defer g.explain(t)
	ids, epochs := make([]uint64, 0, len(want)), make([]int64, 0, len(want))
	for _, e := range want {
		ids, epochs = append(ids, e.id), append(epochs, e.pos.Epoch)
	}
	require.Equal(t, werr, o.err != "", "%s: %s", what, o.err)
	require.Len(t, o.ids, len(ids), what)
	for i := range ids {
		require.Equal(t, ids[i], o.ids[i], "%s: item %d of %d", what, i, len(ids))
	}
	if len(ids) > 0 {
		require.Equal(t, epochs, o.epochs, what)
	}
	if werr {
		require.True(t, strings.Contains(o.err, "a bad token"), o.err)
	}
}

// groups says that what comes out depends on where the input ends, not only how much.
func (g *network) groups() bool {
	for _, s := range g.steps {
		if s.op == "merge" || s.op == "block" || s.op == "mix" || s.op == "bags" || s.op == "lists" {
			return true
		}
	}
	return false
}

// A consumer that breaks off, cancels or stops after any number of items has got the beginning of the same stream.
func TestRandomGraphsBreakOffCleanly(t *testing.T) {
	from, n := networks(t, 70)
	for seed := from; seed < from+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := makeNetwork(seed)
			want, _ := g.model()
			r := rand.New(rand.NewPCG(seed, 200))
			at := 1 + r.IntN(len(want)+1)
			for _, how := range []string{"break", "cancel", "stop"} {
				for _, sync := range []bool{false, true} {
					o := g.run(t, &knobs{r: rand.New(rand.NewPCG(seed, 300)), sync: sync}, func(n int, run *graph.Run, cancel func()) bool {
						if n == at {
							switch how {
							case "break":
								return true
							case "cancel":
								cancel()
							case "stop":
								run.Stop()
							}
						}
						return false
					})
					func() {
						defer g.explain(t)
						if how == "stop" && g.groups() {
							return // where its sources were cut decides what is merged, and the last group is short
						}
						require.LessOrEqual(t, len(o.ids), len(want), how)
						if how != "stop" {
							require.LessOrEqual(t, len(o.ids), at, how)
						}
						for i := range o.ids {
							require.Equal(t, want[i].id, o.ids[i], "%s at %d: item %d", how, at, i)
						}
						if how == "cancel" && len(o.ids) >= at {
							require.Equal(t, errBroken.Error(), o.err)
						}
					}()
				}
			}
		})
	}
}

// With order: completion the epochs keep apart and hold the same items.
func TestRandomGraphsInCompletionOrderHoldTheSameItems(t *testing.T) {
	from, n := networks(t, 100)
	for seed := from; seed < from+n; seed++ {
		g := makeNetwork(seed)
		plain := !g.errs
		for _, s := range g.steps {
			// what stands in one group depends on the order, and so do the positions of its members
			plain = plain && (s.op != "mix" || s.mix.Stop == graph.StopAll) && (s.op != "bags" || s.n == 1) && (s.op != "lists" || s.n == 1) && !g.errs
		}
		if !plain {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			want, _ := g.model()
			o := g.run(t, &knobs{r: rand.New(rand.NewPCG(seed, 400)), any: true}, nil)
			defer g.explain(t)
			count := map[string]int{}
			for _, e := range want {
				count[fmt.Sprint(e.pos.Epoch, " ", e.id)]++
			}
			for i := range o.ids {
				count[fmt.Sprint(o.epochs[i], " ", o.ids[i])]--
			}
			for k, n := range count {
				require.Zero(t, n, k)
			}
			g.resumedInAnyOrder(t, want)
		})
	}
}

// resumedInAnyOrder cuts a run with order: completion somewhere and goes on: nothing is lost.
func (g *network) resumedInAnyOrder(t *testing.T, want []entry) {
	r := rand.New(rand.NewPCG(g.seed, 500))
	at := 1 + r.IntN(len(want)+1)
	var st graph.State
	head := g.run(t, &knobs{r: r, any: true}, func(n int, run *graph.Run, _ func()) bool {
		if n == at {
			var err error
			st, err = run.State()
			if err != nil && !st.Inexact { // an exact state has other limits
				require.ErrorContains(t, err, "no state")
			}
		}
		return n == at
	})
	if !st.Inexact {
		return
	}
	tail := g.run(t, &knobs{r: r, any: true, resume: &st}, nil)
	have := map[string]bool{}
	for _, o := range []outcome{head, tail} {
		for i := range o.ids {
			have[fmt.Sprint(o.epochs[i], " ", o.ids[i])] = true
		}
	}
	all := map[string]bool{}
	for _, e := range want {
		all[fmt.Sprint(e.pos.Epoch, " ", e.id)] = true
	}
	require.Equal(t, all, have, "cut after %d of %d: %+v", at, len(want), st)
}
