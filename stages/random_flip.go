package stages

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/stages/resize"
)

var _ = kinds.Add(registry.Stage[RandomFlip](registry.Meta{
	Name: "random_flip", Summary: "Mirrors some pictures left to right.",
	Example: "random_flip: {probability: 0.5}",
}, (*RandomFlip).Bind))

// RandomFlip mirrors the picture in the field image left to right with this Probability, in (0, 1], 0.5 by default. It
// writes in place unless somebody else holds the same memory. A sample is treated alike whatever the workers are.
//
// Any number of workers; order does not matter. Cost: see BenchmarkFlip.
type RandomFlip struct {
	Probability float64
}

// Bind names the fields.
func (r *RandomFlip) Bind(f *registry.Fields) {
	f.Float(&r.Probability, "probability", 0.5, "the share of pictures to mirror", registry.Over(0), registry.Max(1))
}

// Check refuses settings that are out of range.
func (r RandomFlip) Check() error { return registry.Check(&r, (*RandomFlip).Bind) }

// Random says that the output depends on the call's generator.
func (RandomFlip) Random() bool { return true }

// Schema keeps the picture's size.
func (RandomFlip) Schema(in item.Schema) (item.Schema, error) {
	return in, in.Needs(fieldImage, "decode_image", item.KindImage)
}

// Open makes the transform.
func (r RandomFlip) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	r = registry.Filled(r, (*RandomFlip).Bind)
	return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
		v, src, err := needImage(in)
		if err != nil {
			return nil, err
		}
		if c.Rand().Float64() >= r.Probability {
			return in, nil
		}
		if !v.Shared() {
			flip(src, src)
			return in, nil
		}
		buf, dst, err := newImage(c, src.Height, src.Width, src.Channels)
		if err != nil {
			return nil, err
		}
		flip(dst, src)
		in.Set(fieldImage, item.Picture(buf, src.Height, src.Width, src.Channels))
		return in, nil
	}}, nil
}

// flip mirrors src into dst, which may be the same picture.
func flip(dst, src resize.View) {
	for y := range src.Height {
		n := src.Width * src.Channels
		from, to := src.Pix[y*src.Stride:][:n], dst.Pix[y*dst.Stride:][:n]
		if src.Channels == 3 {
			flipRGB(to, from)
			continue
		}
		for a, b := 0, n-src.Channels; a <= b; a, b = a+src.Channels, b-src.Channels {
			for c := range src.Channels {
				to[a+c], to[b+c] = from[b+c], from[a+c]
			}
		}
	}
}

func flipRGB(to, from []byte) {
	for len(from) >= 6 && len(to) >= 6 {
		a, b := from[:3], from[len(from)-3:]
		c, d := to[:3], to[len(to)-3:]
		c[0], c[1], c[2], d[0], d[1], d[2] = b[0], b[1], b[2], a[0], a[1], a[2]
		from, to = from[3:len(from)-3], to[3:len(to)-3]
	}
	copy(to, from) // the middle pixel of an odd width
}
