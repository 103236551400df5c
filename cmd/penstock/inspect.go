package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
)

func (a *app) inspect(args []string) int {
	f := newFlags("inspect")
	var set texts
	at := f.String("at", "", "")
	root := f.String("root", "", "")
	f.Var(&set, "set", "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case len(rest) != 1:
		return a.usage("inspect", fmt.Sprintf("wanted one spec, got %d", len(rest)))
	}
	if err := checkRoot(*root); err != nil {
		return a.usage("inspect", err.Error())
	}
	s, d := spec.Load(rest[0], a.in, a.catalog, spec.Options{Set: set, Upto: *at, Root: *root})
	for _, x := range d {
		fmt.Fprintln(a.err, x)
	}
	if s == nil {
		return exitUsage
	}
	if *at == "" {
		return a.inspectMemory(s)
	}
	s.Pipeline.With(graph.Sync(), graph.NoFuse())
	if in, ok := registry.PortOf[*item.Sample](s.Port); ok {
		return look(a, s, *at, in, describeSample)
	}
	in, _ := registry.PortOf[*item.Batch](s.Port)
	return look(a, s, *at, in, describeBatch)
}

// guarded is a context that a signal ends, until close is called.
func (a *app) guarded() (ctx context.Context, g *guard, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	g = &guard{err: a.err, cancel: cancel}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { g.watch(a.signals, stop) })
	return ctx, g, func() {
		close(stop)
		wg.Wait()
		cancel(nil)
	}
}

var errEstimated = errors.New("the estimate is made")

// inspectMemory runs the pipeline until its first deliveries tell how much memory it will hold.
func (a *app) inspectMemory(s *spec.Spec) int {
	ctx, g, end := a.guarded()
	defer end()
	var found *graph.MemoryEstimate
	ctx, cancel := context.WithCancelCause(ctx)
	s.Pipeline.With(graph.EstimateMemory(func(e graph.MemoryEstimate) {
		found = &e
		cancel(errEstimated)
	}))
	limitMemory(s.Memory)
	run, err := s.Pipeline.Start(ctx)
	if err != nil {
		return a.fail(err)
	}
	err = run.Wait()
	for _, w := range run.Snapshot().Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", plain(w))
	}
	t := run.Snapshot()
	switch code := g.code(); {
	case code != exitDone:
		return code
	case found != nil:
		fmt.Fprintf(a.out, "%s", report.Estimate(*found))
		return exitDone
	case err != nil:
		return a.fail(err)
	case !t.Memory.BytesKnown:
		return a.fail(errors.New("some items do not tell their size, so their memory cannot be estimated"))
	}
	return a.fail(fmt.Errorf("the pipeline was over after %d samples, before its memory could be estimated", t.Totals.Samples))
}

// look runs the pipeline in one goroutine until the first item has come.
func look[T any](a *app, s *spec.Spec, at string, in graph.Port[T], show func(io.Writer, T)) int {
	out := graph.Output(in, freeID(at))
	ctx, g, end := a.guarded()
	defer end()
	limitMemory(s.Memory)
	run, err := s.Pipeline.Start(ctx)
	if err != nil {
		return a.fail(err)
	}
	found := false
	for x, ierr := range out.All(run) {
		if err = ierr; err == nil {
			found = true
			schema, _ := s.Pipeline.Schema(at)
			fmt.Fprintf(a.out, "stage %q makes %s\nschema: %v\n", at, s.Port.Carries, schema)
			show(a.out, x)
		}
		break
	}
	if werr := run.Wait(); err == nil {
		err = werr
	}
	for _, w := range run.Snapshot().Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", plain(w))
	}
	switch code := g.code(); {
	case code != exitDone:
		return code
	case err != nil:
		return a.fail(err)
	case !found:
		return a.fail(fmt.Errorf("stage %q makes nothing: %w", at, graph.ErrEmpty))
	}
	return exitDone
}

// freeID is an id that no stage of a spec bears, whose ids end at 64 characters.
func freeID(at string) string { return "inspect_" + strings.Repeat("x", 64) + "_" + at }
