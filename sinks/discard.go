package sinks

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var discardMeta = registry.Meta{
	Name: "discard", Summary: "Takes everything and does nothing: shows how fast the pipeline can be.",
	Example: "discard: {}",
}

var (
	_ = kinds.Add(registry.Sink[Discard[*item.Sample]](discardMeta, (*Discard[*item.Sample]).Bind))
	_ = kinds.Add(registry.Sink[Discard[*item.Batch]](discardMeta, (*Discard[*item.Batch]).Bind))
)

// Discard takes items and does nothing with them. With it the sink always waits: the report then shows the pipeline's
// own rate.
type Discard[T any] struct{}

// Bind names the fields; there are none.
func (*Discard[T]) Bind(*registry.Fields) {}

// Kind is the word of a spec.
func (Discard[T]) Kind() string { return discardMeta.Name }

// Traits says that it may be anywhere what it does not look at.
func (Discard[T]) Traits() graph.Traits { return graph.Traits{Device: true} }

// Open makes the consumer.
func (Discard[T]) Open(context.Context, *graph.Env) (graph.Consumer[T], error) {
	return graph.Consumer[T]{Take: func(*graph.Call, T) error { return nil }}, nil
}
