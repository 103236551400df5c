package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// The memory of a group is fitted while its input edge is locked, which may hold the groups of another.
func TestGroupsOfWhatOtherGroupsHeldAreMade(t *testing.T) {
	p := graph.New("twice")
	w := graph.Workers(2)
	lists := graph.Via(graph.From(p, "read", samples{17, "a"}.source(), w), "lists", graph.Collect[*item.Sample](3), w)
	apart := graph.Via(lists, "apart", graph.FlatMap(func(l []*item.Sample, emit func(*item.Sample)) error {
		for _, s := range l {
			emit(s)
		}
		return nil
	}), w)
	out := graph.Output(graph.Via(apart, "group", rowsOf{4}, w), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for b, err := range out.All(run) {
		require.NoError(t, err)
		n += len(b.Rows)
	}
	require.NoError(t, run.Wait())
	require.Equal(t, 17, n)
}
