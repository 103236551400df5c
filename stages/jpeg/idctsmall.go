package jpeg

// Reduced inverse DCTs of libjpeg (jidctred), for scaled output. Blocks are in natural order; columns first. Values
// between the passes saturate to 16 bits, samples to 8.

func sat16(v int64) int64 { return min(max(v, -32768), 32767) }

func sample(v int64) byte { return byte(min(max(v+128, 0), 255)) }

// line4 makes 4 values of the 8 coefficients of a line; the fifth is not used.
func line4(c0, c1, c2, c3, c5, c6, c7 int64, shift uint) (r0, r1, r2, r3 int64) {
	round := int64(1) << (shift - 1)
	e := c0 << 14
	t := c2*15137 - c6*6270
	a, b := e+t+round, e-t+round
	o0 := -c7*1730 + c5*11893 - c3*17799 + c1*8697
	o2 := -c7*4176 - c5*4926 + c3*7373 + c1*20995
	return (a + o2) >> shift, (b + o0) >> shift, (b - o0) >> shift, (a - o2) >> shift
}

func idct4(out []byte, stride int, b *[64]int16) {
	var w [4][8]int64
	for x := range 8 {
		if x == 4 {
			continue // the second pass does not use it
		}
		r0, r1, r2, r3 := line4(int64(b[x]), int64(b[8+x]), int64(b[16+x]), int64(b[24+x]), int64(b[40+x]), int64(b[48+x]), int64(b[56+x]), 12)
		w[0][x], w[1][x], w[2][x], w[3][x] = sat16(r0), sat16(r1), sat16(r2), sat16(r3)
	}
	for y := range w {
		c := &w[y]
		r0, r1, r2, r3 := line4(c[0], c[1], c[2], c[3], c[5], c[6], c[7], 19)
		o := out[y*stride : y*stride+4]
		o[0], o[1], o[2], o[3] = sample(r0), sample(r1), sample(r2), sample(r3)
	}
}

// line2 makes 2 values of the first and the odd coefficients of a line.
func line2(c0, c1, c3, c5, c7 int64, shift uint) (r0, r1 int64) {
	e := c0<<15 + 1<<(shift-1)
	o := -c7*5906 + c5*6967 - c3*10426 + c1*29692
	return (e + o) >> shift, (e - o) >> shift
}

func idct2(out []byte, stride int, b *[64]int16) {
	var w [2][8]int64
	for _, x := range [...]int{0, 1, 3, 5, 7} {
		r0, r1 := line2(int64(b[x]), int64(b[8+x]), int64(b[24+x]), int64(b[40+x]), int64(b[56+x]), 13)
		w[0][x], w[1][x] = sat16(r0), sat16(r1)
	}
	for y := range w {
		c := &w[y]
		r0, r1 := line2(c[0], c[1], c[3], c[5], c[7], 20)
		out[y*stride], out[y*stride+1] = sample(r0), sample(r1)
	}
}

func idct1(b *[64]int16) byte { return sample((int64(b[0]) + 4) >> 3) }
