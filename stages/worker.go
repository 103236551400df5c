package stages

import (
	"context"

	"github.com/penstock-go/penstock/graph"
)

// perWorker makes a transform whose functions belong to one worker each. Callers that make no workers get a fresh one
// for each call.
func perWorker[A, B any](worker func(context.Context) (graph.Transform[A, B], error)) (graph.Transform[A, B], error) {
	return graph.Transform[A, B]{
		Map: func(c *graph.Call, in A) (B, error) {
			w, err := worker(c.Context())
			if err != nil {
				var none B
				return none, err
			}
			return w.Map(c, in)
		},
		NewWorker: worker,
	}, nil
}
