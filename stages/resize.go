package stages

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/stages/resize"
)

var _ = kinds.Add(registry.Stage[Resize](registry.Meta{
	Name: "resize", Summary: "Scales pictures to a size.",
	Example: "resize: {size: 256}",
}, (*Resize).Bind))

// Resize scales the picture in the field image, antialiased and bilinear, with Pillow's bytes (see package
// [github.com/penstock-go/penstock/stages/resize]).
//
// Size of one number is the length of the shorter side; the longer one keeps the proportions and is rounded down, as
// torchvision does. Size of two numbers is height and width, whatever the proportions were. A result of more than
// 100,000,000 pixels is an error, so is a side of more than 1,048,576 in what is scaled. A picture that has its size already is handed on as it is.
//
// Each worker has scratch memory of its own. Order does not matter. Cost: see BenchmarkResize.
type Resize struct {
	Size []int
}

// Bind names the fields.
func (r *Resize) Bind(f *registry.Fields) {
	f.Ints(&r.Size, "size", nil, "length of the shorter side, or [height, width]", registry.Required(),
		registry.Length(1, 2), registry.Min(1), registry.Max(1<<20))
}

// Check refuses settings that are out of range.
func (r Resize) Check() error { return registry.Check(&r, (*Resize).Bind) }

// Schema sets the picture's size.
func (r Resize) Schema(in item.Schema) (item.Schema, error) {
	if len(r.Size) == 2 {
		return sizedSchema(in, r.Size[0], r.Size[1])
	}
	return sizedSchema(in, -1, -1)
}

// Open makes the transform.
func (r Resize) Open(_ context.Context, env *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	needKernels(env, resize.Kernels())
	if err := r.Check(); err != nil {
		return graph.Transform[*item.Sample, *item.Sample]{}, err
	}
	return perWorker(func(context.Context) (graph.Transform[*item.Sample, *item.Sample], error) {
		var s resize.Scaler
		return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
			_, src, err := needImage(in)
			if err != nil {
				return nil, err
			}
			h, w := r.target(src.Height, src.Width)
			if h == src.Height && w == src.Width {
				return in, nil
			}
			return scaled(c, in, &s, src, h, w)
		}}, nil
	})
}

func (r *Resize) target(h, w int) (int, int) {
	if len(r.Size) == 2 {
		return r.Size[0], r.Size[1]
	}
	if h <= w {
		return r.Size[0], r.Size[0] * w / h
	}
	return r.Size[0] * h / w, r.Size[0]
}

// scaled replaces the picture by src, a part of it, at another size.
func scaled(c *graph.Call, in *item.Sample, s *resize.Scaler, src resize.View, h, w int) (*item.Sample, error) {
	if max(src.Width, src.Height) > maxSide {
		return nil, fmt.Errorf("the picture has %d×%d pixels, a side of more than %d is not scaled", src.Width, src.Height, maxSide)
	}
	buf, dst, err := newImage(c, h, w, src.Channels)
	if err != nil {
		return nil, err
	}
	s.Bilinear(dst, src)
	in.Set(fieldImage, item.Picture(buf, h, w, src.Channels))
	return in, nil
}
