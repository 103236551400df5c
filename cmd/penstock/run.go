package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/graph/tune"
)

// runOptions are the options of run.
type runOptions struct {
	set, reports           texts
	batches, warmup        int
	seconds                float64
	sync, noFuse, noDigest bool
	noAuto                 bool
	quarantine, root       string
	state                  string
	every                  int
	resume, force, strict  bool
	watchdog               time.Duration
	trace, listen          string
}

// defaultWatchdog is generous: most runs that stand still for so long never go on.
const defaultWatchdog = 2 * time.Minute

func (a *app) run(args []string) int {
	var o runOptions
	f := newFlags("run")
	f.Var(&o.set, "set", "")
	f.Var(&o.reports, "report", "")
	f.IntVar(&o.batches, "batches", 0, "")
	f.Float64Var(&o.seconds, "seconds", 0, "")
	f.IntVar(&o.warmup, "warmup", 0, "")
	f.BoolVar(&o.sync, "sync", false, "")
	f.BoolVar(&o.noAuto, "no-auto", false, "")
	f.BoolVar(&o.noFuse, "no-fuse", false, "")
	f.BoolVar(&o.noDigest, "no-digest", false, "")
	f.StringVar(&o.quarantine, "quarantine", "", "")
	f.StringVar(&o.root, "root", "", "")
	f.StringVar(&o.state, "state", "", "")
	f.IntVar(&o.every, "every", defaultEvery, "")
	f.BoolVar(&o.resume, "resume", false, "")
	f.DurationVar(&o.watchdog, "watchdog", defaultWatchdog, "")
	f.BoolVar(&o.strict, "strict", false, "")
	f.BoolVar(&o.force, "force", false, "")
	f.StringVar(&o.trace, "trace", "", "")
	f.StringVar(&o.listen, "listen", "", "")
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
	s, d := spec.Load(rest[0], a.in, a.catalog, spec.Options{Set: o.set, Root: o.root})
	for _, x := range d {
		fmt.Fprintln(a.err, x)
	}
	if s == nil {
		return exitUsage
	}
	if err := a.placeInJob(s); err != nil {
		return a.usage("run", err.Error())
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
	case o.watchdog < 0:
		return fmt.Errorf("--watchdog must be at least 0s, got %v", o.watchdog)
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
	return errors.Join(checkRoot(o.root), checkTarget("--quarantine", o.quarantine), checkTarget("--state", o.state), checkTrace(o.trace))
}

func (o *runOptions) apply(p *graph.Pipeline) {
	p.With(graph.Batches(o.batches), graph.Warmup(o.warmup), graph.KeepTimeline())
	if o.sync {
		p.With(graph.Sync())
	}
	if !o.noAuto {
		p.With(graph.Tuned(tune.Auto))
	}
	if o.strict {
		p.With(graph.Strict())
	}
	if o.noFuse {
		p.With(graph.NoFuse())
	}
	if o.noDigest {
		p.With(graph.NoDigest())
	}
	if o.trace != "" {
		p.With(graph.KeepTrace(traceSpans))
	}
}

var errInterrupted = errors.New("interrupted")

// job is one run of a pipeline and all that goes with it.
type job struct {
	a      *app
	s      *spec.Spec
	o      *runOptions
	con    *console
	keeper *stateKeeper // nil: no state is kept
	skips  *skipLog
	guard  *guard
	site   *site // nil: nobody is served
	code   int
}

// execute runs a pipeline to its end, whatever ends it, and reports.
func (a *app) execute(s *spec.Spec, o runOptions) int {
	j := &job{a: a, s: s, o: &o, con: &console{w: a.err}}
	a.err = j.con
	if err := j.prepare(); err != nil {
		return a.usage("run", err.Error())
	}
	run, err := j.run()
	if j.code = j.guard.code(); err != nil && !(j.code != exitDone && ours(err)) {
		with := exitFailed
		if errors.Is(err, graph.ErrState) || errors.Is(err, errNoState) {
			with = exitUsage
		}
		j.failed(err, with)
	}
	if err := j.skips.end(); err != nil {
		j.failed(fmt.Errorf("--quarantine %q is not complete: %w", o.quarantine, err), exitFailed)
	}
	if run != nil {
		j.report(run)
	} else if j.site != nil {
		j.site.close()
	}
	return j.code
}

// prepare opens what the run writes while it goes on.
func (j *job) prepare() (err error) {
	if j.keeper, err = j.a.keepState(j.s.Pipeline, j.o); err != nil {
		return err
	}
	j.skips = &skipLog{err: j.con}
	if j.o.quarantine != "" {
		if j.skips.file, err = openQuarantine(j.o.quarantine); err != nil {
			return fmt.Errorf("--quarantine: %w", err)
		}
	}
	j.s.Pipeline.With(graph.OnSkip(j.skips.take), graph.Watchdog(j.o.watchdog, func(text string) {
		fmt.Fprintf(j.con, "penstock: watchdog: %s\n", strings.TrimRight(text, "\n"))
	}))
	j.s.Pipeline.With(graph.EstimateMemory(func(e graph.MemoryEstimate) {
		fmt.Fprintf(j.con, "penstock: %s\n", report.EstimateLine(e))
	}))
	if j.o.listen != "" {
		if j.site, err = listen(j.o.listen); err != nil {
			return err
		}
		j.site.observe(j.s.Pipeline, j.s.Pipeline.Name())
		j.site.announce(j.con)
	}
	return nil
}

// run starts the pipeline and waits for its end. The run is nil if it did not start.
func (j *job) run() (*graph.Run, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	j.guard = &guard{err: j.con, cancel: cancel}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() { j.guard.watch(j.a.signals, stop) })
	limitMemory(0)
	run, err := j.s.Pipeline.Start(ctx)
	if err != nil {
		return nil, err
	}
	limitMemory(j.s.Memory)
	j.guard.set(run)
	if j.site != nil {
		j.site.set(func() graph.Snapshot { return j.snapshot(run) })
	}
	if err := j.keeper.attach(run); err != nil {
		cancel(err)
		_ = run.Wait()
		return run, err
	}
	if j.o.seconds > 0 {
		t := time.AfterFunc(time.Duration(j.o.seconds*float64(time.Second)), run.Stop)
		defer t.Stop()
	}
	wg.Go(func() { j.a.live(j.con, run, stop) })
	return run, run.Wait()
}

// failed tells an error; the first one that ends the run decides on the exit code, and an interrupt goes before all.
func (j *job) failed(err error, code int) {
	fmt.Fprintf(j.con, "penstock: %s\n", message(err))
	if j.code == exitDone {
		j.code = code
	}
}

// report writes all that is left of a run.
func (j *job) report(run *graph.Run) {
	if err := j.keeper.end(); err != nil {
		j.failed(err, exitFailed)
	}
	snapshot := j.snapshot(run)
	fmt.Fprint(j.a.out, report.Table(snapshot))
	for _, file := range j.o.reports {
		if err := writeReport(file, snapshot); err != nil {
			j.failed(fmt.Errorf("report %q: %w", file, err), exitFailed)
		}
	}
	if j.o.trace != "" {
		if err := writeTrace(j.o.trace, run.Trace()); err != nil {
			j.failed(fmt.Errorf("trace %q: %w", j.o.trace, err), exitFailed)
		}
	}
	if j.site != nil {
		j.site.end(snapshot, j.guard.code() == exitDone)
	}
}

// snapshot is where a run stands, with the spec that it is of.
func (j *job) snapshot(run *graph.Run) graph.Snapshot {
	s := run.Snapshot()
	s.Spec.Text, s.Spec.Overrides = j.s.Text, j.s.Overrides
	return s
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
