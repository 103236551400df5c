package main

import (
	"context"
	"errors"
	"flag"
	"runtime/debug"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// pass is the first of several passes over what was recorded: it is over when so many items have left the pipeline.
// drained says that whoever takes them counts them; else the run is looked at now and then.
type pass struct {
	items   int64
	drained func() // set by passes
}

// lookEvery is how often a sink is asked whether its first pass is over.
const lookEvery = 2 * time.Millisecond

// marks are the snapshots of a measurement.
type marks struct {
	mu               sync.Mutex
	first, warm, end graph.Snapshot
}

func (m *marks) set(s *graph.Snapshot, run *graph.Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Pipeline == "" {
		*s = run.Snapshot()
	}
}

// measure runs a pipeline for the lab's time. drive takes what comes out, nil where the pipeline has a sink. A pipeline
// that ends before that is measured as far as it went.
func (l *lab) measure(p *graph.Pipeline, drive func(*graph.Run) error) (tune.Trial, error) {
	_, t, err := l.passes(p, nil, drive)
	return t, err
}

// passes is measure with a first pass, which is measured apart: until it is over, or half of the time.
func (l *lab) passes(p *graph.Pipeline, first *pass, drive func(*graph.Run) error) (cold tune.First, t tune.Trial, err error) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	p.With(graph.EstimateMemory(nil))
	if first != nil {
		debug.FreeOSMemory() // what runs before have touched, and what pools have kept
	}
	run, err := p.Start(ctx)
	if err != nil {
		return cold, t, err
	}
	m := &marks{}
	after := func(share float64, f func()) *time.Timer {
		return time.AfterFunc(time.Duration(l.seconds*share*float64(time.Second)), f)
	}
	timers := []*time.Timer{after(warmShare, func() { m.set(&m.warm, run) }), after(1, func() {
		m.set(&m.end, run)
		cancel(errEnough)
	})}
	done := func() {}
	if first != nil {
		timers = append(timers, after(0.5, func() { m.set(&m.first, run) }))
		if first.drained = func() { m.set(&m.first, run) }; drive == nil {
			done = l.look(m, run, first.items)
		}
	}
	if drive != nil {
		err = drive(run)
	}
	if werr := run.Wait(); err == nil {
		err = werr
	}
	done()
	for _, x := range timers {
		x.Stop()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.ctx.Err() != nil {
		return cold, t, errInterrupted
	}
	if err != nil && !errors.Is(err, errEnough) {
		return cold, t, err
	}
	if m.end.Pipeline == "" {
		m.end = run.Snapshot()
	}
	cold = tune.FirstOf(m.first)
	if m.first.Totals.Elapsed > m.warm.Totals.Elapsed && m.first.Totals.Samples < m.end.Totals.Samples {
		m.warm = m.first
	}
	return cold, tune.Between(m.warm, m.end), nil
}

// look asks a run whether its sink has had so many items; what it gives ends that.
func (l *lab) look(m *marks, run *graph.Run, items int64) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			s := run.Snapshot()
			m.mu.Lock()
			if m.first.Pipeline == "" && s.Stages[len(s.Stages)-1].ItemsIn >= items {
				m.first = s
			}
			known := m.first.Pipeline != ""
			m.mu.Unlock()
			if known {
				return
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// drain takes everything, and tells when the first pass is over.
func drain[T any](out *graph.Out[T], first *pass) func(*graph.Run) error {
	return func(run *graph.Run) error {
		n := int64(0)
		for _, err := range out.All(run) {
			if err != nil {
				return err
			}
			if n++; first != nil && n == first.items {
				first.drained()
			}
		}
		return nil
	}
}

// alone measures one stage on recorded inputs, the first pass over them and those after it. A stage that reads files
// itself finds them cold.
func (l *lab) alone(x graph.OutlineStage, i int, rec *tape, c *tune.Ceilings) error {
	first, feed := &pass{items: int64(rec.items)}, rec.endless
	if x.Role != "sink" {
		first.items = max(1, int64(float64(rec.items)*c.Profile.Stages[i].Out))
		if roots, _ := l.paths(x); len(roots) > 0 {
			if why := l.evict(x); why != "" {
				c.Why[x.ID+" cold"] = why
			}
		}
	}
	if c.Caches[x.ID] {
		feed = rec.each
	}
	if x.Role != "sink" {
		cold, t, err := l.upto(x.ID, feed, first, graph.Forever)
		c.Alone[i] = c.Profile.AtSink(x.ID, t.Items)
		cold.Rate = c.Profile.AtSink(x.ID, cold.Items)
		c.AloneFirst[i] = cold
		return err
	}
	o := l.options(nil)
	o.Feed = feed
	s, err := l.load(o)
	if err != nil {
		return err
	}
	cold, t, err := l.passes(s.Pipeline, first, nil)
	c.Alone[i] = t.Items * c.Profile.Samples
	cold.Rate = cold.Items * c.Profile.Samples
	c.AloneFirst[i] = cold
	return err
}

// halfMinute is how long each measurement may take for all of them to take half a minute, and 3 seconds at most.
func halfMinute(o graph.Outline) float64 {
	runs := 5.0 // the source cold and warm, the whole and its first epoch, all before the sink
	for _, s := range o.Stages {
		if s.Role != "source" {
			runs += 1.5 // what comes to it, for half of the time, and the stage alone
		}
	}
	return min(3, 30/runs)
}

// given says whether a flag stands on the command line.
func given(f *flags, name string) (found bool) {
	f.Visit(func(x *flag.Flag) { found = found || x.Name == name })
	return found
}
