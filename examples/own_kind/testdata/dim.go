package stages

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[Dim](registry.Meta{
	Name: "dim", Summary: "Makes pictures darker.", Example: "dim: {percent: 50}",
}, (*Dim).Bind))

// Dim leaves Percent of each pixel's brightness in the field image, rounded down. It writes in place unless somebody else
// holds the same memory. Any number of workers; order does not matter. Cost: one pass over the pixels.
type Dim struct {
	Percent int
}

// Bind names the fields.
func (d *Dim) Bind(f *registry.Fields) {
	f.Int(&d.Percent, "percent", 50, "how much of the brightness is left", registry.Min(1), registry.Max(100))
}

// Check refuses settings that are out of range.
func (d Dim) Check() error { return registry.Check(&d, (*Dim).Bind) }

// Schema keeps the picture's size.
func (Dim) Schema(in item.Schema) (item.Schema, error) {
	return in, in.Needs(fieldImage, "decode_image", item.KindImage)
}

// Open makes the transform.
func (d Dim) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	d = registry.Filled(d, (*Dim).Bind)
	var table [256]byte
	for i := range table {
		table[i] = byte(i * d.Percent / 100)
	}
	return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
		v, err := in.Need(fieldImage, item.KindImage)
		if err != nil {
			return nil, err
		}
		from, to := v.Data(), v.Data()
		if v.Shared() {
			shape := v.Shape()
			b := c.Row(fieldImage, item.Uint8, shape)
			to = b.Data
			defer in.Set(fieldImage, item.Picture(b, shape.Dim(0), shape.Dim(1), shape.Dim(2)))
		}
		for i, x := range from {
			to[i] = table[x]
		}
		return in, nil
	}}, nil
}
