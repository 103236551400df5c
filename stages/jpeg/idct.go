package jpeg

import "encoding/binary"

// The accurate integer inverse DCT of libjpeg (jidctint): Loeffler, Ligtenberg and Moschytz, 13-bit constants, 2 more
// bits kept between the passes, columns first. What all forms compute on every input is idctPlain.

// natural is the order of a block for the Go transforms.
var natural = func() (t [64]uint8) {
	for i := range t {
		t[i] = uint8(i)
	}
	return
}()

// clamp8 takes every 14-bit result, biased by 8192, to 0..255 around 128.
var clamp8 = func() (t [1 << 14]byte) {
	for i := range t {
		t[i] = byte(min(max(i-8192+128, 0), 255))
	}
	return
}()

// idct8 is the quick Go form: two columns, then two rows, share each 64-bit word as 32-bit lanes. The transform is
// linear, so lanes only touch through the borrow of the low one, which a bias of 1<<31 keeps from ever being
// negative. Blocks with a value between the passes beyond 16 bits, which no encoder makes, go to idctPlain.
func idct8(out []byte, stride int, b *[64]int16, last uint8) {
	if last == 0 {
		v := clamp8[(uint32(int32(b[0])<<2+16)>>5+8192)&16383]
		x := uint64(v) * 0x0101010101010101
		for y := range 8 {
			binary.LittleEndian.PutUint64(out[y*stride:], x)
		}
		return
	}
	var w [32]int64
	if idctColumns(&w, b, last) {
		idctPlain(out, stride, b)
		return
	}
	idctRows(out, stride, &w)
}

// idctColumns fills w with row pairs. It is true when a value does not fit 16 bits.
func idctColumns(w *[32]int64, b *[64]int16, last uint8) bool {
	cols := 8 // columns right of the last zigzag diagonal are zero and stay so
	switch {
	case last < 3:
		cols = 2
	case last < 10:
		cols = 4
	case last < 21:
		cols = 6
	}
	over := int64(0)
	const half = 1<<15 + 1<<47
	for x := 0; x < cols; x += 2 {
		c0, c1 := int64(b[x+1])<<32+int64(b[x]), int64(b[x+9])<<32+int64(b[x+8])
		c2, c3 := int64(b[x+17])<<32+int64(b[x+16]), int64(b[x+25])<<32+int64(b[x+24])
		c4, c5 := int64(b[x+33])<<32+int64(b[x+32]), int64(b[x+41])<<32+int64(b[x+40])
		c6, c7 := int64(b[x+49])<<32+int64(b[x+48]), int64(b[x+57])<<32+int64(b[x+56])
		const round = 1<<10 + 1<<42 + 1<<31
		z1 := (c2 + c6) * 4433
		t2, t3 := z1-c6*15137, z1+c2*6270
		e0, e1 := (c0+c4)<<13+round, (c0-c4)<<13+round
		t10, t13, t11, t12 := e0+t3, e0-t3, e1+t2, e1-t2
		y1, y2, y3, y4 := c7+c1, c5+c3, c7+c3, c5+c1
		y5 := (y3 + y4) * 9633
		y1 *= -7373
		y2 *= -20995
		y3 = y5 - y3*16069
		y4 = y5 - y4*3196
		o0, o1 := c7*2446+y1+y3, c5*16819+y2+y4
		o2, o3 := c3*25172+y2+y3, c1*12299+y1+y4
		a0, a1 := swapLanes(t10+o3, t11+o2)
		a2, a3 := swapLanes(t12+o1, t13+o0)
		a4, a5 := swapLanes(t13-o0, t12-o1)
		a6, a7 := swapLanes(t11-o2, t10-o3)
		over |= (a0 + half) | (a1 + half) | (a2 + half) | (a3 + half) | (a4 + half) | (a5 + half) | (a6 + half) | (a7 + half)
		w[x], w[x+1], w[x+8], w[x+9] = a0, a1, a2, a3
		w[x+16], w[x+17], w[x+24], w[x+25] = a4, a5, a6, a7
	}
	return uint64(over)&0xFFFF0000FFFF0000 != 0
}

func idctRows(out []byte, stride int, w *[32]int64) {
	for y := 0; y < 8; y += 2 {
		r := w[y*4 : y*4+8 : y*4+8]
		c0, c1, c2, c3, c4, c5, c6, c7 := r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]
		o := out[y*stride : y*stride+8 : y*stride+8]
		p := out[(y+1)*stride : (y+1)*stride+8 : (y+1)*stride+8]
		const round = 1<<17 + 1<<49 + 128<<18 + 128<<50
		z1 := (c2 + c6) * 4433
		t2, t3 := z1-c6*15137, z1+c2*6270
		e0, e1 := (c0+c4)<<13+round, (c0-c4)<<13+round
		t10, t13, t11, t12 := e0+t3, e0-t3, e1+t2, e1-t2
		y1, y2, y3, y4 := c7+c1, c5+c3, c7+c3, c5+c1
		y5 := (y3 + y4) * 9633
		y1 *= -7373
		y2 *= -20995
		y3 = y5 - y3*16069
		y4 = y5 - y4*3196
		o0, o1 := c7*2446+y1+y3, c5*16819+y2+y4
		o2, o3 := c3*25172+y2+y3, c1*12299+y1+y4
		v0, v1, v2, v3 := uint64(t10+o3), uint64(t11+o2), uint64(t12+o1), uint64(t13+o0)
		v7, v6, v5, v4 := uint64(t10-o3), uint64(t11-o2), uint64(t12-o1), uint64(t13-o0)
		if (v0|v1|v2|v3|v4|v5|v6|v7)&(63<<26|63<<58) != 0 { // a sample to clamp, or a borrow from a negative one
			o[0], p[0] = clampLanes(v0)
			o[1], p[1] = clampLanes(v1)
			o[2], p[2] = clampLanes(v2)
			o[3], p[3] = clampLanes(v3)
			o[4], p[4] = clampLanes(v4)
			o[5], p[5] = clampLanes(v5)
			o[6], p[6] = clampLanes(v6)
			o[7], p[7] = clampLanes(v7)
			continue
		}
		const lanes = 255 | 255<<32
		l := v0>>18&lanes | v1>>10&(lanes<<8) | v2>>2&(lanes<<16) | v3<<6&(lanes<<24)
		h := v4>>18&lanes | v5>>10&(lanes<<8) | v6>>2&(lanes<<16) | v7<<6&(lanes<<24)
		binary.LittleEndian.PutUint64(o, l&0xFFFFFFFF|h<<32)
		binary.LittleEndian.PutUint64(p, l>>32|h&^0xFFFFFFFF)
	}
}

// swapLanes descales two rows of a column pair and turns them into two columns of a row pair.
func swapLanes(a, b int64) (lo, hi int64) {
	return int64(uint32(a)>>11) + int64(uint32(b)>>11)<<32 - (1<<20 + 1<<52), a>>43 + b>>43<<32
}

// clampLanes takes the samples of two rows out of v, where they stand 128 too high at bits 18 and 50.
func clampLanes(v uint64) (lo, hi byte) {
	v += (8192-128)<<18 + (8192-128)<<50
	return clamp8[uint32(v)>>18], clamp8[v>>50]
}

// idctPlain is the definition: sums are exact, values between the passes saturate to 16 bits, samples to 8.
func idctPlain(out []byte, stride int, b *[64]int16) {
	var w [64]int32
	for x := range 8 {
		var c [8]int32
		for y := range c {
			c[y] = int32(b[8*y+x])
		}
		r := idctLine(&c, 11)
		for y := range r {
			w[8*y+x] = min(max(r[y], -32768), 32767)
		}
	}
	for y := range 8 {
		r := idctLine((*[8]int32)(w[8*y:]), 18)
		for x := range r {
			out[y*stride+x] = byte(min(max(r[x]+128, 0), 255))
		}
	}
}

// idctLine transforms 8 values of 16 bits and descales the sums, which fit 32 bits.
func idctLine(c *[8]int32, shift uint) (r [8]int32) {
	round := int32(1) << (shift - 1)
	z1 := (c[2] + c[6]) * 4433
	t2, t3 := z1-c[6]*15137, z1+c[2]*6270
	e0, e1 := (c[0]+c[4])<<13, (c[0]-c[4])<<13
	t10, t13, t11, t12 := e0+t3, e0-t3, e1+t2, e1-t2
	y1, y2, y3, y4 := c[7]+c[1], c[5]+c[3], c[7]+c[3], c[5]+c[1]
	y5 := (y3 + y4) * 9633
	y1 *= -7373
	y2 *= -20995
	y3 = y5 - y3*16069
	y4 = y5 - y4*3196
	o0, o1 := c[7]*2446+y1+y3, c[5]*16819+y2+y4
	o2, o3 := c[3]*25172+y2+y3, c[1]*12299+y1+y4
	r[0], r[7] = (t10+o3+round)>>shift, (t10-o3+round)>>shift
	r[1], r[6] = (t11+o2+round)>>shift, (t11-o2+round)>>shift
	r[2], r[5] = (t12+o1+round)>>shift, (t12-o1+round)>>shift
	r[3], r[4] = (t13+o0+round)>>shift, (t13-o0+round)>>shift
	return
}
