package graph_test

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// rowsOf makes batches that hold nothing but their rows' labels.
type rowsOf struct{ Size int }

func (g rowsOf) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Batch], error) {
	return graph.Transform[*item.Sample, *item.Batch]{Group: &graph.Group[*item.Sample, *item.Batch]{
		Size: g.Size,
		Slab: func() (*item.Batch, error) { return &item.Batch{}, nil },
		Row:  func(_ *graph.Call, _ *item.Batch, _ int, in *item.Sample) error { in.Release(); return nil },
		Fill: func(*item.Batch, int, int) {},
		Done: func(out *item.Batch, _ int, number int64, meta []item.Row, free func()) *item.Batch {
			out.Number, out.Epoch, out.Rows = number, meta[0].Pos.Epoch, meta
			out.OnRelease(free)
			return out
		},
	}}, nil
}
