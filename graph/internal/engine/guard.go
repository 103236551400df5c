package engine

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// panicked is a panic as an error.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func (p *panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// StackOf is the stack of the panic that an error is about, or nil.
func StackOf(err error) []byte {
	if p, ok := errors.AsType[*panicked](err); ok {
		return p.stack
	}
	return nil
}

// recovered turns a recovered panic into an error with its stack; without one it passes err on.
func recovered(p any, err error) error {
	if p == nil {
		return err
	}
	return &panicked{p, debug.Stack()}
}

// Safely calls f behind a panic barrier.
func Safely(f func() error) (err error) {
	defer func() { err = recovered(recover(), err) }()
	return f()
}

// Work starts a goroutine of a stage. A panic that no other barrier has met, as of an item's own methods, ends the run.
func (r *Run) Work(m *meter.Stage, f func()) {
	r.Go(func() {
		defer func() {
			if err := recovered(recover(), nil); err != nil {
				r.End(r.wrap(m.ID, err))
			}
		}()
		if r.Label != nil {
			r.Label(m.ID, m.Hand())
		}
		f()
	})
}

func (r *Run) wrap(stage string, err error) error {
	if r.Wrap == nil {
		return err
	}
	return r.Wrap(stage, err)
}

// Quietly calls a method of an item, to drop it or to name it. It may be called under an edge's lock, also while the run
// is ending, so a panic is only noted: it is the run's error if there is no other.
func (r *Run) Quietly(stage string, f func()) {
	defer func() {
		if err := recovered(recover(), nil); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.err == nil {
				r.err = r.wrap(stage, err)
			}
		}
	}()
	f()
}

// errOver is what emit returns when nobody wants more.
var errOver = errors.New("the run is over")
