package sources

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Source[SyntheticImages](registry.Meta{
	Name: "synthetic_images", Summary: "Makes JPEG pictures out of the seed, without any files.",
	Example: "synthetic_images: {count: 1000, width: 500, height: 375, classes: 10}",
}, (*SyntheticImages).Bind))

// SyntheticImages makes Count encoded JPEG pictures in the field image, and their class in label: index modulo Classes.
// The bytes depend on the seed and the index only and are the same on every machine. See [Painter] for what they look
// like and cost.
type SyntheticImages struct {
	Count         int64
	Width, Height int
	Classes       int
}

// Bind names the fields.
func (s *SyntheticImages) Bind(f *registry.Fields) {
	f.Int64(&s.Count, "count", 1000, "how many pictures an epoch has", registry.Min(1))
	f.Int(&s.Width, "width", 320, "width in pixels", registry.Min(1), registry.Max(8192))
	f.Int(&s.Height, "height", 240, "height in pixels", registry.Min(1), registry.Max(8192))
	f.Int(&s.Classes, "classes", 10, "how many classes there are", registry.Min(1))
}

// Check refuses settings that are out of range.
func (s SyntheticImages) Check() error { return registry.Check(&s, (*SyntheticImages).Bind) }

// Schema is image and label.
func (SyntheticImages) Schema(item.Schema) (item.Schema, error) { return encodedSchema(), nil }

// encodedSchema is that of every source of encoded pictures with a class.
func encodedSchema() item.Schema {
	return item.Schema{Fields: []item.FieldSpec{
		{Name: fieldImage, Kind: item.KindBytes},
		{Name: fieldLabel, Kind: item.KindInt, Typed: true, DType: item.Int64},
	}}
}

// Open makes the reader. Each worker has a painter of its own.
func (s SyntheticImages) Open(_ context.Context, env *graph.Env) (graph.Reader[*item.Sample], error) {
	s = registry.Filled(s, (*SyntheticImages).Bind)
	seed := env.Seed
	var first Painter
	first.prepare()
	worker := func(context.Context) (graph.Reader[*item.Sample], error) {
		painter := Painter{grain: first.grain}           // the stock of textures is only read
		file := make([]byte, 0, s.Width*s.Height/2+4096) // more than any has
		label := func(i int64) int64 { return i % int64(s.Classes) }
		return graph.Reader[*item.Sample]{Len: s.Count, Label: label, At: func(c *graph.Call, i int64) (*item.Sample, error) {
			class := int(label(i))
			file = painter.Append(file[:0], Picture{seed, i, class, s.Width, s.Height})
			out := item.NewSample(indexKey(i))
			out.Set(fieldImage, copied(c, file))
			out.Set(fieldLabel, item.Int(int64(class)))
			return out, nil
		}}, nil
	}
	return perWorker(worker)
}

// perWorker makes a reader whose functions belong to one worker each. Callers that make no workers get a fresh one for
// each call.
func perWorker(worker func(context.Context) (graph.Reader[*item.Sample], error)) (graph.Reader[*item.Sample], error) {
	r, err := worker(context.Background())
	r.At = func(c *graph.Call, i int64) (*item.Sample, error) {
		w, err := worker(c.Context())
		if err != nil {
			return nil, err
		}
		return w.At(c, i)
	}
	r.NewWorker = worker
	return r, err
}

func copied(c *graph.Call, b []byte) item.Value {
	buf := c.Buffer(len(b))
	copy(buf.Data, b)
	return item.Bytes(buf)
}
