package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[Normalize](registry.Meta{
	Name: "normalize", Summary: "Turns pictures into float32 tensors, channel by channel, with mean 0 and deviation 1.",
	Example: "normalize: {}",
}, (*Normalize).Bind))

// Normalize turns the picture in the field image, height × width × channels of uint8, into a tensor of float32, channels
// × height × width: (v/255 - mean) / std for each channel. Mean and Std are in units of 0 to 1, one number for each
// channel or one for all; the defaults are those of ImageNet.
//
// There are only 256 values a channel, so a table is made once, with float32 arithmetic in the order of PyTorch's
// ToTensor and Normalize. No two machines differ.
//
// Leave it out to normalize on the accelerator: batches then hold uint8 of batch × height × width × channels, a quarter of
// the memory, and of what is copied to a device. The bytes are those that this stage would have looked up.
//
// Any number of workers; order does not matter. Cost: see BenchmarkTransforms; the result is four times as large as the
// picture.
type Normalize struct {
	Mean, Std []float64
}

// Bind names the fields.
func (n *Normalize) Bind(f *registry.Fields) {
	f.Floats(&n.Mean, "mean", []float64{0.485, 0.456, 0.406}, "mean of each channel, 0 to 1 being black to full",
		registry.Length(1, 4))
	f.Floats(&n.Std, "std", []float64{0.229, 0.224, 0.225}, "standard deviation of each channel", registry.Length(1, 4),
		registry.Over(0))
}

// Check refuses settings that are out of range.
func (n Normalize) Check() error {
	err := registry.Check(&n, (*Normalize).Bind)
	n = registry.Filled(n, (*Normalize).Bind)
	if a, b := len(n.Mean), len(n.Std); a > 1 && b > 1 && a != b {
		err = errors.Join(err, &graph.FieldError{Field: "std", Code: "field_value",
			Msg: fmt.Sprintf("std has %d numbers, mean has %d; both must have one for each channel", b, a)})
	}
	return err
}

// Schema makes the image a tensor.
func (n Normalize) Schema(in item.Schema) (item.Schema, error) {
	if err := in.Needs(fieldImage, "decode_image", item.KindImage); err != nil {
		return in, err
	}
	shape := item.MakeShape(-1, -1, -1)
	if f, ok := in.Find(fieldImage); ok && f.Typed && f.Shape.Rank() == 3 {
		shape = item.MakeShape(f.Shape.Dim(2), f.Shape.Dim(0), f.Shape.Dim(1))
		n = registry.Filled(n, (*Normalize).Bind)
		if want, got := max(len(n.Mean), len(n.Std)), f.Shape.Dim(2); got >= 0 && want > 1 && want != got {
			return in, fmt.Errorf("mean and std are for %d channels, the pictures have %d", want, got)
		}
	}
	return imageSchema(in, item.KindTensor, item.Float32, shape), nil
}

// Open makes the transform.
func (n Normalize) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	if err := n.Check(); err != nil {
		return graph.Transform[*item.Sample, *item.Sample]{}, err
	}
	n = registry.Filled(n, (*Normalize).Bind)
	tables := n.tables()
	return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
		_, src, err := needImage(in)
		if err != nil {
			return nil, err
		}
		if len(tables) != src.Channels && len(tables) > 1 {
			return nil, fmt.Errorf("mean and std are for %d channels, the picture has %d", len(tables), src.Channels)
		}
		shape := item.MakeShape(src.Channels, src.Height, src.Width)
		v := item.Tensor(c.Row(fieldImage, item.Float32, shape), item.Float32, shape)
		if src.Channels == 3 && len(tables) == 3 {
			normalizeRGB(v.Float32s(), src.Pix, tables)
		} else {
			normalizeAny(v.Float32s(), src.Pix, tables, src.Channels)
		}
		in.Set(fieldImage, v)
		return in, nil
	}}, nil
}

// tables hold the 256 results of each channel, or of all.
func (n *Normalize) tables() [][256]float32 {
	pick := func(l []float64, i int) float32 { return float32(l[min(i, len(l)-1)]) }
	t := make([][256]float32, max(len(n.Mean), len(n.Std)))
	for c := range t {
		for v := range t[c] {
			t[c][v] = (float32(v)/255 - pick(n.Mean, c)) / pick(n.Std, c)
		}
	}
	return t
}

func normalizeRGB(dst []float32, pix []byte, tables [][256]float32) {
	n := len(pix) / 3
	r, g, b := dst[:n], dst[n:][:n], dst[2*n:][:n]
	tr, tg, tb := &tables[0], &tables[1], &tables[2]
	for i := range r {
		p := pix[3*i : 3*i+3]
		r[i], g[i], b[i] = tr[p[0]], tg[p[1]], tb[p[2]]
	}
}

func normalizeAny(dst []float32, pix []byte, tables [][256]float32, channels int) {
	n := len(pix) / channels
	for c := range channels {
		t, plane := &tables[min(c, len(tables)-1)], dst[c*n:][:n]
		for i := range plane {
			plane[i] = t[pix[i*channels+c]]
		}
	}
}
