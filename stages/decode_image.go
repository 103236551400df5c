package stages

import (
	"context"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/stages/jpeg"
)

var _ = kinds.Add(registry.Stage[DecodeImage](registry.Meta{
	Name: "decode_image", Summary: "Decodes JPEG, PNG, GIF and WebP pictures to RGB, by their content.",
	Example: "decode_image: {}",
}, (*DecodeImage).Bind))

// DecodeImage decodes the encoded picture in the field image to one of uint8, height × width × 3 (RGB). What a file is,
// its first bytes tell, never its name.
//
// Colours. Grey and palette pictures become RGB. CMYK JPEGs become RGB without a colour profile, as Pillow does. Alpha is
// dropped: the stored colour stays. 16 bits become 8 by v*255/65535, rounded. Of a GIF the first frame is taken, on its
// whole canvas; pixels that are transparent or not covered are black. Lossy WebP has libwebp's pixels. An animated WebP
// is refused.
//
// Orientation. The EXIF tag of JPEG, PNG and WebP is applied, so that pictures stand upright; IgnoreOrientation leaves
// the stored pixels as they are.
//
// Errors. A picture of more than MaxPixels is refused from its header, before memory is taken. Data that end early are
// an error ("the picture is cut short"), no matter how little is missing; a JPEG or PNG whose pixels are all there needs
// no end mark. Anything after the end of a picture is ignored, so is anything after a GIF's first frame.
//
// Each worker has a decoder of its own, which keeps its memory. Pictures are decoded into recycled memory. Order does not
// matter. Cost: see BenchmarkDecodeImage; about 4 ns a pixel for a JPEG photograph, 18 for a PNG.
// Before a random crop that is fused with it, only the crop is transformed to pixels. A JPEG is read to its end, so that
// damage anywhere in it is an error; where that has gone well once in the run and a checksum tells that nothing has
// changed since, only as far as the crop. Of each a side index is then kept in memory, some hundred bytes, so that in
// later epochs decoding starts at the crop; Index "off" leaves them out, IndexLimit bounds them, and they count in
// budget.memory. Pixels and errors are the same either way.
type DecodeImage struct {
	MaxPixels         int
	IgnoreOrientation bool
	Index             string
	IndexLimit        int64
}

const indexMemory, indexOff = "memory", "off"

// Bind names the fields.
func (d *DecodeImage) Bind(f *registry.Fields) {
	f.Int(&d.MaxPixels, "max_pixels", 100_000_000, "a larger picture is an error, before memory is taken",
		registry.Min(1), registry.Max(1<<30))
	f.Choice(&d.Index, "index", indexMemory, "where side indexes of JPEGs are kept if a random crop follows", indexMemory, indexOff)
	f.Size(&d.IndexLimit, "index_limit", 64<<20, "the most memory that side indexes take", registry.Min(1<<20))
	f.Bool(&d.IgnoreOrientation, "ignore_orientation", "leave pictures as they are stored, whatever their EXIF tag says")
}

// Check refuses settings that are out of range.
func (d DecodeImage) Check() error { return registry.Check(&d, (*DecodeImage).Bind) }

// Schema turns the bytes in image into an image of three channels.
func (DecodeImage) Schema(in item.Schema) (item.Schema, error) {
	if err := in.Needs(fieldImage, "a source of encoded pictures", item.KindBytes); err != nil {
		return in, err
	}
	return imageSchema(in, item.KindImage, item.Uint8, item.MakeShape(-1, -1, 3)), nil
}

// Peak is what decoding the sample will take, from the picture's header.
func (d DecodeImage) Peak(in *item.Sample) int64 {
	v := in.Get(fieldImage)
	if v == nil || v.Kind() != item.KindBytes {
		return 0
	}
	d = registry.Filled(d, (*DecodeImage).Bind)
	h, err := probe(v.Data())
	if err != nil || h.check(d.MaxPixels) != nil {
		return in.Bytes() // it will fail before it takes more
	}
	out := 3 * h.pixels()
	if h.orientation != 1 && !d.IgnoreOrientation {
		out *= 2
	}
	return in.Bytes() + out + h.working
}

// Open makes the transform.
func (d DecodeImage) Open(_ context.Context, env *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	needKernels(env, jpeg.Kernels())
	d = registry.Filled(d, (*DecodeImage).Bind)
	return perWorker(func(context.Context) (graph.Transform[*item.Sample, *item.Sample], error) {
		w := &decoder{DecodeImage: d}
		return graph.Transform[*item.Sample, *item.Sample]{Map: w.decode}, nil
	})
}

// decoder belongs to one worker.
type decoder struct {
	DecodeImage
	jpeg jpeg.Decoder
	png  pngDecoder
}

func (d *decoder) decode(c *graph.Call, in *item.Sample) (*item.Sample, error) {
	v, err := in.Need(fieldImage, item.KindBytes)
	if err != nil {
		return nil, err
	}
	h, err := probe(v.Data())
	if err == nil {
		err = h.check(d.MaxPixels)
	}
	if err != nil {
		return nil, err
	}
	w, ht := h.width, h.height
	turns := h.orientation != 1 && !d.IgnoreOrientation
	var buf *item.Buffer
	if turns {
		w, ht = turned(h.orientation, w, ht)
		buf = c.Buffer(3 * w * ht)
	} else {
		buf = c.Row(fieldImage, item.Uint8, item.MakeShape(ht, w, 3))
	}
	if err = d.whole(buf.Data, v.Data(), h); err != nil {
		buf.Release()
		return nil, err
	}
	if turns {
		upright := c.Row(fieldImage, item.Uint8, item.MakeShape(ht, w, 3))
		turn(upright.Data, buf.Data, h.width, h.height, h.orientation)
		buf.Release()
		buf = upright
	}
	in.Set(fieldImage, item.Picture(buf, ht, w, 3))
	return in, nil
}

// whole decodes a whole picture as it is stored.
func (d *decoder) whole(dst, data []byte, h header) error {
	switch h.format {
	case formatJPEG:
		_, err := d.jpeg.Decode(dst, data, jpeg.Options{MaxPixels: d.MaxPixels})
		return jpegError(err)
	case formatPNG:
		return d.png.decode(dst, data)
	default:
		return decodeOther(dst, data, h)
	}
}
