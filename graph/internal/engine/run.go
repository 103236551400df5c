package engine

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Run owns the goroutines of one running pipeline.
type Run struct {
	// Watched: workers note their goroutines.
	Watched bool
	// Label, if set, is called on each goroutine of a stage when it begins.
	Label func(stage string, hand int)
	// Enter, if set, makes what is called with each state that a worker enters, and with -1 when it leaves.
	Enter func(stage string) func(meter.State)
	// Sample, if set, is called by the sink now and then, between two items, and says when it wants to be called again.
	Sample func(now int64) (next int64)

	Clock *meter.Clock
	// Wrap makes the error of a panic that concerns no item.
	Wrap   func(stage string, err error) error
	ctx    context.Context
	cancel context.CancelCauseFunc
	undo   func() bool
	begun  func() // if set, is called by each sink at its first delivery
	wg     sync.WaitGroup

	mu      sync.Mutex
	aborts  []func() // nil once they were called
	left    []func()
	drains  []func()
	ended   bool // aborts were called: what comes later is called at once
	dry     bool // drains were
	err     error
	over    atomic.Bool
	drained atomic.Bool
}

// NewRun makes a run that ends when ctx does.
func NewRun(ctx context.Context, clock *meter.Clock) *Run {
	r := &Run{Clock: clock}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.undo = context.AfterFunc(ctx, func() { r.End(context.Cause(ctx)) })
	return r
}

// Watch is called by a worker on its goroutine before its first item, for those who look on.
func (r *Run) Watch(st *meter.Stage, m *meter.Worker) {
	if r.Watched {
		m.In(goroutine())
	}
	if r.Enter != nil {
		m.Enter = r.Enter(st.ID)
	}
}

// goroutine is the number of the calling goroutine, as it stands at the head of its stack.
func goroutine() int64 {
	var buf [64]byte
	text, _ := bytes.CutPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	n, _, _ := bytes.Cut(text, []byte(" "))
	id, _ := strconv.ParseInt(string(n), 10, 64)
	return id
}

// Context is what stages see: it ends with the run.
func (r *Run) Context() context.Context { return r.ctx }

// Go starts a goroutine that Wait joins.
func (r *Run) Go(f func()) { r.wg.Go(f) }

// OnEnd adds what drops everything in flight, and OnDrain what stops the sources. A run may end while it is still being
// put together; then f is called at once.
func (r *Run) OnEnd(f func())   { r.hook(&r.aborts, &r.ended, f) }
func (r *Run) OnDrain(f func()) { r.hook(&r.drains, &r.dry, f) }

func (r *Run) hook(list *[]func(), done *bool, f func()) {
	r.mu.Lock()
	late := *done
	if !late {
		*list = append(*list, f)
	}
	r.mu.Unlock()
	if late {
		f()
	}
}

func (r *Run) call(list *[]func(), done *bool) {
	r.mu.Lock()
	fs := *list
	*list, *done = nil, true
	r.mu.Unlock()
	for _, f := range fs {
		f()
	}
}

// Left adds what drops items that a run without goroutines has under way, and Clear calls it: nobody pulls any more.
func (r *Run) Left(f func()) { r.left = append(r.left, f) }

// Clear drops what is left, the stages nearest to the sink first.
func (r *Run) Clear() {
	for len(r.left) > 0 {
		f := r.left[len(r.left)-1]
		r.left = r.left[:len(r.left)-1]
		f()
	}
}

// End ends the run: items in flight are dropped and err, if not nil, is what Wait returns. Only the first call counts.
func (r *Run) End(err error) {
	r.mu.Lock()
	first := !r.over.Swap(true) // with the error: whoever comes second finds it
	if first && err != nil {
		r.err = err
	}
	r.mu.Unlock()
	if !first {
		return
	}
	r.cancel(err)
	r.call(&r.aborts, &r.ended)
}

// Drain stops the sources; what is in flight is still delivered.
func (r *Run) Drain() {
	if r.drained.Swap(true) {
		return
	}
	r.call(&r.drains, &r.dry)
}

// Over says that the run has ended.
func (r *Run) Over() bool { return r.over.Load() }

// Wait joins every goroutine and gives the root cause.
func (r *Run) Wait() error {
	r.wg.Wait()
	r.undo()
	return r.Err()
}

// Err is the root cause so far.
func (r *Run) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Cancelled asks the run's context itself: what it triggers runs later and elsewhere.
func (r *Run) Cancelled() error {
	if r.ctx.Err() == nil {
		return nil
	}
	return context.Cause(r.ctx)
}

// failed counts an item whose function gave an error. In a run that has been broken off it says no more than that, and
// the item counts as under way.
func (r *Run) failed(m *meter.Stage) {
	if r.Cancelled() != nil {
		m.Lost.Add(1)
		return
	}
	m.Failed.Add(1)
}

// Pause waits for d. False: the run has ended.
func (r *Run) Pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// Loose starts a goroutine that Wait does not join: a call that may never return.
func (r *Run) Loose(f func()) { go f() }
