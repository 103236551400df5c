package resize

// The kernels. Each sums exactly, in 32 bits: weights are not negative, and add up to so little that
// 255 times their sum, and a half, stays below 256.

// acrossRGB makes two rows of three channels at once: each weight is fetched once for six products.
func acrossRGB(dst, dst2, src, src2 []byte, f *filter) {
	dst2 = dst2[:len(dst)]
	src2 = src2[:len(src)]
	for i, x := 0, 0; x+2 < len(dst); i, x = i+1, x+3 {
		start, weights := f.at(i)
		n := 3 * len(weights)
		p, q := src[3*start:], src2[3*start:]
		p, q = p[:n], q[:n]
		r, g, b := int32(half), int32(half), int32(half)
		u, v, w := int32(half), int32(half), int32(half)
		for _, k := range weights {
			if len(p) < 3 || len(q) < 3 {
				break
			}
			r += int32(p[0]) * k
			g += int32(p[1]) * k
			b += int32(p[2]) * k
			u += int32(q[0]) * k
			v += int32(q[1]) * k
			w += int32(q[2]) * k
			p, q = p[3:], q[3:]
		}
		dst[x], dst[x+1], dst[x+2] = clip(r), clip(g), clip(b)
		dst2[x], dst2[x+1], dst2[x+2] = clip(u), clip(v), clip(w)
	}
}

// acrossAny makes a row of any number of channels.
func acrossAny(dst, src []byte, f *filter, channels int) {
	for i := range f.out {
		start, weights := f.at(i)
		for c := range channels {
			sum := int32(half)
			for j, w := range weights {
				sum += int32(src[(start+j)*channels+c]) * w
			}
			dst[i*channels+c] = clip(sum)
		}
	}
}

// downRow makes a row of the rows of src from start on, as many as there are weights. Up to four rows are summed in
// registers, more in sums.
func downRow(dst []byte, src View, start int, weights, sums []int32) {
	if len(weights) <= 4 {
		var w [4]int32
		copy(w[:], weights)
		rows := [4][]byte{}
		for j := range rows {
			rows[j] = src.row(start + min(j, len(weights)-1))
		}
		switch len(weights) {
		case 1:
			down2(dst, rows[0], rows[0], w[0], 0)
		case 2:
			down2(dst, rows[0], rows[1], w[0], w[1])
		default:
			down4(dst, &rows, &w)
		}
		return
	}
	first := src.row(start)
	for x := range sums {
		sums[x] = half + int32(first[x])*weights[0]
	}
	j := 1
	for ; j+1 < len(weights); j += 2 {
		add2(sums, src.row(start+j), src.row(start+j+1), weights[j], weights[j+1])
	}
	if j < len(weights) {
		add2(sums, src.row(start+j), src.row(start+j), weights[j], 0)
	}
	for x, v := range sums {
		dst[x] = clip(v)
	}
}

func down2(dst, a, b []byte, v, w int32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for x := range dst {
		dst[x] = clip(half + int32(a[x])*v + int32(b[x])*w)
	}
}

func down4(dst []byte, rows *[4][]byte, w *[4]int32) {
	a, b, c, d := rows[0][:len(dst)], rows[1][:len(dst)], rows[2][:len(dst)], rows[3][:len(dst)]
	for x := range dst {
		dst[x] = clip(half + int32(a[x])*w[0] + int32(b[x])*w[1] + int32(c[x])*w[2] + int32(d[x])*w[3])
	}
}

func add2(sums []int32, a, b []byte, v, w int32) {
	a, b = a[:len(sums)], b[:len(sums)]
	for x := range sums {
		sums[x] += int32(a[x])*v + int32(b[x])*w
	}
}

// clip takes the upper bits of a sum; filter.make has seen to it that they fit.
func clip(sum int32) byte { return byte(sum >> bits) }
