package graph_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

type ints int64

func (n ints) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: int64(n), At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

func TestOrderIsKept(t *testing.T) {
	for _, sync := range []bool{true, false} {
		for _, W := range some(1, 8, 3, 2) {
			for _, buf := range some(0, 1, 7, 2, 64) {
				for _, win := range some(0, 5, 1, 128) {
					t.Run(fmt.Sprintf("sync=%v/workers=%d/buffer=%d/window=%d", sync, W, buf, win), func(t *testing.T) {
						p := graph.New("m", graph.Epochs(3))
						if sync {
							p.With(graph.Sync())
						}
						o := []graph.Option{graph.Workers(W), graph.Buffer(buf), graph.Window(win)}
						a := graph.From(p, "src", ints(1000), o...)
						b := graph.Via(a, "odd", graph.FlatMap(func(v int, emit func(int)) error {
							for i := range v % 5 {
								emit(v*10 + i)
							}
							if v == 500 {
								for i := range 200 {
									emit(i)
								}
							}
							return nil
						}), o...)
						c := graph.Via(b, "inc", graph.Map(func(v int) (int, error) { return v + 1, nil }), o...)
						d := graph.Via(c, "even", graph.Filter(func(v int) (bool, error) { return v%2 == 0, nil }), o...)
						out := graph.Output(graph.Via(d, "group", graph.Collect[int](7), o[0]), "out")
						var want []int
						for v := range 1000 {
							for i := range v % 5 {
								want = append(want, v*10+i+1)
							}
							if v == 500 {
								for i := range 200 {
									want = append(want, i+1)
								}
							}
						}
						k := 0
						for _, v := range want {
							if v%2 == 0 {
								want[k] = v
								k++
							}
						}
						want = want[:k]
						run, err := p.Start(context.Background())
						require.NoError(t, err)
						n := 0
						for e := range out.Epochs(run) {
							var got []int
							for v, err := range e.All() {
								require.NoError(t, err)
								got = append(got, v...)
							}
							require.Equal(t, want, got)
							n++
						}
						require.NoError(t, run.Wait())
						require.Equal(t, 3, n)
						s := run.Snapshot()
						require.Empty(t, s.Totals.Unbalanced)
					})
				}
			}
		}
	}
}
