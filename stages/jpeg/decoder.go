package jpeg

import "math"

// Decoder decodes pictures one after another and keeps its memory: once it has met the largest, it takes none. The
// zero value is ready. It is not safe for concurrent use: keep one for each worker. It keeps no part of data or dst
// between calls.
type Decoder struct {
	pure bool // leave the kernels alone (tests)

	h      header
	tab    tables
	planes [4]plane
	blocks []mcuBlock
	src    source
	pred   [4]int32
	ix     indexReader
	mk     indexMaker

	a                 area // wanted output
	firstRow, lastRow int  // MCU rows that hold wanted samples
	firstCol, lastCol int  // MCU columns, lastCol excluded
	dst               []byte
	stride            int
	grey              bool
	colour            Colour
	nextY             int // next output row
	lenient           bool
	damage            error
	base              int  // column that is the first in the planes' room for a batch
	dead              int  // MCUs before this one are lost
	sought            bool // the source stands at an MCU by itself: no restart marker is due
	dirty             bool // coefficients of a decode that failed may be left
	maxScans          int
	cols, rows        int // MCUs of the scan at hand
	work              int // blocks visited by the last decode
	flat              []byte
	rgb               []byte
	prog              progressive
}

// Decode decodes data into dst: rows of 3 bytes a pixel (R, G, B), or of 1 for opt.Grey, opt.Stride apart. The sizes
// come from [Info.OutputSize]. dst is written only in whole rows of the output; after an error its content is
// undefined. Errors match one of the Err values. Cost on one core of a server of 2023: 2 to 3 ns a pixel of a
// photograph for the whole, less for regions (bench/jpeg).
func (d *Decoder) Decode(dst, data []byte, opt Options) (Result, error) {
	defer d.release()
	d.work = 0
	if err := d.prepare(dst, data, &opt); err != nil {
		return Result{}, err
	}
	d.dirty = true
	var err error
	if d.h.several() {
		err = d.stored()
	} else {
		err = d.sequential()
	}
	if err != nil {
		return Result{}, err
	}
	d.dirty = false
	if d.mk.making && d.damage == nil && !d.src.odd {
		*opt.MakeIndex = d.mk.finish(data)
	}
	return Result{Width: d.a.w, Height: d.a.h, Whole: d.damage == nil, Damage: d.damage}, nil
}

// release lets go of the caller's memory.
func (d *Decoder) release() {
	d.dst, d.src.data, d.damage = nil, nil, nil
	d.h.data, d.h.dht = nil, [2][4][]byte{}
	d.ix, d.mk = indexReader{}, indexMaker{}
}

// prepare reads the header, checks everything that can be checked before memory is taken, and lays out the planes.
func (d *Decoder) prepare(dst, data []byte, opt *Options) error {
	h := &d.h
	if err := h.start(data); err != nil {
		return err
	}
	if err := d.limits(opt); err != nil {
		return err
	}
	var err error
	if d.a, err = opt.area(h.width, h.height); err != nil {
		return err
	}
	if d.stride, err = opt.stride(dst, d.a); err != nil {
		return err
	}
	d.dst, d.grey, d.lenient, d.colour = dst, opt.Grey, opt.Lenient, h.colour()
	d.nextY = d.a.y
	if len(opt.Index) > 0 {
		if err := d.ix.open(h, opt.Index); err != nil {
			return err
		}
	}
	if opt.MakeIndex != nil {
		if len(opt.Index) > 0 {
			return fail(ErrUsage, -1, "an index cannot be used and made in one call")
		}
		*opt.MakeIndex = (*opt.MakeIndex)[:0]
		if !h.several() && int64(len(data)) <= math.MaxUint32 {
			d.mk.start(h, opt)
		}
	}
	return d.layout(8 / max(opt.Scale, 1))
}

// limits refuses pictures that are too large, or that claim more blocks than their bytes can hold: each takes a bit
// at least. So work is bounded by the size of the data times the number of scans.
func (d *Decoder) limits(opt *Options) error {
	h := &d.h
	most := opt.MaxPixels
	if most <= 0 {
		most = DefaultMaxPixels
	}
	if n := int64(h.width) * int64(h.height); n > int64(most) {
		return fail(ErrLimit, h.frameAt, "the picture has %dx%d = %d pixels, the limit is %d", h.width, h.height, n, most)
	}
	d.maxScans = opt.MaxScans
	if d.maxScans <= 0 {
		d.maxScans = DefaultMaxScans
	}
	blocks := int64(0)
	for k := range h.nc {
		c := &h.comps[k]
		blocks += int64(ceilDiv(h.width*c.h, h.maxH*8)) * int64(ceilDiv(h.height*c.v, h.maxV*8))
	}
	if left := len(h.data) - h.scan.data; blocks > 8*int64(left) {
		return fail(ErrCutShort, len(h.data), "the picture is cut short: %dx%d pixels are %d blocks, and only %d bytes follow its header",
			h.width, h.height, blocks, left)
	}
	return nil
}

// layout sets up the planes for a smallest transform of size (8, 4, 2, 1) and finds the MCUs that matter.
func (d *Decoder) layout(smallest int) error {
	h := &d.h
	several := h.several()
	d.firstRow, d.lastRow, d.firstCol, d.lastCol = h.mcusY(), 0, h.mcusX(), 0
	if d.dirty {
		for k := range d.planes { // not only those of this picture
			clear(d.planes[k].coef[:cap(d.planes[k].coef)])
		}
	}
	for k := range h.nc {
		c := &d.planes[k]
		h.layPlane(c, k, smallest)
		if d.grey && k > 0 && d.colour == YCbCr {
			c.wantNothing()
			continue
		}
		if !several && !h.qtSeen[h.comps[k].tq] {
			return fail(ErrDamaged, h.scan.data, "quantizer %d, which component %d wants, was never sent", h.comps[k].tq, k)
		}
		c.want(d.a)
		c.memory(d.a.w)
		d.firstRow = min(d.firstRow, c.y0/(c.v*c.size))
		d.lastRow = max(d.lastRow, (c.y1-1)/(c.v*c.size))
		d.firstCol = min(d.firstCol, c.bx0/c.h)
		d.lastCol = max(d.lastCol, ceilDiv(c.bx1, c.h))
		if !several {
			c.setQuantizer(&h.qt[h.comps[k].tq], d.order(c), d.multiplyLater())
		}
	}
	d.lastCol = min(d.lastCol, h.mcusX())
	d.flatRow()
	return nil
}

// fast says whether the kernels transform this plane.
func (d *Decoder) fast(c *plane) bool { return haveKernels && !d.pure && c.size == 8 }

// multiplyLater says whether blocks are multiplied by the quantizer as they are transformed, which costs the kernel
// nothing, or as they are decoded, which costs Go least.
func (d *Decoder) multiplyLater() bool { return haveKernels && !d.pure || d.h.several() }

// order is where the transform of this plane wants its coefficients.
func (d *Decoder) order(c *plane) *[64]uint8 {
	if d.fast(c) {
		return &vector
	}
	return &natural
}

// flatRow keeps a row of 128, the chroma of grey.
func (d *Decoder) flatRow() {
	if n := d.a.w + 64; len(d.flat) < n {
		d.flat = make([]byte, n)
		for i := range d.flat {
			d.flat[i] = 128
		}
	}
}
