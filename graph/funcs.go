package graph

import (
	"context"

	"github.com/penstock-go/penstock/graph/item"
)

// Map is a stage of a plain function. It is called by all workers at once.
func Map[A, B any](f func(A) (B, error)) Stage[A, B] {
	return plainStage[A, B]{"map", Transform[A, B]{Map: func(_ *Call, in A) (B, error) { return f(in) }}}
}

// MapCall is Map for a function that wants its context, position, random numbers or memory.
func MapCall[A, B any](f func(*Call, A) (B, error)) Stage[A, B] {
	return plainStage[A, B]{"map", Transform[A, B]{Map: f}}
}

// Filter is a stage that lets the items pass for which keep is true, and releases the others.
func Filter[T any](keep func(T) (bool, error)) Stage[T, T] {
	release := hooksOf[T](nil).release
	return plainStage[T, T]{"filter", Transform[T, T]{Choose: func(_ *Call, in T) (T, bool, error) {
		ok, err := keep(in)
		if !ok && err == nil && release != nil {
			release(in)
		}
		return in, ok, err
	}}}
}

// FlatMap is a stage of a function that emits any number of items for each input.
func FlatMap[A, B any](f func(in A, emit func(B)) error) Stage[A, B] {
	return plainStage[A, B]{"flat_map", Transform[A, B]{Emit: func(_ *Call, in A, emit func(B)) error { return f(in, emit) }}}
}

// Collect is a stage that gathers n items of one epoch into a slice. Only the last one of an epoch may be shorter. The
// slice is new each time. Whoever releases it releases its items, where they have a Release method: a stage that takes
// it in, or the engine after the sink. A skipped item's row holds a copy of the next good one; where items have a
// Release method it is left out instead.
func Collect[T any](n int) Stage[T, []T] { return collect[T]{n} }

// plainStage is a Transform as a declaration.
type plainStage[A, B any] struct {
	kind string
	t    Transform[A, B]
}

func (s plainStage[A, B]) Open(context.Context, *Env) (Transform[A, B], error) { return s.t, nil }

// Kind is the name in reports.
func (s plainStage[A, B]) Kind() string { return s.kind }

func (s plainStage[A, B]) plain() {}

// Drops says whether there is one output of each input.
func (s plainStage[A, B]) Drops() bool { return s.t.Choose != nil || s.t.Emit != nil }

type collect[T any] struct{ Size int }

// Kind is the name in reports.
func (c collect[T]) Kind() string { return "collect" }

// Check refuses a size below 1.
func (c collect[T]) Check() error {
	if c.Size < 1 {
		return &FieldError{Field: "size", Code: "field_range", Msg: "collect: size must be at least 1"}
	}
	return nil
}

// gathers says that a list keeps as many items.
func (c collect[T]) gathers() int64 { return int64(c.Size) }

func (c collect[T]) Open(context.Context, *Env) (Transform[T, []T], error) {
	var undo func([]T, int)
	if release := hooksOf[T](nil).release; release != nil {
		undo = func(out []T, row int) { release(out[row]) }
	}
	return Transform[T, []T]{Group: &Group[T, []T]{
		Size:  c.Size,
		Fresh: true,
		Keeps: true,
		Slab:  func() ([]T, error) { return make([]T, c.Size), nil },
		Row:   func(_ *Call, out []T, row int, in T) error { out[row] = in; return nil },
		Fill:  func(out []T, to, from int) { out[to] = out[from] },
		Undo:  undo,
		Done: func(out []T, n int, _ int64, meta []item.Row, free func()) []T {
			if out = out[:n:n]; undo != nil { // a stand-in would be released twice
				k := 0
				for i, v := range out {
					if !meta[i].StandIn {
						out[k] = v
						k++
					}
				}
				clear(out[k:])
				out = out[:k:k]
			}
			free()
			return out
		},
	}}, nil
}
