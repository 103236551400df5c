package jpeg

// zigzag gives the place in a block of the k-th coefficient.
var zigzag = [64]uint8{0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63}

// How a component's samples become pixels.
type upsampling uint8

const (
	upNone   upsampling = iota // one for one
	upRepeat                   // each sample fills a box
	upH2                       // triangle, twice as wide
	upV2                       // triangle, twice as high
	upH2V2                     // triangle, both
)

const pad = 32 // bytes before sample 0 and behind the last in each ring row

// plane is one component while a picture is decoded.
type plane struct {
	h, v   int
	size   int // side of a block after the transform: 8, 4, 2 or 1
	dw, dh int // real samples: what lies beyond is padding that no pixel may see
	bw, bh int // blocks, padded to whole MCUs
	rw, rh int // real blocks

	up     upsampling
	ex, ey int // pixels a sample across and down

	// wanted samples [x0,x1) × [y0,y1) and block columns [bx0,bx1); all 0 where the component is not wanted
	x0, x1, y0, y1 int
	bx0, bx1       int

	zq     [256]uint32 // by zigzag index: quantizer<<8 | place in the block; 64 and up: 0<<8 | 63
	places [256]uint8  // the places alone
	quant  [64]int16   // quantizer at each place in the block

	coef   []int16 // blocks of a batch of MCUs, row by row, all zero between batches
	last   []uint8 // zigzag index of the last coefficient of each of those blocks
	ring   []byte  // two MCU rows of samples
	stride int
	mask   int
	line   []byte // one row after upsampling

	// where there are several scans: all blocks down to the last wanted row, not multiplied yet
	store   []int16
	ends    []uint8  // sequential: zigzag index of the last coefficient of each
	nonzero []uint64 // progressive: bit k is set where coefficient k is not zero
	known   [64]int8 // bits of each coefficient still to come, -1: all
	latched bool     // quant is that of the first scan that named the component
}

// row gives sample row y; sample x is at index pad+x.
func (c *plane) row(y int) []byte {
	o := (y & c.mask) * c.stride
	return c.ring[o : o+c.stride]
}

// area is a rectangle of output pixels.
type area struct{ x, y, w, h int }

func (a area) right() int  { return a.x + a.w }
func (a area) bottom() int { return a.y + a.h }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// layPlane sets the sizes of component k for a transform of size smallest at the densest component, as libjpeg does:
// sparser components get a larger transform instead of upsampling where that comes out even.
func (h *header) layPlane(c *plane, k, smallest int) {
	f := &h.comps[k]
	c.h, c.v, c.size = f.h, f.v, smallest
	for c.size < 8 && h.maxH*smallest%(c.h*c.size*2) == 0 && h.maxV*smallest%(c.v*c.size*2) == 0 {
		c.size *= 2
	}
	c.dw, c.dh = ceilDiv(h.width*c.h*c.size, h.maxH*8), ceilDiv(h.height*c.v*c.size, h.maxV*8)
	c.rw, c.rh = ceilDiv(h.width*c.h, h.maxH*8), ceilDiv(h.height*c.v, h.maxV*8)
	c.bw, c.bh = h.mcusX()*c.h, h.mcusY()*c.v
	c.ex, c.ey = h.maxH*smallest/(c.h*c.size), h.maxV*smallest/(c.v*c.size)
	c.up = upRepeat
	fancy := smallest > 1
	switch {
	case c.ex == 1 && c.ey == 1:
		c.up = upNone
	case !fancy:
	case c.ex == 2 && c.ey == 1 && c.dw > 2:
		c.up = upH2
	case c.ex == 1 && c.ey == 2:
		c.up = upV2
	case c.ex == 2 && c.ey == 2 && c.dw > 2:
		c.up = upH2V2
	}
}

func (h *header) mcusX() int { return ceilDiv(h.width, 8*h.maxH) }
func (h *header) mcusY() int { return ceilDiv(h.height, 8*h.maxV) }

// want sets which samples and blocks the pixels of a need: one more on each side where they are interpolated.
func (c *plane) want(a area) {
	dx, dy := 0, 0
	switch c.up {
	case upH2:
		dx = 1
	case upV2:
		dy = 1
	case upH2V2:
		dx, dy = 1, 1
	}
	c.x0, c.x1 = max(a.x/c.ex-dx, 0), min((a.right()-1)/c.ex+1+dx, c.dw)
	c.y0, c.y1 = max(a.y/c.ey-dy, 0), min((a.bottom()-1)/c.ey+1+dy, c.dh)
	c.bx0, c.bx1 = c.x0/c.size, ceilDiv(c.x1, c.size)
}

func (c *plane) wantNothing() { c.x0, c.x1, c.y0, c.y1, c.bx0, c.bx1 = 0, 0, 0, 0, 0, 0 }

// memory makes room for rows of samples and coefficients. The coefficients of earlier pictures were cleared behind
// use.
func (c *plane) memory(width int) {
	c.coef = grow(c.coef, batch*c.h*c.v*64)
	c.last = grow(c.last, batch*c.h*c.v)
	rows := 2
	for rows < 2*c.v*c.size {
		rows *= 2
	}
	c.mask = rows - 1
	c.stride = (c.bw*c.size + 2*pad + 31) &^ 31
	c.ring = grow(c.ring, rows*c.stride)
	c.line = grow(c.line, width+2*pad+64)
}

// setQuantizer fills the words the entropy decoder multiplies by and stores with; order is where the kernels want
// them. later: it is to multiply by 1, for the multiplication comes with the transform.
func (c *plane) setQuantizer(q *[64]uint16, order *[64]uint8, later bool) {
	for k := range 64 {
		place := order[zigzag[k]]
		c.zq[k] = uint32(q[k])<<8 | uint32(place)
		if later {
			c.zq[k] = 1<<8 | uint32(place)
		}
		c.places[k] = place
		c.quant[place] = int16(q[k])
	}
	for k := 64; k < 256; k++ {
		c.zq[k], c.places[k] = 63, 63
	}
}
