package graph

import (
	"reflect"
	"strconv"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/item"
)

// hooks are the optional methods of an item type; nil where the type has none.
type hooks[T any] struct {
	key     func(T) string
	bytes   func(T) int64
	release func(T)
	hash    func(T) uint64
	kept    func(T) bool
	index   func(*edge.Tag) int64
}

// hooksOf finds the methods of T; index tells an item's index in its source, for items without a key.
func hooksOf[T any](index func(*edge.Tag) int64) (h hooks[T]) {
	h.index = index
	var zero T
	z := any(zero)
	if _, ok := z.(Keyer); ok {
		h.key = func(v T) string { return any(v).(Keyer).Key() }
	}
	if _, ok := z.(Sizer); ok {
		h.bytes = func(v T) int64 { return any(v).(Sizer).Bytes() }
	}
	if _, ok := z.(Releaser); ok {
		h.release = func(v T) { any(v).(Releaser).Release() }
	} else if t := reflect.TypeFor[T](); t.Kind() == reflect.Slice && t.Elem().Implements(reflect.TypeFor[Releaser]()) {
		h.release = releaseAll[T] // a list, as Collect makes
	}
	if _, ok := z.(Hasher); ok {
		h.hash = func(v T) uint64 { return any(v).(Hasher).Hash() }
	}
	if _, ok := z.(interface{ Kept() bool }); ok {
		h.kept = func(v T) bool { return any(v).(interface{ Kept() bool }).Kept() }
	}
	return h
}

// releaseAll releases the members of a list.
func releaseAll[T any](list T) {
	v := reflect.ValueOf(list)
	for i := range v.Len() {
		v.Index(i).Interface().(Releaser).Release()
	}
}

// drop gives an item up that is used no more.
func (h *hooks[T]) drop(c *edge.Cell[T]) {
	defer c.End()
	if h.release != nil && !c.Skipped() {
		h.release(c.V)
	}
}

// dropQuietly is drop for an item whose stage failed, and may have released it already.
func (h *hooks[T]) dropQuietly(c *edge.Cell[T]) {
	defer func() { _ = recover() }()
	h.drop(c)
}

// keyOf names an item: by itself, or by its place.
func (h *hooks[T]) keyOf(c *edge.Cell[T]) string {
	if c.Skipped() && c.Ext != nil {
		return c.Ext.Key
	}
	if h.key != nil && !c.Skipped() {
		if k := h.key(c.V); k != "" {
			return k
		}
	}
	return h.placeKey(&c.Tag)
}

// placeKey names an item that has no key of its own: "#index", or its place in an iterable.
func (h *hooks[T]) placeKey(t *edge.Tag) string {
	i := int64(-1)
	if h.index != nil {
		i = h.index(t)
	}
	if i < 0 {
		return posOf(t).String()
	}
	return "#" + strconv.FormatInt(i, 10)
}

// rowOf is what a group keeps of an input.
func (h *hooks[T]) rowOf(c *edge.Cell[T], _ item.Row) item.Row {
	r := item.Row{Pos: posOf(&c.Tag), Padding: c.Flags&edge.Padding != 0}
	if c.Ext != nil {
		r.Hash = c.Ext.Hash
	}
	if h.key != nil && !c.Skipped() {
		r.Key = h.key(c.V)
	}
	return r
}
