package graph_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// What is known not to hold yet. Each test fails without its Skip.

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
