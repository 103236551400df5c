package stages

import (
	"context"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var delayMeta = registry.Meta{
	Name: "delay", Summary: "Holds every item up for a time, waiting or computing. For experiments.",
	Example: "delay: {time: 5ms, mode: spin}",
}

var (
	_ = kinds.Add(registry.Stage[Delay[*item.Sample]](delayMeta, (*Delay[*item.Sample]).Bind))
	_ = kinds.Add(registry.Stage[Delay[*item.Batch]](delayMeta, (*Delay[*item.Batch]).Bind))
)

// Delay holds every item up for Time and hands it on as it is: a planted slow stage. Mode "sleep" (the default) waits
// as a remote store does; mode "spin" keeps a core busy on the real clock, as decoding does, whether or not the core is
// shared. Where the clock stands still while one computes (testing/synctest), spin sleeps. Both end early, with the
// context's error, when the run does. Order and content do not matter to it; it takes any type.
type Delay[T any] struct {
	Time graph.Time
	Mode string
}

// Bind names the fields.
func (d *Delay[T]) Bind(f *registry.Fields) {
	f.Time(&d.Time, "time", graph.Fixed(time.Millisecond), "how long each item takes", registry.Over(time.Duration(0)))
	f.Choice(&d.Mode, "mode", "sleep", "sleep waits, spin keeps a core busy", "sleep", "spin")
}

// Check refuses settings that are out of range.
func (d Delay[T]) Check() error { return registry.Check(&d, (*Delay[T]).Bind) }

// Kind is the word of a spec.
func (Delay[T]) Kind() string { return delayMeta.Name }

// Load is waiting for sleep, computing for spin.
func (d Delay[T]) Load() graph.Load {
	if d.Mode == "spin" {
		return graph.CPU
	}
	return graph.Wait
}

// Traits says that items pass as they are.
func (Delay[T]) Traits() graph.Traits { return graph.Traits{Passes: true} }

// Schema is that of the input.
func (Delay[T]) Schema(in item.Schema) (item.Schema, error) { return in, nil }

// Open makes the transform. Each worker has a timer of its own.
func (d Delay[T]) Open(context.Context, *graph.Env) (graph.Transform[T, T], error) {
	d = registry.Filled(d, (*Delay[T]).Bind)
	return perWorker(func(context.Context) (graph.Transform[T, T], error) {
		var z sleeper
		pause := z.sleep
		if d.Mode == "spin" && clockMoves() {
			pause = spin
		}
		return graph.Transform[T, T]{Map: func(c *graph.Call, in T) (T, error) {
			return in, pause(c.Context(), d.Time.Draw(c.Rand()))
		}}, nil
	})
}

// clockMoves says whether time passes while the program computes.
func clockMoves() bool {
	start := time.Now()
	for range 1 << 16 {
		if time.Since(start) > 0 {
			return true
		}
	}
	return false
}

func spin(ctx context.Context, d time.Duration) error {
	done := ctx.Done()
	for start := time.Now(); time.Since(start) < d; {
		select {
		case <-done:
			return context.Cause(ctx)
		default:
		}
	}
	return context.Cause(ctx)
}

// sleeper sleeps with one timer that it uses again. It belongs to one worker.
type sleeper struct{ timer *time.Timer }

func (z *sleeper) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	if z.timer == nil {
		z.timer = time.NewTimer(d)
	} else {
		z.timer.Reset(d)
	}
	select {
	case <-z.timer.C:
		return nil
	case <-ctx.Done():
		z.timer.Stop()
		return context.Cause(ctx)
	}
}
