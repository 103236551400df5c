package graph

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph/internal/host"
)

// Strict ends a run that would otherwise go on with less than it was meant to have, see [Env.Degraded]: at the start
// where it is known then, else when it happens.
func Strict() PipelineOption { return func(p *Pipeline) { p.strict = true } }

// ErrDegraded says that a strict run was to go on with less.
var ErrDegraded = errors.New("not as it should be")

// Degraded tells that the stage goes on with less than it was meant to have, such as memory or instructions of the
// processor, and what that costs. The line goes to the report's warnings; in a run with [Strict] it is an error.
//
// What is wrong with the data, and settings that change nothing, are warnings and not this: the stream is as asked for.
func (e *Env) Degraded(line string) {
	if e.degraded != nil {
		e.degraded(line)
	}
}

// degraded tells of a stage, or "", that goes on with less.
func (r *Run) degraded(stage, line string) {
	err := &StageError{Pipeline: r.p.name, Stage: stage, Worker: -1, Op: "strict", Err: fmt.Errorf("%w: %s", ErrDegraded, line)}
	if stage != "" {
		line = fmt.Sprintf("stage %q: %s", stage, line)
	}
	r.warn(line)
	if !r.p.strict {
		return
	}
	r.mu.Lock()
	first := r.lapse == nil
	if first {
		r.lapse = err
	}
	open := r.opened
	r.mu.Unlock()
	if first && open {
		r.eng.End(err)
	}
}

// lapsed is what a strict run must not start with.
func (r *Run) lapsed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lapse == nil {
		return nil
	}
	return r.lapse
}

// opens ends the opening: from now on what a strict run lacks ends it at once.
func (r *Run) opens(b *builder) error {
	if err := b.plan(); err != nil {
		return err
	}
	r.mu.Lock()
	r.opened = true
	r.mu.Unlock()
	return r.lapsed()
}

// fewCores tells that the container leaves less than one core.
func (r *Run) fewCores() {
	if q, ok := host.Quota(); ok && q < 1 {
		r.degraded("", fmt.Sprintf("the container leaves %.2g of a core: whatever is computed takes %.2g times as long", q, 1/q))
	}
}
