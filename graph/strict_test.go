package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// lacking is a stage that goes on with less from the start, or from the tenth item on.
type lacking struct{ late bool }

func (l lacking) Open(_ context.Context, env *graph.Env) (graph.Transform[int, int], error) {
	if !l.late {
		env.Degraded("no wings, so it walks")
	}
	return graph.Transform[int, int]{Map: func(_ *graph.Call, v int) (int, error) {
		if l.late && v == 10 {
			env.Degraded("no wings, so it walks")
		}
		return v, nil
	}}, nil
}

func TestWhatIsLackingIsAWarningAndStrictlyAnError(t *testing.T) {
	run := func(l lacking, opts ...graph.PipelineOption) (n int, s graph.Snapshot, err error) {
		p := graph.New("strict", opts...)
		out := graph.Output(graph.Via(graph.From(p, "src", ints(10_000)), "mid", l, graph.Workers(2)), "out")
		run, err := p.Start(t.Context())
		if err != nil {
			return 0, s, err
		}
		for _, err := range out.All(run) {
			if err == nil {
				n++
			}
		}
		err = run.Wait()
		return n, run.Snapshot(), err
	}
	for _, late := range []bool{false, true} {
		n, s, err := run(lacking{late})
		require.NoError(t, err)
		require.Equal(t, 10_000, n)
		require.Contains(t, s.Warnings, `stage "mid": no wings, so it walks`)

		n, _, err = run(lacking{late}, graph.Strict())
		require.ErrorIs(t, err, graph.ErrDegraded)
		require.EqualError(t, err, `pipeline "strict", stage "mid": strict: not as it should be: no wings, so it walks`)
		require.Less(t, n, 10_000)
		if !late {
			require.Zero(t, n, "it is known at the start")
		}
	}
}
