package stages

import (
	"context"
	"math"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[CenterCrop](registry.Meta{
	Name: "center_crop", Summary: "Cuts out the middle of pictures.",
	Example: "center_crop: {size: 224}",
}, (*CenterCrop).Bind))

// CenterCrop cuts the middle out of the picture in the field image. Size of one number is height and width, of two
// height and width in this order. Where the margin is odd, the cut is where torchvision has it (half of the margin
// rounded to even). A picture that is too small is first padded with black on both sides, as torchvision does. A picture
// that has the size already is handed on as it is.
//
// Any number of workers; order does not matter. Cost: a copy of the result.
type CenterCrop struct {
	Size []int
}

// Bind names the fields.
func (s *CenterCrop) Bind(f *registry.Fields) {
	f.Ints(&s.Size, "size", nil, "height and width, or [height, width]", registry.Required(),
		registry.Length(1, 2), registry.Min(1), registry.Max(1<<20))
}

// Check refuses settings that are out of range.
func (s CenterCrop) Check() error { return registry.Check(&s, (*CenterCrop).Bind) }

// Schema sets the picture's size.
func (s CenterCrop) Schema(in item.Schema) (item.Schema, error) {
	if len(s.Size) == 0 {
		return sizedSchema(in, -1, -1) // Check says what is missing
	}
	return sizedSchema(in, s.Size[0], s.Size[len(s.Size)-1])
}

// Open makes the transform.
func (s CenterCrop) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	if err := s.Check(); err != nil {
		return graph.Transform[*item.Sample, *item.Sample]{}, err
	}
	h, w := s.Size[0], s.Size[len(s.Size)-1]
	return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
		_, src, err := needImage(in)
		switch {
		case err != nil:
			return nil, err
		case src.Height == h && src.Width == w:
			return in, nil
		}
		buf, dst, err := newImage(c, h, w, src.Channels)
		if err != nil {
			return nil, err
		}
		fromY, toY, rows := middle(src.Height, h)
		fromX, toX, cols := middle(src.Width, w)
		if rows < h || cols < w {
			clear(buf.Data)
		}
		n := cols * src.Channels
		for y := range rows {
			copy(dst.Pix[(toY+y)*dst.Stride+toX*dst.Channels:][:n], src.Pix[(fromY+y)*src.Stride+fromX*src.Channels:][:n])
		}
		in.Set(fieldImage, item.Picture(buf, h, w, src.Channels))
		return in, nil
	}}, nil
}

// middle places a length of want in the middle of have: where copying begins in both, and how much there is.
func middle(have, want int) (from, to, n int) {
	if want > have {
		return 0, (want - have) / 2, have
	}
	return int(math.RoundToEven(float64(have-want) / 2)), 0, want
}
