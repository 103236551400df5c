package sources

import "github.com/penstock-go/penstock/shard"

// Picture says which made-up photograph to paint. Two equal Pictures give the same bytes on every machine.
type Picture struct {
	Seed          uint64
	Index         int64
	Class         int // decides on colours and the number of shapes, so that a classifier can learn it
	Width, Height int // at least 1, at most 65535
}

// Painter makes JPEG files that look like blurred photographs and cost as much to decode as real ones of their size:
// about 2 bits a pixel at 4:2:0, with texture in every block. It belongs to one worker; its zero value is ready.
//
// Method: the picture is made where JPEG keeps it, as quantized coefficients: constant terms from a few soft shapes on
// a slope of light, the two lowest frequencies from the slope between blocks, and texture with the 1/f spectrum of
// natural scenes, taken ready coded from a stock of some hundred. So it costs neither a transform nor much coding.
// Integers only. Cost: about an eighth of decoding (BenchmarkPainter), and 2 ms for the stock.
type Painter struct {
	cells []cell // one for each 8×8 block, with a rim of one
	w, h  int    // in blocks, rim included
	bits  bitWriter
	rand  uint64
	grain *grain
}

// prepare makes the stock of textures. Painters may share one.
func (p *Painter) prepare() {
	if p.grain == nil {
		p.grain = newGrain()
	}
}

// cell is the scene in the middle of a block.
type cell struct{ light, blue, red, rough int32 }

// shape is a soft ellipse.
type shape struct {
	x, y, rx, ry int32 // in blocks, times 16
	cell
}

const maxShapes = 6

// Append appends the file to dst.
func (p *Painter) Append(dst []byte, pic Picture) []byte {
	p.prepare()
	p.rand = shard.Hash(pic.Seed, uint64(pic.Index))
	p.compose(pic)
	p.bits.out = appendHeader(dst, pic.Width, pic.Height)
	var before [3]int32 // of the constant terms of Y, Cb, Cr
	for y := 0; y < (pic.Height+15)/16; y++ {
		for x := 0; x < (pic.Width+15)/16; x++ {
			at := (2*y+1)*p.w + 2*x + 1
			p.luma(at, &before[0])
			p.luma(at+1, &before[0])
			p.luma(at+p.w, &before[0])
			p.luma(at+p.w+1, &before[0])
			p.chroma(at, &before)
		}
	}
	p.bits.flush()
	return append(p.bits.out, 0xFF, 0xD9)
}

// draw is the next random number in 0..n-1.
func (p *Painter) draw(n int32) int32 {
	p.rand = p.rand*6364136223846793005 + 1442695040888963407
	return int32(uint64(uint32(p.rand>>32)) * uint64(n) >> 32)
}

// compose fills the cells: sky to ground, and shapes in the colours of the class.
func (p *Painter) compose(pic Picture) {
	p.w, p.h = 2*((pic.Width+15)/16)+2, 2*((pic.Height+15)/16)+2
	if n := p.w * p.h; cap(p.cells) < n {
		p.cells = make([]cell, n)
	} else {
		p.cells = p.cells[:n]
	}
	class := shard.Hash(uint64(pic.Class), 0x636C617373)
	var shapes [maxShapes]shape
	n := 2 + int(class%(maxShapes-1))
	for i := range n {
		shapes[i] = p.shape(shard.Hash(class, uint64(i)))
	}
	top, low := 150+p.draw(80), 40+p.draw(80)
	blue, red := int32(class>>8%64)-32, int32(class>>16%64)-32
	for y := range p.h {
		for x := range p.w {
			c := cell{top + (low-top)*int32(y)/int32(p.h), blue, red, 20 + p.draw(40)}
			for i := range shapes[:n] {
				shapes[i].paint(&c, int32(x)*16, int32(y)*16)
			}
			p.cells[y*p.w+x] = c
		}
	}
}

func (p *Painter) shape(look uint64) shape {
	w, h := int32(p.w)*16, int32(p.h)*16
	return shape{
		x: p.draw(w), y: p.draw(h), rx: w/12 + p.draw(w/4+1) + 1, ry: h/12 + p.draw(h/4+1) + 1,
		cell: cell{
			light: 40 + int32(look%160) + p.draw(32),
			blue:  int32(look>>8%128) - 64 + p.draw(16),
			red:   int32(look>>16%128) - 64 + p.draw(16),
			rough: 20 + int32(look>>24%160),
		},
	}
}

// paint blends the shape into the cell at (x, y); its edge is soft.
func (s *shape) paint(c *cell, x, y int32) {
	dx, dy := int64(x-s.x)*16/int64(s.rx), int64(y-s.y)*16/int64(s.ry)
	d := dx*dx + dy*dy
	if d >= 256 {
		return
	}
	k := min(256, int32(256-d)*4)
	c.light += (s.light - c.light) * k >> 8
	c.blue += (s.blue - c.blue) * k >> 8
	c.red += (s.red - c.red) * k >> 8
	c.rough += (s.rough - c.rough) * k >> 8
}

// luma writes the block at the cell. A straight slope of one level a pixel has the lowest coefficient -18.2.
func (p *Painter) luma(at int, before *int32) {
	c := &p.cells[at]
	p.bits.value(&lumaDC, 0, difference(quantize((c.light-128)*8, lumaQuant[0]), before))
	across := quantize((p.cells[at-1].light-p.cells[at+1].light)*182/160, lumaQuant[1])
	down := quantize((p.cells[at-p.w].light-p.cells[at+p.w].light)*182/160, lumaQuant[2])
	p.grained(&p.grain.luma, c.rough, across, down, &lumaAC)
}

func (p *Painter) chroma(at int, before *[3]int32) {
	c := &p.cells[at]
	for i, level := range [2]int32{c.blue, c.red} {
		p.bits.value(&chromaDC, 0, difference(quantize(level*8, chromaQuant[0]), &before[i+1]))
		p.grained(&p.grain.chroma, c.rough/3, 0, 0, &chromaAC)
	}
}

func difference(v int32, before *int32) int32 {
	d := v - *before
	*before = v
	return d
}

func quantize(v, q int32) int32 {
	if v < 0 {
		return -((-v + q/2) / q)
	}
	return (v + q/2) / q
}

// grained writes the rest of a block: its two lowest frequencies and a texture of the wanted roughness.
func (p *Painter) grained(textures *[roughLevels][variants]texture, rough, first, second int32, ac *huffman) {
	t := &textures[rough>>3&(roughLevels-1)][p.draw(variants)]
	run := 0
	for _, v := range [3]int32{first, second, t.third} {
		if v == 0 {
			run++
			continue
		}
		p.bits.value(ac, run<<4, v)
		run = 0
	}
	n := t.bits
	for _, w := range t.words {
		p.bits.put(w>>(32-min(n, 32)), min(n, 32))
		n -= min(n, 32)
	}
}
