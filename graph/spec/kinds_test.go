package spec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

// The kinds of these tests. None of them is ever opened.

type pictures struct {
	Root  string
	Count int
}

func (c *pictures) Bind(f *registry.Fields) {
	f.Path(&c.Root, "root", "", "folder of pictures", registry.Required())
	f.Int(&c.Count, "count", 0, "most pictures; 0: all", registry.Min(0))
}

func (c pictures) Check() error { return registry.Check(&c, (*pictures).Bind) }

func (c pictures) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	panic("a lint must not open anything")
}

func (c pictures) Schema(item.Schema) (item.Schema, error) {
	return item.Schema{}.With(item.FieldSpec{Name: "image", Kind: item.KindBytes}).
		With(item.FieldSpec{Name: "label", Kind: item.KindInt}), nil
}

type shuffled struct{}

func (shuffled) Kind() string { return "shuffled" }

func (shuffled) Places(int64, uint64) (graph.Places, error) { panic("a lint must not open anything") }

type sequential struct{ shuffled }

func (sequential) Kind() string { return "sequential" }

type decodeImage struct{ MaxPixels int }

func (c *decodeImage) Bind(f *registry.Fields) {
	f.Int(&c.MaxPixels, "max_pixels", 100_000_000, "most pixels of a picture", registry.Min(1))
}

func (c decodeImage) Check() error { return registry.Check(&c, (*decodeImage).Bind) }

func (c decodeImage) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	panic("a lint must not open anything")
}

func (c decodeImage) Schema(in item.Schema) (item.Schema, error) {
	if err := in.Needs("image", "", item.KindBytes); err != nil {
		return in, err
	}
	return in.With(item.FieldSpec{Name: "image", Kind: item.KindImage}), nil
}

type flip struct{ Probability float64 }

func (c *flip) Bind(f *registry.Fields) {
	f.Float(&c.Probability, "probability", 0.5, "of a flip", registry.Over(0), registry.Max(1))
}

func (c flip) Check() error { return registry.Check(&c, (*flip).Bind) }

func (c flip) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	panic("a lint must not open anything")
}

func (c flip) Schema(in item.Schema) (item.Schema, error) {
	return in, in.Needs("image", "decode_image", item.KindImage)
}

type delay[T any] struct {
	Time graph.Time
	Mode string
}

func (c *delay[T]) Bind(f *registry.Fields) {
	f.Time(&c.Time, "time", graph.Time{}, "length of the delay", registry.Required())
	f.Choice(&c.Mode, "mode", "sleep", "what is done meanwhile", "sleep", "spin")
}

func (c delay[T]) Check() error { return registry.Check(&c, (*delay[T]).Bind) }

func (c delay[T]) Open(context.Context, *graph.Env) (graph.Transform[T, T], error) {
	panic("a lint must not open anything")
}

func (c delay[T]) Schema(in item.Schema) (item.Schema, error) { return in, nil }

func (c delay[T]) Kind() string { return "delay" }

type collate struct {
	Size     int
	DropLast bool
}

func (c *collate) Bind(f *registry.Fields) {
	f.Int(&c.Size, "size", 0, "samples in a batch", registry.Required(), registry.Min(1), registry.Max(1<<20))
	f.Bool(&c.DropLast, "drop_last", "leave out a short last batch")
}

func (c collate) Check() error { return registry.Check(&c, (*collate).Bind) }

func (c collate) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Batch], error) {
	panic("a lint must not open anything")
}

func (c collate) Schema(in item.Schema) (item.Schema, error) {
	in.Batch = true
	return in, nil
}

type discard[T any] struct{}

func (c *discard[T]) Bind(*registry.Fields) {}

func (c discard[T]) Open(context.Context, *graph.Env) (graph.Consumer[T], error) {
	panic("a lint must not open anything")
}

func (c discard[T]) Kind() string { return "discard" }

type accelerator struct{ Step graph.Time }

func (c *accelerator) Bind(f *registry.Fields) {
	f.Time(&c.Step, "step", graph.Time{}, "time of one step", registry.Required())
}

func (c accelerator) Check() error { return registry.Check(&c, (*accelerator).Bind) }

func (c accelerator) Open(context.Context, *graph.Env) (graph.Consumer[*item.Batch], error) {
	panic("a lint must not open anything")
}

func catalog(t testing.TB) *registry.Catalog {
	m := func(name, example string) registry.Meta {
		return registry.Meta{Name: name, Summary: "A kind of these tests.", Example: name + ": " + example}
	}
	c, err := registry.NewCatalog(
		registry.Source[pictures](m("pictures", "{root: data}"), (*pictures).Bind),
		registry.Sampler[sequential](m("sequential", "{}"), nil),
		registry.Sampler[shuffled](m("shuffled", "{}"), nil),
		registry.Stage[decodeImage](m("decode_image", "{}"), (*decodeImage).Bind),
		registry.Stage[flip](m("random_flip", "{}"), (*flip).Bind),
		registry.Stage[delay[*item.Sample]](m("delay", "{time: 5ms}"), (*delay[*item.Sample]).Bind),
		registry.Stage[delay[*item.Batch]](m("delay", "{time: 5ms}"), (*delay[*item.Batch]).Bind),
		registry.Stage[collate](m("collate", "{size: 64}"), (*collate).Bind),
		registry.Sink[discard[*item.Sample]](m("discard", "{}"), (*discard[*item.Sample]).Bind),
		registry.Sink[discard[*item.Batch]](m("discard", "{}"), (*discard[*item.Batch]).Bind),
		registry.Sink[accelerator](m("accelerator", "{step: 30ms}"), (*accelerator).Bind),
	)
	require.NoError(t, err)
	return c
}
