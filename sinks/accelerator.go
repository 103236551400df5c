package sinks

import (
	"context"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var acceleratorMeta = registry.Meta{
	Name: "accelerator", Summary: "Models a training step: is busy for a time with each batch.",
	Example: "accelerator: {step: 30ms}",
}

var (
	_ = kinds.Add(registry.Sink[Accelerator[*item.Sample]](acceleratorMeta, (*Accelerator[*item.Sample]).Bind))
	_ = kinds.Add(registry.Sink[Accelerator[*item.Batch]](acceleratorMeta, (*Accelerator[*item.Batch]).Bind))
)

// Accelerator models a device that trains: it is busy for Step with each item, without using the processor, and then
// asks for the next. Reports of a run with it say that they are emulated. A step ends early when the run does.
type Accelerator[T any] struct {
	Step graph.Time
}

// Bind names the fields.
func (a *Accelerator[T]) Bind(f *registry.Fields) {
	f.Time(&a.Step, "step", graph.Fixed(30*time.Millisecond), "how long a step takes, fixed or drawn",
		registry.Over(time.Duration(0)))
}

// Check refuses settings that are out of range.
func (a Accelerator[T]) Check() error { return registry.Check(&a, (*Accelerator[T]).Bind) }

// Kind is the word of a spec.
func (Accelerator[T]) Kind() string { return acceleratorMeta.Name }

// Load is waiting.
func (Accelerator[T]) Load() graph.Load { return graph.Wait }

// Emulated says that the device is not there.
func (Accelerator[T]) Emulated() bool { return true }

// Open makes the consumer.
func (a Accelerator[T]) Open(context.Context, *graph.Env) (graph.Consumer[T], error) {
	a = registry.Filled(a, (*Accelerator[T]).Bind)
	var timer *time.Timer
	return graph.Consumer[T]{Take: func(c *graph.Call, _ T) error {
		d := a.Step.Draw(c.Rand())
		if timer == nil {
			timer = time.NewTimer(d)
		} else {
			timer.Reset(d)
		}
		select {
		case <-timer.C:
			return nil
		case <-c.Context().Done():
			timer.Stop()
			return context.Cause(c.Context())
		}
	}}, nil
}
