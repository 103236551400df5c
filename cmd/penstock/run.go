package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
)

// runOptions are the options of run.
type runOptions struct {
	set, reports           texts
	batches, warmup        int
	seconds                float64
	sync, noFuse, noDigest bool
	quarantine             string
	state                  string
	every                  int
	resume, force          bool
}

// Options of later work, refused by name.
var laterRun = []string{"strict", "root", "trace", "listen", "rank", "world", "html"}

func (a *app) run(args []string) int {
	var o runOptions
	f := newFlags("run", laterRun...)
	f.Var(&o.set, "set", "")
	f.Var(&o.reports, "report", "")
	f.IntVar(&o.batches, "batches", 0, "")
	f.Float64Var(&o.seconds, "seconds", 0, "")
	f.IntVar(&o.warmup, "warmup", 0, "")
	f.BoolVar(&o.sync, "sync", false, "")
	f.BoolVar(&o.noFuse, "no-fuse", false, "")
	f.BoolVar(&o.noDigest, "no-digest", false, "")
	f.StringVar(&o.quarantine, "quarantine", "", "")
	f.StringVar(&o.state, "state", "", "")
	f.IntVar(&o.every, "every", defaultEvery, "")
	f.BoolVar(&o.resume, "resume", false, "")
	f.BoolVar(&o.force, "force", false, "")
	rest, code, done := a.begin(f, args)
	if done {
		return code
	}
	if len(rest) != 1 {
		return a.usage("run", fmt.Sprintf("wanted one spec, got %d", len(rest)))
	}
	if err := o.check(f); err != nil {
		return a.usage("run", err.Error())
	}
	s, d := spec.Load(rest[0], a.in, a.catalog, spec.Options{Set: o.set})
	for _, x := range d {
		fmt.Fprintln(a.err, x)
	}
	if s == nil {
		return exitUsage
	}
	o.apply(s.Pipeline)
	return a.execute(s, o)
}

func (o *runOptions) check(f *flags) error {
	given := f.given()
	switch {
	case given["batches"] && o.batches < 1:
		return fmt.Errorf("--batches must be at least 1, got %d", o.batches)
	case given["seconds"] && !(o.seconds > 0 && o.seconds < 1e9):
		return fmt.Errorf("--seconds must be more than 0 and less than 1e9, got %g", o.seconds)
	case o.warmup < 0:
		return fmt.Errorf("--warmup must be at least 0, got %d", o.warmup)
	case o.every < 1:
		return fmt.Errorf("--every must be at least 1, got %d", o.every)
	case o.state == "" && given["every"]:
		return errors.New("--every needs --state FILE")
	case o.state == "" && o.resume:
		return errors.New("--resume needs --state FILE")
	case o.force && !o.resume:
		return errors.New("--force needs --resume")
	}
	for _, r := range o.reports {
		if err := checkReport(r); err != nil {
			return err
		}
	}
	return errors.Join(checkTarget("--quarantine", o.quarantine), checkTarget("--state", o.state))
}

func (o *runOptions) apply(p *graph.Pipeline) {
	p.With(graph.Batches(o.batches), graph.Warmup(o.warmup))
	if o.sync {
		p.With(graph.Sync())
	}
	if o.noFuse {
		p.With(graph.NoFuse())
	}
	if o.noDigest {
		p.With(graph.NoDigest())
	}
}

var errInterrupted = errors.New("interrupted")

// execute runs a pipeline to its end, whatever ends it, and reports.
func (a *app) execute(s *spec.Spec, o runOptions) int {
	con := &console{w: a.err}
	a.err = con
	keeper, err := a.keepState(s.Pipeline, &o)
	if err != nil {
		return a.usage("run", err.Error())
	}
	skips := &skipLog{err: a.err}
	if o.quarantine != "" {
		if skips.file, err = openQuarantine(o.quarantine); err != nil {
			return a.usage("run", "--quarantine: "+err.Error())
		}
	}
	s.Pipeline.With(graph.OnSkip(skips.take))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	g := &guard{err: a.err, cancel: cancel}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { g.watch(a.signals, stop) })
	limitMemory(0)
	run, err := s.Pipeline.Start(ctx)
	if err == nil {
		limitMemory(s.Memory)
		g.set(run)
		if keeper != nil {
			keeper.attach(run)
		}
		if o.seconds > 0 {
			t := time.AfterFunc(time.Duration(o.seconds*float64(time.Second)), run.Stop)
			defer t.Stop()
		}
		wg.Go(func() { a.live(con, run, stop) })
		err = run.Wait()
	}
	close(stop)
	wg.Wait()
	code := g.code()
	failed := func(err error, with int) {
		fmt.Fprintf(a.err, "penstock: %v\n", err)
		if code == exitDone {
			code = with
		}
	}
	if err != nil && !(code != exitDone && ours(err)) {
		with := exitFailed
		if errors.Is(err, graph.ErrState) {
			with = exitUsage
		}
		failed(err, with)
	}
	if err := skips.end(); err != nil {
		failed(fmt.Errorf("--quarantine %q is not complete: %w", o.quarantine, err), exitFailed)
	}
	if run == nil {
		return code
	}
	if keeper != nil {
		if err := keeper.end(); err != nil {
			failed(err, exitFailed)
		}
	}
	snapshot := run.Snapshot()
	snapshot.Spec.Text, snapshot.Spec.Overrides = s.Text, s.Overrides
	fmt.Fprint(a.out, report.Table(snapshot))
	for _, file := range o.reports {
		if err := writeReport(file, snapshot); err != nil {
			failed(fmt.Errorf("report %q: %w", file, err), exitFailed)
		}
	}
	return code
}

// ours says that an error only repeats that the run was interrupted.
func ours(err error) bool {
	return errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled)
}

// guard turns signals into the end of a run: the first interrupt stops the sources and lets what is in flight be
// delivered; a second one, or a request to terminate, drops it.
type guard struct {
	err    io.Writer
	cancel context.CancelCauseFunc

	mu  sync.Mutex
	run *graph.Run
	got os.Signal
}

func (g *guard) watch(signals <-chan os.Signal, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case sig := <-signals:
			g.take(sig)
		}
	}
}

func (g *guard) take(sig os.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	again := g.got != nil
	g.got = sig
	if sig == syscall.SIGTERM || again || g.run == nil {
		fmt.Fprintln(g.err, "penstock: stopping; what is in flight is dropped")
		g.cancel(errInterrupted)
		return
	}
	fmt.Fprintln(g.err, "penstock: stopping; what is in flight is still delivered, interrupt again to drop it")
	g.run.Stop()
}

// set hands the run over; an interrupt that came before it ended the start already.
func (g *guard) set(run *graph.Run) {
	g.mu.Lock()
	g.run = run
	g.mu.Unlock()
}

func (g *guard) code() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch g.got {
	case nil:
		return exitDone
	case syscall.SIGTERM:
		return exitTerminated
	}
	return exitInterrupt
}

// live writes a line of progress from time to time.
func (a *app) live(con *console, run *graph.Run, stop <-chan struct{}) {
	tick := time.NewTicker(a.pulse)
	defer tick.Stop()
	before := run.Snapshot()
	for {
		select {
		case <-stop:
			con.wipe()
			return
		case <-tick.C:
			now := run.Snapshot()
			line := report.LiveSince(before, now)
			before = now
			if a.terminal {
				con.draw(line)
			} else {
				fmt.Fprintln(con, line)
			}
		}
	}
}
