package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Zip is one source of several of equal length: sample i has the fields of sample i of each, in this order, and the key
// of the first one's. A field that two of them have is an error; rename one. The sources must be map-style; other
// lengths are an error when the run starts. One worker reads all samples of an index, one after the other.
func Zip(parts ...graph.Source[*item.Sample]) graph.Source[*item.Sample] { return zip{parts} }

// ZipWith is Zip for other types: join makes one item of the two at each index. It owns both; what it returns with an
// error is dropped.
func ZipWith[A, B, C any](a graph.Source[A], b graph.Source[B], join func(A, B) (C, error)) graph.Source[C] {
	return zipWith[A, B, C]{a, b, join}
}

type zip struct {
	parts parts[*item.Sample]
}

// String writes the parts out for the pipeline's description.
func (z zip) String() string { return z.parts.String() }

// Kind is the name in reports.
func (zip) Kind() string { return "zip" }

// Load is waiting if any part waits.
func (z zip) Load() graph.Load { return z.parts.load() }

// Emulated says whether a part is.
func (z zip) Emulated() bool { return z.parts.emulated() }

// Check refuses what the parts refuse.
func (z zip) Check() error { return z.parts.check("zip", 2) }

// Schema is the fields of all.
func (z zip) Schema(in item.Schema) (item.Schema, error) {
	schemas, err := z.parts.schemas(in)
	out := item.Schema{}
	for i, s := range schemas {
		for _, f := range s.Fields {
			if _, twice := out.Find(f.Name); twice {
				return out, fmt.Errorf("zip: source %d has a field %q, which one before it has too", i, f.Name)
			}
			out = out.With(f)
		}
		out.Open = out.Open || s.Open
	}
	return out, err
}

// Open opens the parts.
func (z zip) Open(ctx context.Context, env *graph.Env) (graph.Reader[*item.Sample], error) {
	if err := z.Check(); err != nil {
		return graph.Reader[*item.Sample]{}, err
	}
	all, err := z.parts.open(ctx, env)
	if err != nil {
		return graph.Reader[*item.Sample]{}, err
	}
	r := all[0]
	for i, next := range all[1:] {
		both, err := zipped(r, next, addFields, 0, i+1)
		if err != nil {
			return r, errors.Join(err, closeAll(all))
		}
		r = both
	}
	r.Label = all[0].Label
	return r, nil
}

// addFields moves the fields of b to a.
func addFields(a, b *item.Sample) (*item.Sample, error) {
	defer b.Release()
	for i := range b.Len() {
		name, v := b.Field(i)
		if a.Get(name) != nil {
			err := fmt.Errorf("zip: both samples, %q and %q, have a field %q", a.Key(), b.Key(), name)
			a.Release()
			return nil, err
		}
		if buf := v.Buffer(); buf != nil {
			buf.Retain()
		}
		a.Set(name, *v)
	}
	return a, nil
}

type zipWith[A, B, C any] struct {
	a    graph.Source[A]
	b    graph.Source[B]
	join func(A, B) (C, error)
}

// String writes the parts out for the pipeline's description.
func (z zipWith[A, B, C]) String() string {
	return fmt.Sprintf("[%s%+v %s%+v]", partKind(z.a), z.a, partKind(z.b), z.b)
}

// Kind is the name in reports.
func (zipWith[A, B, C]) Kind() string { return "zip" }

// Load is waiting if any part waits.
func (z zipWith[A, B, C]) Load() graph.Load {
	return max(parts[A]{z.a}.load(), parts[B]{z.b}.load())
}

// Check refuses what the parts refuse.
func (z zipWith[A, B, C]) Check() error {
	if z.join == nil {
		return errors.New("zip without a function")
	}
	return errors.Join(parts[A]{z.a}.check("zip", 1), parts[B]{z.b}.check("zip", 1))
}

// Open opens both.
func (z zipWith[A, B, C]) Open(ctx context.Context, env *graph.Env) (graph.Reader[C], error) {
	var none graph.Reader[C]
	if err := z.Check(); err != nil {
		return none, err
	}
	as, err := parts[A]{z.a}.open(ctx, env)
	if err != nil {
		return none, err
	}
	bs, err := parts[B]{z.b}.open(ctx, env)
	if err != nil {
		return none, errors.Join(err, closeAll(as))
	}
	r, err := zipped(as[0], bs[0], z.join, 0, 1)
	if err != nil {
		return none, errors.Join(err, closeAll(bs), closeAll(as))
	}
	return r, nil
}

// zipped reads two readers side by side; i and k are their numbers among the sources.
func zipped[A, B, C any](a graph.Reader[A], b graph.Reader[B], join func(A, B) (C, error), i, k int) (graph.Reader[C], error) {
	out := graph.Reader[C]{Len: a.Len, Fingerprint: a.Fingerprint + ";" + b.Fingerprint, Close: func() error {
		return errors.Join(closeAll([]graph.Reader[B]{b}), closeAll([]graph.Reader[A]{a}))
	}}
	if a.At == nil || b.At == nil {
		return out, errors.New("zip: an iterable source cannot be read by index; zip takes map-style ones")
	}
	if a.Len != b.Len {
		return out, fmt.Errorf("zip: source %d has %d items and source %d has %d; they must be equal", i, a.Len, k, b.Len)
	}
	out.At = func(c *graph.Call, i int64) (C, error) { return both(c, i, a, b, join) }
	if a.NewWorker != nil || b.NewWorker != nil {
		out.NewWorker = func(ctx context.Context) (graph.Reader[C], error) {
			as, err := workersOf(ctx, []graph.Reader[A]{a})
			if err != nil {
				return graph.Reader[C]{}, err
			}
			bs, err := workersOf(ctx, []graph.Reader[B]{b})
			if err != nil {
				return graph.Reader[C]{}, errors.Join(err, closeAll(as))
			}
			return zipped(as[0], bs[0], join, i, k)
		}
	}
	return out, nil
}

// both reads an index of both. The first is released when the second cannot be read.
func both[A, B, C any](c *graph.Call, i int64, a graph.Reader[A], b graph.Reader[B], join func(A, B) (C, error)) (out C, err error) {
	x, err := a.At(c, i)
	if err != nil {
		return out, err
	}
	read := false
	defer func() {
		if r, ok := any(x).(graph.Releaser); ok && !read {
			r.Release()
		}
	}()
	y, err := b.At(c, i)
	if err != nil {
		return out, err
	}
	read = true
	return join(x, y)
}
