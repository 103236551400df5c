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
//
// The step of a batch that lies on a device runs on that device's stream, after the batch's copy, and the host runs at
// most one step ahead of it: as training programs do, whose host thread launches the work of a step while the device is
// still at the one before. Then what the host waits for says little, and the report has the device's own idle time.
//
// Launch is how long the host thread computes for each step, as the launches of a training loop do; by default not at
// all. A step begins with it, and is over when both are. The thread needs a processor for so long: where pipeline and
// loop compete for the cores it is late, and [graph.SinkStats].Launches says by how much. The kind's load stays waiting.
type Accelerator[T any] struct {
	Step   graph.Time
	Launch graph.Time
}

// Bind names the fields.
func (a *Accelerator[T]) Bind(f *registry.Fields) {
	f.Time(&a.Step, "step", graph.Fixed(30*time.Millisecond), "how long a step takes, fixed or drawn",
		registry.Over(time.Duration(0)))
	f.Time(&a.Launch, "launch", graph.Time{}, "how long the host thread computes for each step, fixed or drawn; the report tells how late it was")
}

// Check refuses settings that are out of range.
func (a Accelerator[T]) Check() error { return registry.Check(&a, (*Accelerator[T]).Bind) }

// Kind is the word of a spec.
func (Accelerator[T]) Kind() string { return acceleratorMeta.Name }

// Load is waiting.
func (Accelerator[T]) Load() graph.Load { return graph.Wait }

// Traits says that it takes batches on a device.
func (Accelerator[T]) Traits() graph.Traits { return graph.Traits{Device: true} }

// Emulated says that the device is not there.
func (Accelerator[T]) Emulated() bool { return true }

// Open makes the consumer.
func (a Accelerator[T]) Open(_ context.Context, env *graph.Env) (graph.Consumer[T], error) {
	a = registry.Filled(a, (*Accelerator[T]).Bind)
	s := &steps{env: env}
	if a.Launch != (graph.Time{}) {
		s.launches = newLauncher(s.pass)
	}
	return graph.Consumer[T]{Take: func(c *graph.Call, in T) error {
		d := a.Step.Draw(c.Rand())
		l := a.Launch.Draw(c.Rand())
		if b, ok := any(in).(*item.Batch); ok && b.Handle != nil {
			return s.onDevice(c.Context(), b.Handle, d, l)
		}
		return s.onHost(c.Context(), d, l)
	}, Close: s.close}, nil
}

// steps are those of one accelerator.
type steps struct {
	env      *graph.Env
	timer    *time.Timer
	launches *launcher       // nil: the host thread computes nothing
	last     item.DeviceMark // end of the step that was launched last
}

// onHost lets the time of a step pass, the launch in it.
func (s *steps) onHost(ctx context.Context, step, launch time.Duration) error {
	took, err := s.launch(ctx, launch)
	if err != nil || s.launches != nil && took >= step {
		return err
	}
	return s.pass(ctx, step-took)
}

// launch computes for one step, and gives the time that has passed.
func (s *steps) launch(ctx context.Context, d time.Duration) (time.Duration, error) {
	if s.launches == nil {
		return 0, nil
	}
	late, err := s.launches.compute(ctx, d)
	if err != nil {
		return 0, err
	}
	s.env.Launched(d, late)
	return d + late, nil
}

// pass lets time pass.
func (s *steps) pass(ctx context.Context, d time.Duration) error {
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
	select {
	case <-s.timer.C:
		return nil
	case <-ctx.Done():
		s.timer.Stop()
		return context.Cause(ctx)
	}
}

// onDevice puts a step on the device's stream, and waits for the one before. The stream is the step's until the launch
// is over, for its last work comes only then.
func (s *steps) onDevice(ctx context.Context, h item.DeviceHandle, step, launch time.Duration) error {
	if err := h.Enter(0); err != nil {
		return err
	}
	if err := h.Busy(step); err != nil {
		return err
	}
	if _, err := s.launch(ctx, launch); err != nil {
		return err
	}
	m, err := h.Leave()
	if err != nil {
		return err
	}
	before := s.last
	s.last = m
	if before == nil {
		return nil
	}
	return before.Wait()
}

// close waits for the last step.
func (s *steps) close() error {
	if s.last == nil {
		return nil
	}
	return s.last.Wait()
}
