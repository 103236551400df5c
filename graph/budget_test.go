package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// weighed is a source of tokens of random sizes.
func weighed(l *ledger, seed uint64, n, largest int64) source[*token] {
	return source[*token]{n, func(c *graph.Call, i int64) (*token, error) {
		time.Sleep(time.Duration(1+scramble(uint64(i), seed)%3) * ms) // so that slices are of one
		tok := newToken(l, 0)
		l.bytes.Add(-tok.size)
		tok.id, tok.size = uint64(i), 1+int64(scramble(uint64(i), seed, 9)%uint64(largest))
		l.grow(tok.size)
		return tok, nil
	}}
}

func (l *ledger) grow(n int64) {
	b := l.bytes.Add(n)
	for p := l.peak.Load(); b > p && !l.peak.CompareAndSwap(p, b); p = l.peak.Load() {
	}
}

// What is in flight stays within the budget, but for what is counted as overdraft and for what workers have just read.
// Nothing locks up.
func TestByteBudgetHolds(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 5))
				l := &ledger{}
				limit, workers := 1000+r.Int64N(20000), 1+r.IntN(4)
				o := []graph.Option{graph.Workers(workers), graph.Buffer([]int{0, 1, 64}[r.IntN(3)])}
				p := graph.New("budget", graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: limit}))
				port := graph.From(p, "src", weighed(l, seed, 150, 1000), o...)
				sources := 1
				if r.IntN(2) == 0 {
					port = graph.Merge(p, "merge", []graph.Port[*token]{port, graph.From(p, "more", weighed(l, seed+1, 90, 1000), o...)})
					sources = 2
				}
				extra := int64(sources*workers) * 1000
				for i := range r.IntN(3) {
					switch id := fmt.Sprint("stage", i); r.IntN(3) {
					case 0:
						port = graph.Via(port, id, graph.Map(func(v *token) (*token, error) { time.Sleep(ms); return v, nil }), o...)
					case 1: // outputs as large as the input
						port = graph.Via(port, id, graph.FlatMap(func(v *token, emit func(*token)) error {
							for range v.id % 5 {
								n := newToken(l, v.id)
								l.bytes.Add(v.size - n.size)
								n.size = v.size
								emit(n)
							}
							v.Release()
							return nil
						}), o...)
						extra += int64(workers) * 6000 // what is being made is counted when it leaves the stage
					case 2:
						port = graph.Via(port, id, graph.Filter(func(v *token) (bool, error) { return v.id%7 != 0, nil }), o...)
					}
				}
				out := graph.Output(port, "out")
				run, err := p.Start(t.Context())
				require.NoError(t, err)
				n := 0
				for _, err := range out.All(run) {
					require.NoError(t, err)
					n++
					time.Sleep(time.Duration(r.IntN(3)) * ms)
				}
				require.NoError(t, run.Wait())
				require.Greater(t, n, 100)
				m := run.Snapshot().Memory
				require.Equal(t, limit, m.Limit)
				require.LessOrEqual(t, m.InFlightPeak, limit+m.OverdraftPeak)
				require.LessOrEqual(t, l.peak.Load(), m.InFlightPeak+extra)
				require.Zero(t, l.items.Load())
			})
		})
	}
}

// An item that can never fit is an error that names it, its size and the knob.
func TestItemLargerThanTheBudgetIsAnError(t *testing.T) {
	for _, workers := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			l := &ledger{}
			p := graph.New("giant", graph.WithBudget(graph.Budget{Memory: 4096}))
			src := graph.From(p, "src", source[*token]{50, func(_ *graph.Call, i int64) (*token, error) {
				tok := newToken(l, uint64(i))
				if i == 20 {
					l.grow(1<<20 - tok.size)
					tok.size = 1 << 20
				}
				return tok, nil
			}}, graph.Workers(workers))
			out := graph.Output(graph.Via(src, "pass", graph.Map(func(v *token) (*token, error) { return v, nil }), graph.Workers(workers)), "out")
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			n := 0
			for _, err := range out.All(run) {
				if err == nil {
					n++
				}
			}
			err = run.Wait()
			require.Equal(t, 20, n)
			var se *graph.StageError
			require.ErrorAs(t, err, &se)
			require.Equal(t, "src", se.Stage)
			require.Equal(t, "0000000000000014", se.Key)
			require.ErrorContains(t, err, "1.0 MiB")
			require.ErrorContains(t, err, "budget.memory")
			require.Zero(t, l.items.Load())
			require.Empty(t, run.Snapshot().Totals.Unbalanced)
		})
	}
}

// While the container is nearly full, only what some stage waits for is let in; the stream is the same.
func TestAdmissionSlowsWhileMemoryIsScarce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		began := time.Now()
		near := func() bool { s := time.Since(began); return s > time.Second && s < 3*time.Second }
		p := graph.New("scarce", graph.WithBudget(graph.Budget{Memory: 1 << 20}), graph.MemoryUse(func() (used, limit int64) {
			if near() {
				return 970, 1000
			}
			return 940, 1000
		}))
		src := graph.From(p, "src", weighed(l, 1, 1000, 1000), graph.Workers(4), graph.Buffer(64))
		out := graph.Output(src, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		var few, many int64
		n := uint64(0)
		for tok, err := range out.All(run) {
			require.NoError(t, err)
			require.Equal(t, n, tok.id)
			n++
			time.Sleep(5 * ms)
			switch s := time.Since(began); {
			case s > 2500*ms && s < 3*time.Second:
				few = max(few, l.items.Load())
			case !near():
				many = max(many, l.items.Load())
			}
		}
		require.NoError(t, run.Wait())
		require.Equal(t, uint64(1000), n)
		require.LessOrEqual(t, few, int64(2+4), "one passes, one is in hand, four were read and wait")
		require.Greater(t, many, int64(20))
		m := run.Snapshot().Memory
		require.InDelta(t, 2.0, m.Scarce.Seconds(), 0.25)
		require.Len(t, run.Snapshot().Warnings, 1)
		require.Contains(t, run.Snapshot().Warnings[0], "970 bytes of its 1000 bytes")
	})
}

// With a slow consumer, reading ahead stays at what workers and queues hold.
func TestReadingAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		p := graph.New("ahead", graph.Epochs(graph.Forever))
		src := graph.From(p, "src", weighed(l, 1, 1000, 1000), graph.Workers(4), graph.Buffer(4))
		out := graph.Output(src, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			time.Sleep(10 * time.Second)
			require.LessOrEqual(t, l.items.Load(), int64(1+4+4+4*4), "taken, queued, in the window, in hand")
			if n++; n == 20 {
				break
			}
		}
		require.NoError(t, run.Wait())
		require.Zero(t, l.items.Load())
	})
}

func TestListsCountForTheByteBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		p := graph.New("lists", graph.WithBudget(graph.Budget{Memory: 4000}))
		src := graph.From(p, "src", weighed(l, 1, 200, 1000), graph.Workers(1))
		out := graph.Output(graph.Via(src, "lists", graph.Collect[*token](50), graph.Workers(1)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for range out.All(run) {
		}
		require.NoError(t, run.Wait())
		require.LessOrEqual(t, l.peak.Load(), run.Snapshot().Memory.InFlightPeak+1000)
	})
}

func TestSyncRunsRefuseItemsLargerThanTheBudget(t *testing.T) {
	l := &ledger{}
	p := graph.New("sync", graph.Sync(), graph.WithBudget(graph.Budget{Memory: 50}))
	out := graph.Output(graph.From(p, "src", weighed(l, 1, 10, 1000)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
	}
	require.ErrorContains(t, run.Wait(), "budget.memory")
}
