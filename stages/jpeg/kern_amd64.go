//go:build amd64 && !noasm

package jpeg

//go:generate go run ./gen -o kern_amd64.s

// haveKernels is asked of the CPU once: AVX2 and BMI2, and an operating system that saves its registers.
var haveKernels = func() bool {
	most, _, _, _ := cpuid(0, 0)
	if most < 7 {
		return false
	}
	_, _, c, _ := cpuid(1, 0)
	const osxsave, avx = 1 << 27, 1 << 28
	if c&osxsave == 0 || c&avx == 0 || xgetbv()&6 != 6 {
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	const avx2, bmi2 = 1 << 5, 1 << 8
	return b&avx2 != 0 && b&bmi2 != 0
}()

// vector is where the kernel wants the coefficients: rows in pairs (0,4) (2,6) (1,3) (5,7), columns in the order
// 0 4 2 6 1 3 5 7. So the first pass needs no unpacking and the transposition after it is cheap.
var vector = func() (t [64]uint8) {
	for i := range t {
		r, c := i>>3, i&7
		pair := [8]int{0, 2, 1, 2, 0, 3, 1, 3}[r]
		second := [8]int{0, 0, 0, 1, 1, 0, 1, 1}[r]
		lane := [8]int{0, 4, 2, 5, 1, 6, 3, 7}[c]
		t[i] = uint8(pair*16 + lane*2 + second)
	}
	return
}()

//go:noescape
func cpuid(op, sub uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() uint32

//go:noescape
func idctAVX2(dst *byte, stride int, coef *int16, quant *int16, last *uint8, n int)

//go:noescape
func widen1AVX2(out, in *byte, n int)

//go:noescape
func widen2AVX2(out, near, far *byte, n int)

//go:noescape
func yccAVX2(dst, y, cb, cr *byte, n16 int)

//go:noescape
func spanBMI2(s *source, blocks *mcuBlock, count int, pred *int32, mx int, end int, limit int) int

// spanFast is span, by the kernel as long as a whole MCU is sure to lie in the buffer. At an MCU with anything odd in
// it (a long DC code, damage) the kernel stops before it, and span does it again and finds the words.
func (d *Decoder) spanFast(mx, end int) (int, bool) {
	s := &d.src
	for mx < end {
		if s.p+slack > s.end && !s.marker {
			s.fill()
		}
		limit := bufLen - slack
		if !s.marker {
			limit = min(limit, s.end-slack)
		}
		if s.p <= limit {
			from := mx
			if mx = spanBMI2(s, &d.blocks[0], len(d.blocks), &d.pred[0], mx, end, limit); mx > from {
				continue
			}
		}
		var ok bool
		if mx, ok = d.span(mx, mx+1); !ok {
			return mx, false
		}
	}
	return mx, true
}

// transformRow multiplies n blocks, in vector order, by the quantizer, turns them into samples side by side, and
// clears them.
func transformRow(out []byte, stride int, coef []int16, quant *[64]int16, last []uint8, n int) {
	if n <= 0 {
		return
	}
	_, _, _ = out[7*stride+8*n-1], coef[64*n-1], last[n-1]
	idctAVX2(&out[0], stride, &coef[0], &quant[0], &last[0], n)
}

// widen1Row is widen1Go; it reads up to 17 samples behind the n-th and writes up to 32 bytes too many.
func widen1Row(line, near []byte, n int) {
	_, _ = line[2*n+31], near[n+17]
	widen1AVX2(&line[0], &near[1], n)
}

// widen2Row is widen2Go with the same margins.
func widen2Row(line, near, far []byte, n int) {
	_, _, _ = line[2*n+31], near[n+17], far[n+17]
	widen2AVX2(&line[0], &near[1], &far[1], n)
}

// yccRow is yccGo for 16 pixels or more. The last 16 are made again, overlapped, where n is no multiple.
func yccRow(dst, y, cb, cr []byte, n int) {
	_, _, _, _ = dst[3*n-1], y[n-1], cb[n-1], cr[n-1]
	yccAVX2(&dst[0], &y[0], &cb[0], &cr[0], n>>4)
	if o := n - 16; n&15 != 0 {
		yccAVX2(&dst[3*o], &y[o], &cb[o], &cr[o], 1)
	}
}
