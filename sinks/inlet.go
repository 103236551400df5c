package sinks

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph"
)

// Inlet is a sink that sends to a channel: of anything that has the shape of a sink of go-streams
// (github.com/reugn/go-streams), without that module. as makes what is sent; its error ends the run. The receiver keeps
// what it gets for as long as it likes, so as must copy what the pipeline takes back: samples and batches, and whatever
// has a Release method. For other types as may be nil, which sends the item itself.
//
// Items are sent one at a time and in order; while the receiver is busy, the sink is. At the end of the run, whatever
// ended it, the channel is closed and AwaitCompletion called, so a run ends when its receiver has. The counts of the
// report are of items that were sent.
func Inlet[T any](to interface {
	In() chan<- any
	AwaitCompletion()
}, as func(T) (any, error)) graph.Sink[T] {
	return inlet[T]{to, as}
}

type inlet[T any] struct {
	to interface {
		In() chan<- any
		AwaitCompletion()
	}
	as func(T) (any, error)
}

// String keeps addresses out of the pipeline's description.
func (i inlet[T]) String() string { return fmt.Sprintf("{%T}", i.to) }

// Kind is the name in reports.
func (inlet[T]) Kind() string { return "inlet" }

// Load is waiting for the receiver.
func (inlet[T]) Load() graph.Load { return graph.Wait }

// Check refuses a sink that would send what the pipeline takes back.
func (i inlet[T]) Check() error {
	var item T
	if _, recycled := any(item).(graph.Releaser); recycled && i.as == nil {
		return fmt.Errorf("inlet: items of type %T are taken back when they have been sent; give a function that copies them", item)
	}
	if i.to == nil {
		return errors.New("sinks.Inlet of nil")
	}
	return nil
}

// Open makes the consumer.
func (i inlet[T]) Open(context.Context, *graph.Env) (graph.Consumer[T], error) {
	if err := i.Check(); err != nil {
		return graph.Consumer[T]{}, err
	}
	in := i.to.In()
	if in == nil {
		return graph.Consumer[T]{}, fmt.Errorf("the channel of %T is nil", i.to)
	}
	return graph.Consumer[T]{
		Take: func(c *graph.Call, v T) (err error) {
			out := any(v)
			if i.as != nil {
				if out, err = i.as(v); err != nil {
					return err
				}
			}
			select {
			case in <- out:
				return nil
			case <-c.Context().Done():
				return context.Cause(c.Context())
			}
		},
		Close: func() error {
			close(in)
			i.to.AwaitCompletion()
			return nil
		},
	}, nil
}
