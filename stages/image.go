package stages

import (
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages/resize"
)

// maxResult is the largest number of pixels that a stage makes of a picture: an odd shape must not ask for gigabytes.
const maxResult = 100_000_000

// maxSide is the longest side that is scaled: weights take 8 bytes for each pixel of it.
const maxSide = 1 << 20

// needImage is the picture of a sample as a view of its memory.
func needImage(in *item.Sample) (*item.Value, resize.View, error) {
	v, err := in.Need(fieldImage, item.KindImage)
	if err != nil {
		return nil, resize.View{}, err
	}
	s := v.Shape()
	if s.Elems() == 0 {
		return nil, resize.View{}, fmt.Errorf("field %q is an image of %v: it has no pixels", fieldImage, s)
	}
	return v, resize.Packed(v.Data(), s.Dim(1), s.Dim(0), s.Dim(2)), nil
}

// newImage takes memory for the picture of the output.
func newImage(c *graph.Call, h, w, channels int) (*item.Buffer, resize.View, error) {
	if int64(h)*int64(w) > maxResult {
		return nil, resize.View{}, fmt.Errorf("the result would have %d×%d pixels, more than %d", w, h, maxResult)
	}
	buf := c.Row(fieldImage, item.Uint8, item.MakeShape(h, w, channels))
	return buf, resize.Packed(buf.Data, w, h, channels), nil
}

// sizedSchema is the schema after a stage that makes pictures of h×w; -1 stands for any length.
func sizedSchema(in item.Schema, h, w int) (item.Schema, error) {
	if err := in.Needs(fieldImage, "decode_image", item.KindImage); err != nil {
		return in, err
	}
	channels := -1
	if f, ok := in.Find(fieldImage); ok && f.Typed && f.Shape.Rank() == 3 {
		channels = f.Shape.Dim(2)
	}
	return imageSchema(in, item.KindImage, item.Uint8, item.MakeShape(h, w, channels)), nil
}
