package stages

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/stages/resize"
)

var _ = kinds.Add(registry.Stage[RandomResizedCrop](registry.Meta{
	Name: "random_resized_crop", Summary: "Cuts a random part out of pictures and scales it to a square.",
	Example: "random_resized_crop: {size: 224}",
}, (*RandomResizedCrop).Bind))

// RandomResizedCrop cuts a random rectangle out of the picture in the field image and scales it to Size × Size, as
// torchvision's transform of that name does: the area is uniform between Scale[0] and Scale[1] of the picture's, the
// proportions width : height are uniform in their logarithm between Ratio[0] and Ratio[1]; sides are rounded; ten
// rectangles are tried until one lies inside, then its place is uniform. If none does, the largest middle part of allowed
// proportions is taken. Scaling is that of [Resize]; what lies outside the rectangle has no part in it.
//
// A sample gets the same rectangle whatever the workers are and another one in each epoch, on every processor: the
// numbers come from the call's generator, by operations that are rounded the same everywhere.
//
// Each worker has scratch memory of its own. Cost: see BenchmarkTransforms. The picture is not copied before it
// is scaled.
type RandomResizedCrop struct {
	Size  int
	Scale []float64
	Ratio []float64
}

// Bind names the fields.
func (r *RandomResizedCrop) Bind(f *registry.Fields) {
	f.Int(&r.Size, "size", 224, "height and width of the result", registry.Min(1), registry.Max(10_000))
	f.Floats(&r.Scale, "scale", []float64{0.08, 1}, "smallest and largest share of the area", registry.Length(2, 2),
		registry.Over(0), registry.Max(1))
	f.Floats(&r.Ratio, "ratio", []float64{3. / 4, 4. / 3}, "smallest and largest width over height", registry.Length(2, 2),
		registry.Min(0.01), registry.Max(100))
}

// Check refuses settings that are out of range.
func (r RandomResizedCrop) Check() error {
	err := registry.Check(&r, (*RandomResizedCrop).Bind)
	r = registry.Filled(r, (*RandomResizedCrop).Bind)
	for _, l := range []struct {
		name string
		v    []float64
	}{{"scale", r.Scale}, {"ratio", r.Ratio}} {
		if len(l.v) == 2 && l.v[0] > l.v[1] {
			err = errors.Join(err, &graph.FieldError{Field: l.name, Code: "field_value",
				Msg: fmt.Sprintf("%s must be [smallest, largest], got %v", l.name, l.v)})
		}
	}
	return err
}

// Random says that the output depends on the call's generator.
func (RandomResizedCrop) Random() bool { return true }

// Schema sets the picture's size.
func (r RandomResizedCrop) Schema(in item.Schema) (item.Schema, error) {
	r = registry.Filled(r, (*RandomResizedCrop).Bind)
	return sizedSchema(in, r.Size, r.Size)
}

// Open makes the transform.
func (r RandomResizedCrop) Open(_ context.Context, env *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	needKernels(env, resize.Kernels())
	if err := r.Check(); err != nil {
		return graph.Transform[*item.Sample, *item.Sample]{}, err
	}
	r = registry.Filled(r, (*RandomResizedCrop).Bind)
	low, high := logarithm(r.Ratio[0]), logarithm(r.Ratio[1])
	return perWorker(func(context.Context) (graph.Transform[*item.Sample, *item.Sample], error) {
		var s resize.Scaler
		return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
			_, src, err := needImage(in)
			if err != nil {
				return nil, err
			}
			x, y, w, h := r.rectangle(c.Rand(), src.Width, src.Height, low, high)
			return scaled(c, in, &s, src.Crop(x, y, w, h), r.Size, r.Size)
		}}, nil
	})
}

// rectangle draws the part to keep. low and high are the logarithms of the ratios.
func (r *RandomResizedCrop) rectangle(rand *graph.Rand, width, height int, low, high float64) (x, y, w, h int) {
	area := float64(width) * float64(height)
	for range 10 {
		target := float64(area * between(rand, r.Scale[0], r.Scale[1]))
		ratio := exponential(between(rand, low, high))
		w = int(math.RoundToEven(math.Sqrt(float64(target * ratio))))
		h = int(math.RoundToEven(math.Sqrt(target / ratio)))
		if w > 0 && w <= width && h > 0 && h <= height {
			y = rand.IntN(height - h + 1)
			return rand.IntN(width - w + 1), y, w, h
		}
	}
	w, h = width, height
	switch ratio := float64(width) / float64(height); {
	case ratio < r.Ratio[0]:
		h = max(1, min(height, int(math.RoundToEven(float64(width)/r.Ratio[0]))))
	case ratio > r.Ratio[1]:
		w = max(1, min(width, int(math.RoundToEven(float64(height)*r.Ratio[1]))))
	}
	return (width - w) / 2, (height - h) / 2, w, h
}

func between(r *graph.Rand, low, high float64) float64 {
	return low + float64((high-low)*r.Float64())
}
