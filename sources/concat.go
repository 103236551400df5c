package sources

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Concat is one source of several: the items of the first, then those of the second, and so on. Samplers, ranks and
// epochs see a single source, so shuffled mixes all of them; graph.Merge takes items of several sources in turn instead.
// Map-style sources keep random access. Iterable ones are joined split by split, and their splits are read in turn as
// those of any iterable are. A mixture of both is an error. Each part is opened with the pipeline's seed.
func Concat[T any](parts ...graph.Source[T]) graph.Source[T] { return concat[T]{parts} }

type concat[T any] struct{ parts parts[T] }

// parts are sources within a source.
type parts[T any] []graph.Source[T]

// String writes them out for the pipeline's description.
func (p parts[T]) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = fmt.Sprintf("%s%+v", partKind(s), s)
	}
	return "[" + strings.Join(words, " ") + "]"
}

func (c concat[T]) String() string { return c.parts.String() }

func partKind(s any) string {
	if k, ok := s.(graph.Kinder); ok {
		return k.Kind()
	}
	name, _, _ := strings.Cut(fmt.Sprintf("%T", s), "[")
	return graph.Snake(name[strings.LastIndexByte(name, '.')+1:])
}

// Kind is the name in reports.
func (concat[T]) Kind() string { return "concat" }

// Load is waiting if any part waits.
func (c concat[T]) Load() graph.Load { return c.parts.load() }

func (p parts[T]) load() graph.Load {
	for _, s := range p {
		if l, ok := s.(graph.Loader); ok && l.Load() == graph.Wait {
			return graph.Wait
		}
	}
	return graph.CPU
}

// Emulated says whether a part is.
func (c concat[T]) Emulated() bool { return c.parts.emulated() }

func (p parts[T]) emulated() bool {
	for _, s := range p {
		if e, ok := s.(graph.Emulator); ok && e.Emulated() {
			return true
		}
	}
	return false
}

// Check refuses what the parts refuse.
func (c concat[T]) Check() error { return c.parts.check("concat", 1) }

func (p parts[T]) check(kind string, least int) error {
	var errs []error
	if len(p) < least {
		errs = append(errs, partsFault("field_range", "%s needs at least %d sources, got %d", kind, least, len(p)))
	}
	for i, s := range p {
		if s == nil {
			errs = append(errs, partsFault("field_missing", "source %d of %s is nil", i, kind))
		} else if c, ok := s.(graph.Checker); ok {
			if err := c.Check(); err != nil { // %v: its fields are not those of the whole
				errs = append(errs, partsFault("field_value", "source %d of %s: %v", i, kind, err))
			}
		}
	}
	return errors.Join(errs...)
}

func partsFault(code, format string, args ...any) error {
	return &graph.FieldError{Field: "sources", Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Schema is what all parts have in common.
func (c concat[T]) Schema(in item.Schema) (item.Schema, error) {
	schemas, err := c.parts.schemas(in)
	if err != nil || len(schemas) == 0 {
		return item.Schema{Open: true}, err
	}
	out := schemas[0]
	for i, s := range schemas[1:] {
		for _, f := range out.Fields {
			g, ok := s.Find(f.Name)
			switch {
			case ok && g == f:
			case ok && g.Kind != f.Kind && g.Kind != item.KindNone && f.Kind != item.KindNone:
				return out, fmt.Errorf("concat: field %q is %v in source 0 and %v in source %d", f.Name, f.Kind, g.Kind, i+1)
			default:
				out = out.Without(f.Name)
				out.Open = true
			}
		}
		out.Open = out.Open || s.Open || len(s.Fields) > len(out.Fields)
	}
	return out, nil
}

func (p parts[T]) schemas(in item.Schema) (all []item.Schema, err error) {
	for i, s := range p {
		shape := item.Schema{Open: true}
		if sh, ok := s.(graph.Shaper); ok {
			if shape, err = sh.Schema(in); err != nil {
				return nil, fmt.Errorf("source %d: %w", i, err)
			}
		}
		all = append(all, shape)
	}
	return all, nil
}

// Open opens the parts.
func (c concat[T]) Open(ctx context.Context, env *graph.Env) (graph.Reader[T], error) {
	if err := c.Check(); err != nil {
		return graph.Reader[T]{}, err
	}
	all, err := c.parts.open(ctx, env)
	if err != nil {
		return graph.Reader[T]{}, err
	}
	r, err := joined(all)
	if err != nil {
		return r, errors.Join(err, closeAll(all))
	}
	return r, nil
}

func (p parts[T]) open(ctx context.Context, env *graph.Env) (all []graph.Reader[T], err error) {
	return eachReader(len(p), func(i int) (graph.Reader[T], error) {
		e := *env
		e.Stage = fmt.Sprintf("%s/%d", env.Stage, i)
		r, err := p[i].Open(ctx, &e)
		if err != nil {
			err = fmt.Errorf("source %d: %w", i, err)
		}
		return r, err
	})
}

// eachReader makes readers; when one cannot be made, those before it are closed.
func eachReader[T any](n int, make func(i int) (graph.Reader[T], error)) ([]graph.Reader[T], error) {
	var all []graph.Reader[T]
	for i := range n {
		r, err := make(i)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, r)
	}
	return all, nil
}

func closeAll[T any](all []graph.Reader[T]) error {
	var errs []error
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Close != nil {
			errs = append(errs, all[i].Close())
		}
	}
	return errors.Join(errs...)
}

// joined is one reader of several.
func joined[T any](all []graph.Reader[T]) (graph.Reader[T], error) {
	out := graph.Reader[T]{Close: func() error { return closeAll(all) }}
	forward, own := 0, false
	for _, r := range all {
		own = own || r.NewWorker != nil
		out.Fingerprint += fmt.Sprintf("%d:%s;", r.Len, r.Fingerprint)
		if r.Read != nil {
			forward++
		}
	}
	var ends []int64 // of the parts, in items or splits
	sum := int64(0)
	for _, r := range all {
		if sum += r.Len; r.Read != nil {
			sum += int64(r.Splits)
			out.Interleave = max(out.Interleave, r.Interleave)
		}
		ends = append(ends, sum)
	}
	find := func(i int64) (*graph.Reader[T], int64) {
		k := sort.Search(len(ends), func(k int) bool { return ends[k] > i })
		if k > 0 {
			i -= ends[k-1]
		}
		return &all[k], i
	}
	switch forward {
	case 0:
		out.Len = sum
		out.At = func(c *graph.Call, i int64) (T, error) {
			r, k := find(i)
			return r.At(c, k)
		}
		if every(all, func(r graph.Reader[T]) bool { return r.Label != nil }) {
			out.Label = func(i int64) int64 { r, k := find(i); return r.Label(k) }
		}
	case len(all):
		out.Splits = int(sum)
		out.Read = func(c *graph.Call, split int, from int64, emit func(T) error) error {
			r, k := find(int64(split))
			return r.Read(c, int(k), from, emit)
		}
	default:
		return out, fmt.Errorf("concat: %d of %d sources are iterable; either all are or none", forward, len(all))
	}
	if own {
		out.NewWorker = func(ctx context.Context) (graph.Reader[T], error) {
			mine, err := workersOf(ctx, all)
			if err != nil {
				return graph.Reader[T]{}, err
			}
			return joined(mine)
		}
	}
	return out, nil
}

func every[E any](list []E, is func(E) bool) bool {
	for _, e := range list {
		if !is(e) {
			return false
		}
	}
	return true
}

// workersOf makes the readers of one worker; what has none of its own is shared and not closed.
func workersOf[T any](ctx context.Context, all []graph.Reader[T]) ([]graph.Reader[T], error) {
	return eachReader(len(all), func(i int) (graph.Reader[T], error) {
		r := all[i]
		if r.NewWorker == nil {
			r.Close = nil
			return r, nil
		}
		w, err := r.NewWorker(ctx)
		w.Len, w.Splits, w.Label, w.NewWorker = r.Len, r.Splits, r.Label, nil
		return w, err
	})
}
