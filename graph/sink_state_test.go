package graph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// failsAt is a sink that cannot take the nth item, from 0.
type failsAt struct {
	n     int
	taken *[]int
}

func (f failsAt) Open(context.Context, *graph.Env) (graph.Consumer[int], error) {
	return graph.Consumer[int]{Take: func(_ *graph.Call, v int) error {
		if len(*f.taken) == f.n {
			return errors.New("full")
		}
		*f.taken = append(*f.taken, v)
		return nil
	}}, nil
}

func TestWhatASinkCouldNotTakeComesAgainAfterAResume(t *testing.T) {
	for _, sync := range []bool{false, true} {
		var taken []int
		var told int64
		start := func(at int, opts ...graph.PipelineOption) *graph.Run {
			p := graph.New("full", append(opts, graph.OnDelivery(func(n int64) { told = n }))...)
			if sync {
				p.With(graph.Sync())
			}
			graph.Into(graph.From(p, "src", ints(50), graph.Workers(1)), "end", failsAt{at, &taken})
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			return run
		}
		run := start(20)
		require.ErrorContains(t, run.Wait(), "full")
		require.Equal(t, int64(20), told)
		s, err := run.State()
		require.NoError(t, err)
		run = start(-1, graph.Resume(s, false))
		require.NoError(t, run.Wait())
		require.Len(t, taken, 50)
		for i, v := range taken {
			require.Equal(t, i, v)
		}
	}
}
