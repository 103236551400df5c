package jpeg

// emitRows emits the pixel rows that are ready once MCU row my has been transformed.
func (d *Decoder) emitRows(my int) {
	end := d.a.bottom()
	for k := range d.h.nc {
		c := &d.planes[k]
		have := (my + 1) * c.v * c.size
		switch {
		case have >= c.y1: // or nobody wants it
		case c.up == upV2 || c.up == upH2V2:
			end = min(end, 2*have-1) // the last row waits for the sample row below
		default:
			end = min(end, have*c.ey)
		}
	}
	for ; d.nextY < end; d.nextY++ {
		d.emit(d.dst[(d.nextY-d.a.y)*d.stride:], d.nextY)
	}
}

// transform turns the wanted blocks of MCUs [mx,end) of row my into samples and leaves their coefficients zero.
func (d *Decoder) transform(my, mx, end int) {
	if d.h.several() {
		return
	}
	for k := range d.h.nc {
		if c := &d.planes[k]; c.y1 > 0 {
			d.transformPlane(c, my, mx, end)
		}
	}
}

func (d *Decoder) transformPlane(c *plane, my, mx, end int) {
	x := max(c.bx0, mx*c.h)
	n := min(c.bx1, end*c.h) - x
	if n <= 0 {
		return
	}
	for v := range c.v {
		y := (my*c.v + v) * c.size
		if y >= c.y1 || y+c.size <= c.y0 {
			continue
		}
		at := v*batch*c.h + x - d.base*c.h
		out := c.ring[(y&c.mask)*c.stride+pad+x*c.size:]
		if d.fast(c) {
			coef := c.coef[at*64:]
			if d.h.several() {
				coef = c.store[((my*c.v+v)*c.bw+x)*64:]
			}
			transformRow(out, c.stride, coef, &c.quant, c.last[at:], n)
			continue
		}
		for j := range n {
			b, last := (*[64]int16)(c.coef[(at+j)*64:]), c.last[at+j]
			if c.size == 1 {
				last = 0 // only the DC coefficient was decoded
			}
			if d.multiplyLater() && !d.h.several() {
				multiply(b, b, &c.quant, last)
			}
			transformBlock(out[j*c.size:], c.stride, b, last, c.size)
		}
	}
}

// transformBlock is the Go form: it leaves the block zero, too.
func transformBlock(out []byte, stride int, b *[64]int16, last uint8, size int) {
	switch size {
	case 8:
		idct8(out, stride, b, last)
	case 4:
		idct4(out, stride, b)
	case 2:
		idct2(out, stride, b)
	default:
		out[0] = idct1(b)
	}
	*b = [64]int16{}
}

// emit makes pixel row y of the wanted area.
func (d *Decoder) emit(dst []byte, y int) {
	var s [4][]byte
	for k := range d.h.nc {
		if c := &d.planes[k]; c.y1 > 0 {
			s[k] = d.samples(c, y)
		}
	}
	w := d.a.w
	switch {
	case d.grey && (d.colour == Grey || d.colour == YCbCr):
		copy(dst[:w], s[0])
	case d.grey:
		d.rgb = grow(d.rgb, 3*w)
		d.rgbRow(d.rgb, s, w)
		greyRow(dst[:w], d.rgb)
	default:
		d.rgbRow(dst[:3*w], s, w)
	}
}

// rgbRow makes w pixels of RGB from full-width samples.
func (d *Decoder) rgbRow(dst []byte, s [4][]byte, w int) {
	switch d.colour {
	case Grey:
		d.ycc(dst, s[0], d.flat, d.flat, w)
	case YCbCr:
		d.ycc(dst, s[0], s[1], s[2], w)
	case RGB:
		r, g, b := s[0][:w], s[1][:w], s[2][:w]
		for i := range r {
			dst[3*i], dst[3*i+1], dst[3*i+2] = r[i], g[i], b[i]
		}
	case CMYK:
		cmykRow(dst, s, w)
	case YCCK:
		d.ycc(dst, s[0], s[1], s[2], w)
		blackRow(dst, s[3][:w])
	}
}

// samples gives one sample a pixel for row y of the wanted area.
func (d *Decoder) samples(c *plane, y int) []byte {
	x := d.a.x
	switch c.up {
	case upNone:
		return c.row(y)[pad+x:]
	case upH2:
		d.widen(c, c.row(y), nil)
		return c.line[x&1:]
	case upV2:
		near, far := c.nearFar(y)
		bias := uint(1 + y&1)
		mixRows(c.line[:d.a.w], near[pad+x:], far[pad+x:], bias)
		return c.line
	case upH2V2:
		near, far := c.nearFar(y)
		d.widen(c, near, far)
		return c.line[x&1:]
	}
	row := c.row(y / c.ey)[pad:]
	if c.ex == 1 {
		return row[x:]
	}
	repeatRow(c.line[:d.a.w], row, x, c.ex)
	return c.line
}

// nearFar gives the sample row of pixel row y and the next nearest one: above for even rows, below for odd ones.
func (c *plane) nearFar(y int) (near, far []byte) {
	s := y >> 1
	return c.row(s), c.row(min(max(s-1+y&1*2, 0), c.dh-1))
}

// widen interpolates a row to twice its width into c.line, which then begins at an even pixel. far is nil for upH2.
// The samples beyond the edges are copies of the last real ones: then the edges need no formula of their own.
func (d *Decoder) widen(c *plane, near, far []byte) {
	x0, x1 := d.a.x>>1, (d.a.right()+1)>>1
	near[pad-1], near[pad+c.dw] = near[pad], near[pad+c.dw-1]
	if far == nil {
		d.widen1(c.line, near[pad+x0-1:], x1-x0)
		return
	}
	far[pad-1], far[pad+c.dw] = far[pad], far[pad+c.dw-1]
	d.widen2(c.line, near[pad+x0-1:], far[pad+x0-1:], x1-x0)
}

func (d *Decoder) widen1(line, near []byte, n int) {
	if haveKernels && !d.pure {
		widen1Row(line, near, n)
		return
	}
	widen1Go(line, near, n)
}

func (d *Decoder) widen2(line, near, far []byte, n int) {
	if haveKernels && !d.pure {
		widen2Row(line, near, far, n)
		return
	}
	widen2Go(line, near, far, n)
}

func (d *Decoder) ycc(dst, y, cb, cr []byte, n int) {
	if haveKernels && !d.pure && n >= 16 {
		yccRow(dst, y, cb, cr, n)
		return
	}
	yccGo(dst, y, cb, cr, n)
}
