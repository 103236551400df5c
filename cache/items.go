package cache

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/graph"
)

// Sharer is a method of a program's own type whose items a cache may keep: another item with the same content, which is
// released apart from this one. A type without a method Release needs none.
type Sharer[T any] interface{ Share() T }

// Items is [Memory] for a program's own type, which has a method Bytes. What is kept and what comes out share what the
// items point to, so nobody may write to that.
func Items[T any](limit int64) graph.Stage[T, T] { return items[T]{limit} }

type items[T any] struct{ Limit int64 }

// Kind is the name in reports.
func (items[T]) Kind() string { return "memory_cache" }

// CacheLimit is the most bytes that it keeps.
func (c items[T]) CacheLimit() int64 { return c.Limit }

// Stream is empty: how much is kept does not decide on what comes out.
func (items[T]) Stream() string { return "" }

// Check refuses a limit below 1, and a type that cannot be kept.
func (c items[T]) Check() error {
	if c.Limit < 1 {
		return &graph.FieldError{Field: "limit", Code: "field_range", Msg: fmt.Sprintf("limit must be at least 1, got %d", c.Limit)}
	}
	var zero T
	if _, ok := any(zero).(graph.Sizer); !ok {
		return fmt.Errorf("%T has no method Bytes, so nobody would know how much the cache holds", zero)
	}
	_, released := any(zero).(graph.Releaser)
	if _, ok := any(zero).(Sharer[T]); released && !ok {
		return fmt.Errorf("%T has a method Release and no method Share() %T, so what the cache keeps would be given back", zero, zero)
	}
	return nil
}

// Open makes the cache, which is empty.
func (c items[T]) Open(context.Context, *graph.Env) (graph.Transform[T, T], error) {
	if err := c.Check(); err != nil {
		return graph.Transform[T, T]{}, err
	}
	s := &store[T]{limit: c.Limit, share: func(v T) T { return v }, free: func(T) {},
		size: func(v T) int64 { return any(v).(graph.Sizer).Bytes() }}
	var zero T
	if _, ok := any(zero).(Sharer[T]); ok {
		s.share = func(v T) T { return any(v).(Sharer[T]).Share() }
	}
	if _, ok := any(zero).(graph.Releaser); ok {
		s.free = func(v T) { any(v).(graph.Releaser).Release() }
	}
	s.copy = s.share
	return s.transform(), nil
}
