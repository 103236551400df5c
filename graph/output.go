package graph

import (
	"iter"
)

// Out is the end of a pipeline whose items the program itself takes. The body of its loop is the sink's busy time,
// waiting for the next item its wait. Use it from one goroutine.
type Out[T any] struct{ n *node }

// Epoch is one epoch of a run.
type Epoch[T any] struct {
	Number int64
	o      *typedOutlet[T]
}

// All gives every item of a run, across epochs. An item is valid until the next iteration, a batch longer if it is
// kept. An error ends the loop and comes once, in the last iteration. Breaking out of the loop ends the run.
func (o *Out[T]) All(r *Run) iter.Seq2[T, error] {
	t := r.outlet.(*typedOutlet[T])
	return func(yield func(T, error) bool) {
		for c := t.next(); c != nil; c = t.next() {
			if !yield(c.V, nil) {
				t.broken()
				return
			}
		}
		t.yieldError(yield)
	}
}

// Epochs gives every epoch of a run, also one that has no items left. Breaking out of this loop ends the run; breaking
// out of an epoch's own loop drops the rest of that epoch.
func (o *Out[T]) Epochs(r *Run) iter.Seq[*Epoch[T]] {
	t := r.outlet.(*typedOutlet[T])
	return func(yield func(*Epoch[T]) bool) {
		for n := t.firstEpoch(); t.p.epochs == Forever || n < int64(t.p.epochs); n++ {
			if !yield(&Epoch[T]{n, t}) {
				t.broken()
				return
			}
			if !t.reach(n + 1) {
				return
			}
		}
		t.reach(1 << 62)
	}
}

// All gives the items of the epoch.
func (e *Epoch[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for c := e.o.peek(); c != nil && int64(c.Epoch) <= e.Number; c = e.o.peek() {
			e.o.handOut(c)
			if !yield(c.V, nil) {
				return
			}
		}
		if e.o.over {
			e.o.yieldError(yield)
		}
	}
}
