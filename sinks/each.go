package sinks

import (
	"context"
	"errors"

	"github.com/penstock-go/penstock/graph"
)

// Each is a sink that calls f with each item, one at a time and in order, on one goroutine. An error ends the run and is
// its root cause. The item is released when f returns: copy what must stay, or Keep the batch.
func Each[T any](f func(ctx context.Context, in T) error) graph.Sink[T] { return each[T](f) }

type each[T any] func(context.Context, T) error

func (each[T]) Kind() string { return "each" }

func (f each[T]) Open(context.Context, *graph.Env) (graph.Consumer[T], error) {
	if f == nil {
		return graph.Consumer[T]{}, errors.New("sinks.Each of nil")
	}
	return graph.Consumer[T]{Take: func(c *graph.Call, in T) error { return f(c.Context(), in) }}, nil
}
