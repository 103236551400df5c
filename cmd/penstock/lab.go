package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/graph/tune"
)

// lab runs variants of one spec, each for a time, and measures them.
type lab struct {
	a       *app
	file    string
	dir     string
	text    []byte
	set     texts
	root    string
	seconds float64
	guard   *guard
	ctx     context.Context
	close   func()
}

// openLab reads the spec and says what is wrong with it. The lab is nil then.
func (a *app) openLab(file string, set texts, root string, seconds float64) (*lab, int) {
	l := &lab{a: a, file: file, set: set, root: root, seconds: seconds}
	if file != "-" {
		l.dir = filepath.Dir(file)
	}
	s, d := spec.Load(file, a.in, a.catalog, l.options(nil))
	for _, x := range d {
		fmt.Fprintln(a.err, x)
	}
	if s == nil {
		return nil, exitUsage
	}
	l.text = []byte(s.Text)
	a.err = &inTurn{w: a.err} // what a signal says comes from another goroutine
	ctx, cancel := context.WithCancelCause(context.Background())
	l.ctx, l.guard = ctx, &guard{err: a.err, cancel: cancel}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { l.guard.watch(a.signals, stop) })
	l.close = func() {
		close(stop)
		wg.Wait()
		cancel(nil)
	}
	limitMemory(s.Memory)
	return l, exitDone
}

// inTurn lets one write after the other through.
type inTurn struct {
	mu sync.Mutex
	w  io.Writer
}

func (t *inTurn) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(b)
}

func (l *lab) options(more []string) spec.Options {
	return spec.Options{Set: append(append([]string{}, l.set...), more...), Dir: l.dir, Root: l.root}
}

// load reads a variant of the spec.
func (l *lab) load(o spec.Options) (*spec.Spec, error) {
	s, d := spec.Parse(l.file, l.text, l.a.catalog, o)
	if s == nil {
		return nil, d.Err()
	}
	return s, nil
}

var errEnough = errors.New("measured long enough")

// warmShare is the part of a measurement that is left out at its beginning.
const warmShare = 0.2

// whole measures the pipeline as it is, with overrides.
func (l *lab) whole(more ...string) (tune.Trial, error) {
	s, err := l.load(l.options(more))
	if err != nil {
		return tune.Trial{}, err
	}
	s.Pipeline.With(graph.NoFuse(), graph.Epochs(graph.Forever), graph.KeepTimeline())
	t, err := l.measure(s.Pipeline, nil)
	t.Snapshot.Spec.Text, t.Snapshot.Spec.Overrides = s.Text, s.Overrides
	return t, err
}

// epoch measures the first epoch of the pipeline as it is, as far as it comes in the time.
func (l *lab) epoch() (tune.Trial, error) {
	s, err := l.load(l.options(nil))
	if err != nil {
		return tune.Trial{}, err
	}
	s.Pipeline.With(graph.NoFuse(), graph.Epochs(1))
	debug.FreeOSMemory()
	t, err := l.measure(s.Pipeline, nil)
	return t, err
}

// feeds stand in for stages.
type feeds map[string]func(*graph.Pipeline) registry.Port

// upto measures a pipeline that ends behind a stage; what comes out is dropped.
func (l *lab) upto(id string, feed feeds, first *pass, epochs int) (tune.First, tune.Trial, error) {
	o := l.options(nil)
	o.Upto, o.Feed = id, feed
	s, err := l.load(o)
	if err != nil {
		return tune.First{}, tune.Trial{}, err
	}
	s.Pipeline.With(graph.NoFuse(), graph.NoDigest(), graph.Epochs(epochs))
	if in, ok := registry.PortOf[*item.Sample](s.Port); ok {
		return l.passes(s.Pipeline, first, drain(graph.Output(in, freeID(id)), first))
	}
	in, _ := registry.PortOf[*item.Batch](s.Port)
	return l.passes(s.Pipeline, first, drain(graph.Output(in, freeID(id)), first))
}

// tape is what came out of a stage, to be handed out again: without end, or once an epoch, so that a cache meets it
// again.
type tape struct {
	items         int
	endless, each feeds
}

// record takes the first items behind a stage; nil: there are none, or they cannot be copied.
func (l *lab) record(id string) (*tape, error) {
	o := l.options(nil)
	o.Upto = id
	s, err := l.load(o)
	if err != nil {
		return nil, err
	}
	s.Pipeline.With(graph.NoFuse(), graph.NoDigest())
	schema, _ := s.Pipeline.Schema(id)
	if in, ok := registry.PortOf[*item.Sample](s.Port); ok {
		all, err := take(l, s.Pipeline, graph.Output(in, freeID(id)), mostSamples, copySample)
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return taped(id, recordedSamples(all, schema)), nil
	}
	in, _ := registry.PortOf[*item.Batch](s.Port)
	all, err := take(l, s.Pipeline, graph.Output(in, freeID(id)), mostBatches, copyBatch)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if all[0].Place != item.Host || all[0].Handle != nil {
		return nil, nil
	}
	return taped(id, recordedBatches(all, schema)), nil
}

// take copies the first items of a run, in half of the lab's time at most.
func take[T interface{ Bytes() int64 }](l *lab, p *graph.Pipeline, out *graph.Out[T], most int, keep func(T) T) (all []T, err error) {
	run, err := p.Start(l.ctx)
	if err != nil {
		return nil, err
	}
	began, bytes := time.Now(), int64(0)
	for x, ierr := range out.All(run) {
		if err = ierr; err != nil {
			break
		}
		all, bytes = append(all, keep(x)), bytes+x.Bytes()
		if len(all) == most || bytes > mostRecorded || time.Since(began).Seconds() > l.seconds/2 {
			break
		}
	}
	if werr := run.Wait(); err == nil {
		err = werr
	}
	if l.ctx.Err() != nil {
		err = errInterrupted
	}
	return all, err
}
