package graphtest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph"
)

// ErrInjected is what the suites inject.
var ErrInjected = errors.New("injected")

// Fault is something that happens at one call of a part. It counts the calls and what was opened. Its methods may be
// called from any goroutine.
type Fault struct {
	At int64 // the call, counted from 0; -1 is never
	// Do makes the fault: it returns an error, panics, or cancels a context and returns nil. On nil the call goes on.
	Do func() error

	calls, opened, closed atomic.Int64
	twice                 atomic.Bool
	forward               atomic.Bool // a source that is read forward: its calls are not in the order of its output
}

// Calls is how many calls there were.
func (f *Fault) Calls() int64 { return f.calls.Load() }

// Hit says whether the fault has happened.
func (f *Fault) Hit() bool { return f.At >= 0 && f.calls.Load() > f.At }

// Open is how many parts and workers were opened and not closed. It is -1 for good once one was closed twice.
func (f *Fault) Open() int64 {
	if f.twice.Load() {
		return -1
	}
	return f.opened.Load() - f.closed.Load()
}

func (f *Fault) call() error {
	if f.calls.Add(1)-1 == f.At && f.Do != nil {
		return f.Do()
	}
	return nil
}

// closing counts what is opened and sees that it is closed once.
func (f *Fault) closing(inner func() error) func() error {
	f.opened.Add(1)
	var done atomic.Bool
	return func() error {
		if done.Swap(true) {
			f.twice.Store(true)
		}
		f.closed.Add(1)
		if inner != nil {
			return inner()
		}
		return nil
	}
}

// Inject wraps a stage so that f happens before one of its calls; of a stage that groups, before a row is filled.
func Inject[A, B any](s graph.Stage[A, B], f *Fault) graph.Stage[A, B] { return injected[A, B]{s, f} }

type injected[A, B any] struct {
	inner graph.Stage[A, B]
	f     *Fault
}

// Kind is the name in reports.
func (s injected[A, B]) Kind() string { return "injected" }

// Load is that of the stage within.
func (s injected[A, B]) Load() graph.Load {
	if l, ok := s.inner.(graph.Loader); ok {
		return l.Load()
	}
	return graph.CPU
}

// Open opens the stage within.
func (s injected[A, B]) Open(ctx context.Context, env *graph.Env) (graph.Transform[A, B], error) {
	t, err := s.inner.Open(ctx, env)
	if err != nil {
		return t, err
	}
	return s.wrap(t), nil
}

func (s injected[A, B]) wrap(t graph.Transform[A, B]) graph.Transform[A, B] {
	f := s.f
	t.Close = f.closing(t.Close)
	if inner := t.NewWorker; inner != nil {
		t.NewWorker = func(ctx context.Context) (graph.Transform[A, B], error) {
			w, err := inner(ctx)
			if err != nil {
				return w, err
			}
			return s.wrap(w), nil
		}
	}
	if inner := t.Map; inner != nil {
		t.Map = func(c *graph.Call, in A) (out B, err error) {
			if err = f.call(); err != nil {
				return out, err
			}
			return inner(c, in)
		}
	}
	if inner := t.Choose; inner != nil {
		t.Choose = func(c *graph.Call, in A) (out B, keep bool, err error) {
			if err = f.call(); err != nil {
				return out, false, err
			}
			return inner(c, in)
		}
	}
	if inner := t.Emit; inner != nil {
		t.Emit = func(c *graph.Call, in A, emit func(B)) error {
			if err := f.call(); err != nil {
				return err
			}
			return inner(c, in, emit)
		}
	}
	if t.Group != nil {
		g := *t.Group
		inner := g.Row
		g.Row = func(c *graph.Call, out B, row int, in A) error {
			if err := f.call(); err != nil {
				return err
			}
			return inner(c, out, row, in)
		}
		t.Group = &g
	}
	return t
}

// InjectSource wraps a source so that f happens before one of its reads, or of the records that it emits.
func InjectSource[T any](s graph.Source[T], f *Fault) graph.Source[T] { return injectedSource[T]{s, f} }

type injectedSource[T any] struct {
	inner graph.Source[T]
	f     *Fault
}

// Kind is the name in reports.
func (s injectedSource[T]) Kind() string { return "injected" }

// Open opens the source within.
func (s injectedSource[T]) Open(ctx context.Context, env *graph.Env) (graph.Reader[T], error) {
	r, err := s.inner.Open(ctx, env)
	if err != nil {
		return r, err
	}
	return s.wrap(r), nil
}

func (s injectedSource[T]) wrap(r graph.Reader[T]) graph.Reader[T] {
	f := s.f
	r.Close = f.closing(r.Close)
	if at := r.At; at != nil {
		r.At = func(c *graph.Call, i int64) (v T, err error) {
			if err = f.call(); err != nil {
				return v, err
			}
			return at(c, i)
		}
	}
	if read := r.Read; read != nil {
		f.forward.Store(true)
		r.Read = func(c *graph.Call, split int, from int64, emit func(T) error) error {
			return read(c, split, from, func(v T) error {
				passed := false
				defer func() {
					if !passed { // nobody has it, whether f returned an error or panicked
						release(v)
					}
				}()
				if err := f.call(); err != nil {
					return err
				}
				passed = true
				return emit(v)
			})
		}
	}
	if inner := r.NewWorker; inner != nil {
		r.NewWorker = func(ctx context.Context) (graph.Reader[T], error) {
			w, err := inner(ctx)
			if err != nil {
				return w, err
			}
			return s.wrap(w), nil
		}
	}
	return r
}

// InjectSink wraps a sink so that f happens before it takes one of its items.
func InjectSink[T any](s graph.Sink[T], f *Fault) graph.Sink[T] { return injectedSink[T]{s, f} }

type injectedSink[T any] struct {
	inner graph.Sink[T]
	f     *Fault
}

// Kind is the name in reports.
func (s injectedSink[T]) Kind() string { return "injected" }

// Open opens the sink within.
func (s injectedSink[T]) Open(ctx context.Context, env *graph.Env) (graph.Consumer[T], error) {
	k, err := s.inner.Open(ctx, env)
	if err != nil {
		return k, err
	}
	k.Close = s.f.closing(k.Close)
	if take := k.Take; take != nil {
		k.Take = func(c *graph.Call, in T) error {
			if err := s.f.call(); err != nil {
				return err
			}
			return take(c, in)
		}
	}
	return k, nil
}

func release(v any) {
	if r, ok := v.(graph.Releaser); ok {
		r.Release()
	}
}
