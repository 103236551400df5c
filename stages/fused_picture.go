package stages

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/bits"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/stages/jpeg"
	"github.com/penstock-go/penstock/stages/resize"
)

// Fuse joins decoding with a random crop: where the crop lies is known before decoding, so that only that part of a JPEG
// is transformed, and from the second epoch on little more is read.
func (d DecodeImage) Fuse(next any) (any, bool) {
	crop, ok := next.(RandomResizedCrop)
	return fusedPicture{decode: &d, crop: crop}, ok
}

// Fuse joins a random crop with the flip or the normalizing that follows: one pass over the pixels does it all.
func (r RandomResizedCrop) Fuse(next any) (any, bool) { return fusedPicture{crop: r}.Fuse(next) }

// fusedPicture is a random crop with what stands around it. It gives the bytes that its members give apart, and the same
// errors: a JPEG is read to its end before its index is known to be good, so that damage outside the crop is found.
type fusedPicture struct {
	decode    *DecodeImage // nil: pictures come decoded
	crop      RandomResizedCrop
	flip      *RandomFlip
	normalize *Normalize
}

// Fuse joins the flip and the normalizing.
func (p fusedPicture) Fuse(next any) (any, bool) {
	switch n := next.(type) {
	case RandomFlip:
		if p.flip == nil && p.normalize == nil {
			p.flip = &n
			return p, true
		}
	case Normalize:
		if p.normalize == nil {
			p.normalize = &n
			return p, true
		}
	}
	return nil, false
}

// Phases are what the clock can tell apart.
func (p fusedPicture) Phases() []string {
	rest := "crop"
	if p.flip != nil {
		rest += "+flip"
	}
	if p.normalize != nil {
		rest += "+normalize"
	}
	if p.decode == nil {
		return []string{rest}
	}
	return []string{"decode", rest}
}

// Open makes the transform; each worker has a decoder and scratch memory of its own.
func (p fusedPicture) Open(_ context.Context, env *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	shared := fusedWorker{crop: registry.Filled(p.crop, (*RandomResizedCrop).Bind)}
	shared.low, shared.high = logarithm(shared.crop.Ratio[0]), logarithm(shared.crop.Ratio[1])
	member := 0
	if p.decode != nil {
		d := registry.Filled(*p.decode, (*DecodeImage).Bind)
		shared.decode = &d
		member++
		if env.Epochs != 1 {
			shared.sound = new(soundFiles)
		}
		if d.Index == indexMemory && env.Epochs != 1 {
			shared.indexes = newSideIndexes(env, d.IndexLimit)
		}
	}
	shared.cropAt = member
	if p.flip != nil {
		member++
		shared.flipAt, shared.flip = member, registry.Filled(*p.flip, (*RandomFlip).Bind).Probability
	}
	if p.normalize != nil {
		member++
		n := registry.Filled(*p.normalize, (*Normalize).Bind)
		shared.tables, shared.channels = resize.Normal(n.Mean, n.Std), max(len(n.Mean), len(n.Std))
	}
	shared.last = member
	return perWorker(func(context.Context) (graph.Transform[*item.Sample, *item.Sample], error) {
		w := shared
		return graph.Transform[*item.Sample, *item.Sample]{Map: w.picture}, nil
	})
}

// fusedWorker belongs to one worker.
type fusedWorker struct {
	decode               *DecodeImage
	crop                 RandomResizedCrop
	low, high            float64
	flip                 float64 // probability; 0: there is no flip
	tables               *resize.Tables
	channels             int // that tables are for; 1: any number
	cropAt, flipAt, last int // members
	indexes              *sideIndexes
	sound                *soundFiles // nil: no picture comes twice

	decoder decoder
	scaler  resize.Scaler
	made    jpeg.Index
	stored  []byte // what was decoded last, as it is stored
}

// ownPixels is how much memory a worker keeps for what it decodes. Regions are of all sizes: recycled by size, many would
// be fresh.
const ownPixels = 4 << 20

// pixels is memory for n bytes of a decoded picture, until the next call.
func (w *fusedWorker) pixels(c *graph.Call, n int) (data []byte, own *item.Buffer) {
	if n > ownPixels {
		own = c.Buffer(n)
		return own.Data, own
	}
	if cap(w.stored) < n {
		w.stored = make([]byte, max(256<<10, 1<<bits.Len(uint(n-1))))
	}
	return w.stored[:n], nil
}

// part is what was decoded of a picture, upright, and the box of it that is wanted.
type part struct {
	region resize.Region
	box    resize.Box
	own    *item.Buffer // of the region, to be released; nil: the sample's or the worker's memory
}

func (w *fusedWorker) picture(c *graph.Call, in *item.Sample) (*item.Sample, error) {
	p, err := w.part(c, in)
	if err != nil {
		return nil, err
	}
	if p.own != nil {
		defer p.own.Release()
	}
	if w.decode != nil {
		c.Lap(0)
	}
	size, channels := w.crop.Size, p.region.Channels
	if w.tables != nil && w.channels > 1 && w.channels != channels {
		return nil, graph.InMember(w.last, fmt.Errorf("mean and std are for %d channels, the picture has %d", w.channels, channels))
	}
	if int64(size)*int64(size) > maxResult {
		return nil, graph.InMember(w.cropAt, fmt.Errorf("the result would have %d×%d pixels, more than %d", size, size, maxResult))
	}
	job := resize.Job{Box: p.box, Width: size, Height: size}
	job.Flip = w.flip > 0 && c.Of(w.flipAt).Rand().Float64() < w.flip
	var out item.Value
	if w.tables != nil {
		shape := item.MakeShape(channels, size, size)
		out = item.Tensor(c.Of(w.last).Row(fieldImage, item.Float32, shape), item.Float32, shape)
		w.scaler.Floats(out.Float32s(), p.region, job, w.tables)
	} else {
		shape := item.MakeShape(size, size, channels)
		out = item.Picture(c.Of(w.last).Row(fieldImage, item.Uint8, shape), size, size, channels)
		w.scaler.Bytes(resize.Packed(out.Data(), size, size, channels), p.region, job)
	}
	in.Set(fieldImage, out)
	if w.decode == nil {
		c.Lap(0)
	} else {
		c.Lap(1)
	}
	return in, nil
}

// part draws the crop and decodes what it needs.
func (w *fusedWorker) part(c *graph.Call, in *item.Sample) (part, error) {
	if w.decode == nil {
		_, src, err := needImage(in)
		if err != nil {
			return part{}, err
		}
		return part{region: src.At(0, 0), box: w.box(c, src.Width, src.Height)}, nil
	}
	v, err := in.Need(fieldImage, item.KindBytes)
	if err != nil {
		return part{}, err
	}
	h, err := probe(v.Data())
	if err == nil {
		err = h.check(w.decode.MaxPixels)
	}
	if err != nil {
		return part{}, err
	}
	o := h.orientation
	if w.decode.IgnoreOrientation {
		o = 1
	}
	width, height := turned(o, h.width, h.height)
	box := w.box(c, width, height)
	stored, at := image.Rect(0, 0, h.width, h.height), resize.Box{}
	if h.format == formatJPEG {
		stored, at = storedBox(box, o, h.width, h.height), box
	}
	data, own := w.pixels(c, 3*stored.Dx()*stored.Dy())
	if h.format == formatJPEG {
		err = w.jpeg(c, data, v.Data(), stored)
	} else {
		err = w.decoder.whole(data, v.Data(), h)
	}
	rw, rh := turned(o, stored.Dx(), stored.Dy())
	if err == nil && o != 1 {
		upright := c.Buffer(3 * rw * rh)
		turn(upright.Data, data, stored.Dx(), stored.Dy(), o)
		if own != nil {
			own.Release()
		}
		data, own = upright.Data, upright
	}
	if err != nil {
		if own != nil {
			own.Release()
		}
		return part{}, err
	}
	return part{resize.Packed(data, rw, rh, 3).At(at.X, at.Y), box, own}, nil
}

func (w *fusedWorker) box(c *graph.Call, width, height int) resize.Box {
	x, y, bw, bh := w.crop.rectangle(c.Of(w.cropAt).Rand(), width, height, w.low, w.high)
	return resize.Box{X: x, Y: y, W: bw, H: bh}
}

// jpeg decodes a region. The first time it reads to the end, which finds all damage, and keeps a side index; from then
// on it starts at the region, and ends with it.
func (w *fusedWorker) jpeg(c *graph.Call, dst, data []byte, region image.Rectangle) error {
	opt := jpeg.Options{Region: region, MaxPixels: w.decode.MaxPixels}
	id, again := idOf(c)
	if again = again && w.sound != nil; !again {
		return w.toEnd(dst, data, opt, false)
	}
	if w.indexes != nil {
		if opt.Index = w.indexes.get(id); len(opt.Index) > 0 {
			_, err := w.decoder.jpeg.Decode(dst, data, opt)
			if !errors.Is(err, jpeg.ErrIndex) {
				return jpegError(err)
			}
			w.indexes.forget(id) // the file has changed since
		}
		opt.Index = nil
	}
	known, sum := w.sound.of(id), checksum(data)
	if known.Load() == sum {
		_, err := w.decoder.jpeg.Decode(dst, data, opt)
		return jpegError(err)
	}
	keep := w.indexes != nil && !w.indexes.full.Load()
	err := w.toEnd(dst, data, opt, keep)
	if err == nil {
		known.Store(sum)
	}
	if err == nil && keep {
		w.indexes.put(id, w.made)
	}
	return err
}

// toEnd decodes a region and reads all of the file. It makes a side index where one is kept.
func (w *fusedWorker) toEnd(dst, data []byte, opt jpeg.Options, keep bool) error {
	opt.MakeIndex = &w.made
	if !keep {
		opt.IndexRows = 1 << 15 // one entry: only to read everything
	}
	_, err := w.decoder.jpeg.Decode(dst, data, opt)
	return jpegError(err)
}

// storedBox is where a box of the upright picture lies in the stored one of w×h pixels.
func storedBox(b resize.Box, orientation, w, h int) image.Rectangle {
	x, y, bw, bh := b.X, b.Y, b.W, b.H
	if orientation >= 5 {
		x, y, bw, bh = b.Y, b.X, b.H, b.W
	}
	switch orientation {
	case 2, 3, 7, 8:
		x = w - x - bw
	}
	switch orientation {
	case 3, 4, 6, 7:
		y = h - y - bh
	}
	return image.Rect(x, y, x+bw, y+bh)
}
