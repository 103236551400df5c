package sources

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/graph"
)

// MapStyle is data with random access. At is called by many workers at once.
type MapStyle[T any] interface {
	Len() int64
	At(ctx context.Context, i int64) (T, error)
}

// Map is a source of map-style data, whatever its items are. The engine owns order, sharding and parallel reads: give
// it a sampler and workers. If m has a method Close() error, it is called at the end of the run.
func Map[T any](m MapStyle[T]) graph.Source[T] { return mapped[T]{m} }

type mapped[T any] struct{ data MapStyle[T] }

func (mapped[T]) Kind() string { return "map" }

func (m mapped[T]) Open(context.Context, *graph.Env) (graph.Reader[T], error) {
	if m.data == nil {
		return graph.Reader[T]{}, fmt.Errorf("sources.Map of nil")
	}
	r := graph.Reader[T]{Len: m.data.Len(), Close: closer(m.data)}
	if r.Len < 0 {
		return graph.Reader[T]{}, fmt.Errorf("the data say that they have %d items", r.Len)
	}
	r.At = func(c *graph.Call, i int64) (T, error) { return m.data.At(c.Context(), i) }
	return r, nil
}

// Slice is map-style data in memory. Its items are handed out as they are: those that hold memory are shared.
type Slice[T any] []T

// Len is the number of items.
func (s Slice[T]) Len() int64 { return int64(len(s)) }

// At is item i.
func (s Slice[T]) At(_ context.Context, i int64) (T, error) { return s[i], nil }

// Iterable is data that can only be read forward, in parts. Splits is a property of the data (the number of files,
// say), never of the machine. Read gives the records of a split from record number from on to emit; it returns what
// emit returns if that is not nil. Splits are read by several goroutines at once, each by one.
type Iterable[T any] interface {
	Splits() int
	Read(ctx context.Context, split int, from int64, emit func(T) error) error
}

// Iter is a source of iterable data. If it has a method Close() error, that is called at the end of the run.
func Iter[T any](it Iterable[T]) graph.Source[T] { return iterated[T]{it} }

type iterated[T any] struct{ data Iterable[T] }

func (iterated[T]) Kind() string { return "iter" }

func (t iterated[T]) Open(context.Context, *graph.Env) (graph.Reader[T], error) {
	if t.data == nil {
		return graph.Reader[T]{}, fmt.Errorf("sources.Iter of nil")
	}
	r := graph.Reader[T]{Splits: t.data.Splits(), Close: closer(t.data)}
	if r.Splits < 0 {
		return graph.Reader[T]{}, fmt.Errorf("the data say that they have %d splits", r.Splits)
	}
	r.Read = func(c *graph.Call, split int, from int64, emit func(T) error) error {
		return t.data.Read(c.Context(), split, from, emit)
	}
	return r, nil
}

func closer(data any) func() error {
	if c, ok := data.(interface{ Close() error }); ok {
		return c.Close
	}
	return nil
}
