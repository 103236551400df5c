package cuda

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// OpenPin opens pin for a stage that is no device_copy by type.
func OpenPin(ctx context.Context, env *graph.Env, p Pin, c DeviceCopy) (graph.Transform[*item.Batch, *item.Batch], error) {
	return p.open(ctx, env, c)
}
