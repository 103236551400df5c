package graph_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

const (
	shareLimit   = 40_000
	shareWorkers = 4
	shareHands   = shareWorkers * 1000 // what the workers of one source have just read
)

// greedy reads ahead as far as the budget lets it.
func greedy(name string, l *ledger, n int64, opts ...graph.PipelineOption) (*graph.Pipeline, *graph.Out[*token]) {
	p := graph.New(name, opts...)
	return p, graph.Output(graph.From(p, "src", weighed(l, 1, n, 1000), graph.Workers(shareWorkers), graph.Buffer(4096)), "out")
}

// takeAll runs a pipeline whose consumer takes pause for each item.
func takeAll(t *testing.T, p *graph.Pipeline, out *graph.Out[*token], pause time.Duration) graph.Snapshot {
	run, err := p.Start(t.Context())
	if !assert.NoError(t, err) {
		return graph.Snapshot{}
	}
	for _, err := range out.All(run) {
		assert.NoError(t, err)
		time.Sleep(pause)
	}
	assert.NoError(t, run.Wait())
	return run.Snapshot()
}

// Two that run at once stay within the one budget; two with a budget each, as a control, do not. Either ends first.
func TestPipelinesThatShareStayWithinOneBudget(t *testing.T) {
	budget := graph.WithBudget(graph.Budget{Memory: shareLimit})
	for _, c := range []struct {
		share     bool
		training  int64
		measuring int64
	}{{true, 900, 300}, {true, 300, 900}, {false, 600, 600}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				training, trained := greedy("training", l, c.training, budget)
				option := budget
				if c.share {
					option = graph.Share(training)
				}
				validation, validated := greedy("validation", l, c.measuring, option)
				var a, b graph.Snapshot
				var both sync.WaitGroup
				both.Go(func() { a = takeAll(t, training, trained, 9*ms) })
				both.Go(func() { b = takeAll(t, validation, validated, 9*ms) })
				both.Wait()
				require.Equal(t, c.training, a.Totals.Samples)
				require.Equal(t, c.measuring, b.Totals.Samples)
				require.Zero(t, l.items.Load())
				if !c.share {
					require.Greater(t, l.peak.Load(), int64(shareLimit*3/2), "the load is too small to show anything")
					return
				}
				require.LessOrEqual(t, l.peak.Load(), int64(shareLimit+2*shareHands))
				for _, s := range []graph.Snapshot{a, b} {
					require.Equal(t, int64(shareLimit), s.Memory.Limit)
					require.Zero(t, s.Memory.OverdraftPeak)
					require.Greater(t, s.Memory.InFlightPeak, int64(shareLimit/4-1000), "the part that is kept")
					require.LessOrEqual(t, s.Memory.InFlightPeak, int64(shareLimit*3/4))
				}
			})
		})
	}
}

// Training stands still with full buffers while the model is measured, again and again: validation has its part and its
// full speed, and the budget holds.
func TestValidationBetweenEpochsFindsItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trains, measures := &ledger{}, &ledger{}
		training, trained := greedy("training", trains, 200, graph.Epochs(4), graph.WithBudget(graph.Budget{Memory: shareLimit}))
		_, _ = greedy("declared", measures, 1, graph.Share(training))
		run, err := training.Start(t.Context())
		require.NoError(t, err)
		for epoch := range trained.Epochs(run) {
			for _, err := range epoch.All() {
				require.NoError(t, err)
			}
			time.Sleep(10 * time.Second) // it fills up
			if epoch.Number < 3 {
				require.Greater(t, trains.bytes.Load(), int64(shareLimit*3/4-1000))
			}
			validation, validated := greedy("validation", measures, 400, graph.Share(training))
			began := time.Now()
			s := takeAll(t, validation, validated, 0)
			require.Less(t, time.Since(began), 400*3*ms/shareWorkers, "as if it were alone")
			require.Equal(t, int64(400), s.Totals.Samples)
			require.Zero(t, s.Memory.OverdraftPeak)
			require.Zero(t, measures.items.Load())
		}
		require.NoError(t, run.Wait())
		require.Zero(t, run.Snapshot().Memory.OverdraftPeak)
		require.LessOrEqual(t, trains.peak.Load(), int64(shareLimit*3/4+shareHands))
		require.Zero(t, trains.items.Load())
	})
}

// Each may start and end first, and come again while the other is under way.
func TestRunsThatShareComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := [2]*ledger{{}, {}}
		training, trained := greedy("training", l[0], 5000, graph.WithBudget(graph.Budget{Memory: shareLimit}))
		validation, validated := greedy("validation", l[1], 5000, graph.Share(training))
		p := [2]*graph.Pipeline{training, validation}
		out := [2]*graph.Out[*token]{trained, validated}
		var run [2]*graph.Run
		start := func(i int) {
			r, err := p[i].Start(t.Context())
			require.NoError(t, err)
			run[i] = r
			time.Sleep(10 * time.Second) // full
		}
		end := func(i int) {
			for range out[i].All(run[i]) {
				break
			}
			require.NoError(t, run[i].Wait())
			require.Zero(t, run[i].Snapshot().Memory.OverdraftPeak)
			require.Zero(t, l[i].items.Load())
		}
		start(1) // validation is first
		for range 3 {
			require.Greater(t, l[1].bytes.Load(), int64(shareLimit*3/4-1000), "all but the part that is kept for training")
			start(0)
			require.InDelta(t, shareLimit/4+shareHands/2, l[0].bytes.Load(), 1000+shareHands/2)
			end(1)
			time.Sleep(10 * time.Second)
			require.Greater(t, l[0].bytes.Load(), int64(shareLimit*3/4-1000), "what validation gave back")
			start(1)
			require.InDelta(t, shareLimit/4+shareHands/2, l[1].bytes.Load(), 1000+shareHands/2)
			end(0)
			time.Sleep(10 * time.Second)
		}
		end(1)
		training.With(graph.WithBudget(graph.Budget{Memory: 2 * shareLimit}))
		start(1) // nobody was under way any more: the budget is made anew
		require.Equal(t, int64(2*shareLimit), run[1].Snapshot().Memory.Limit)
		end(1)
	})
}

// Batches' memory counts too. It is given back at the end of a run, and a ring that could never move is refused.
func TestSlabsOfRunsThatShareComeOutOfOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		training, trained := greedy("training", l, 5000, graph.WithBudget(graph.Budget{Memory: 32_000}))
		validation := func(size int) (graph.Snapshot, error) {
			made := 0
			p := graph.New("validation", graph.Share(training))
			out := graph.Output(graph.Via(graph.From(p, "src", ints(4000)), "batch", collate{size, &made}), "out")
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			for _, err := range out.All(run) {
				if err != nil {
					break
				}
			}
			err = run.Wait()
			return run.Snapshot(), err
		}
		run, err := training.Start(t.Context())
		require.NoError(t, err)
		for range 20 { // more than the budget would hold at once
			s, err := validation(160) // of 1280 bytes: an eighth of the budget has room for three
			require.NoError(t, err)
			require.Contains(t, s.Warnings, "the shared memory budget of 31.2 KiB leaves room for 3 batches of 1.2 KiB instead of 64")
			require.Zero(t, s.Memory.OverdraftPeak)
		}
		_, err = validation(1100)
		require.ErrorContains(t, err, "the shared memory budget is 31.2 KiB, of which each pipeline may have 15.6 KiB for batches; make the batch smaller or raise budget.memory")
		n := 0
		for _, err := range trained.All(run) {
			require.NoError(t, err)
			if n++; n == 300 {
				time.Sleep(10 * time.Second)
				require.Greater(t, l.bytes.Load(), int64(23_000), "the slabs of the others are no longer counted")
				break
			}
		}
		require.NoError(t, run.Wait())
	})
}

// Memory that one has given back is used by the other, for as long as one of them is under way.
func TestRecycledMemoryIsShared(t *testing.T) {
	var last *byte
	pipeline := func(name string, opts ...graph.PipelineOption) (*graph.Pipeline, *graph.Out[int]) {
		p := graph.New(name, append(opts, graph.Sync())...)
		return p, graph.Output(graph.From(p, "src", source[int]{1, func(c *graph.Call, i int64) (int, error) {
			b := c.Buffer(1 << 16)
			last = &b.Data[0]
			b.Release()
			return 1, nil
		}}), "out")
	}
	training, trained := pipeline("training")
	validation, validated := pipeline("validation", graph.Share(training))
	run, err := training.Start(t.Context())
	require.NoError(t, err)
	for range trained.All(run) {
	}
	first := last
	other, err := validation.Start(t.Context())
	require.NoError(t, err)
	for range validated.All(other) {
	}
	require.Same(t, first, last)
	require.NoError(t, run.Wait())
	require.NoError(t, other.Wait())
}

// workers: auto is what it is in the other pipeline, whose share of the cores counts.
func TestAutoWorkersAreThoseOfTheSharedBudget(t *testing.T) {
	auto := func(opts ...graph.PipelineOption) int {
		p := graph.New("auto", opts...)
		out := graph.Output(graph.Via(graph.From(p, "src", ints(1)), "work", graph.Map(func(v int) (int, error) { return v, nil })), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for range out.All(run) {
		}
		require.NoError(t, run.Wait())
		return run.Snapshot().Stages[1].Workers
	}
	tiny := graph.WithBudget(graph.Budget{CPU: 0.001})
	require.Equal(t, 1, auto(tiny))
	require.Equal(t, 1, auto(graph.Share(graph.New("training", tiny))))
	require.Equal(t, auto(), auto(graph.Share(graph.New("training"))))
}

func TestSharingThatCannotBeIsRefused(t *testing.T) {
	training := graph.New("training")
	sharing := graph.New("sharing", graph.Share(training))
	self := graph.New("self")
	self.With(graph.Share(self))
	for want, p := range map[string]*graph.Pipeline{
		"there is no pipeline to share the budget of, got nil":                                         graph.New("p", graph.Share(nil)),
		"a pipeline cannot share its budget with itself; give the other pipeline":                      self,
		`pipeline "sharing" has no budget of its own, since it shares that of another one; share that`: graph.New("p", graph.Share(sharing)),
		`the budget is that of pipeline "training"; set it there`:                                      graph.New("p", graph.Share(training), graph.WithBudget(graph.Budget{Memory: 1})),
		`the budget of pipeline "bad" is out of range`:                                                 graph.New("p", graph.Share(graph.New("bad", graph.WithBudget(graph.Budget{CPU: 2})))),
	} {
		graph.Output(graph.From(p, "src", ints(1)), "out")
		require.ErrorContains(t, p.Build(), want)
		_, err := p.Start(context.Background())
		require.ErrorContains(t, err, want)
	}
	graph.Output(graph.From(sharing, "src", ints(1)), "out")
	require.NoError(t, sharing.Build())
}

// A part that cannot be opened leaves no trace in the budget.
func TestAFailedStartGivesItsPartBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		training, trained := greedy("training", l, 5000, graph.WithBudget(graph.Budget{Memory: shareLimit}))
		for range 5 {
			p := graph.New("validation", graph.Share(training))
			graph.Output(graph.Via(graph.From(p, "src", ints(1)), "shut", shut{}), "out")
			_, err := p.Start(t.Context())
			require.ErrorContains(t, err, "shut")
		}
		run, err := training.Start(t.Context())
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		require.Greater(t, l.bytes.Load(), int64(shareLimit*3/4-1000))
		for range trained.All(run) {
			break
		}
		require.NoError(t, run.Wait())
	})
}

// shut is a stage that cannot be opened.
type shut struct{}

func (shut) Open(context.Context, *graph.Env) (graph.Transform[int, *item.Batch], error) {
	return graph.Transform[int, *item.Batch]{}, fmt.Errorf("it is shut")
}
