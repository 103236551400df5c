package resize

import "encoding/binary"

// The Go forms of the kernels, and what the vector forms must equal. Each sums exactly, in 32 bits: weights are not
// negative, and add up to so little that 255 times their sum, and a half, stays below 256.

// The sums of two rows or two columns lie in the halves of a word of 64 bits: none reaches into its neighbour.
const halves = half | half<<32

// acrossGo makes two rows of the result's width of two rows of the source.
func acrossGo(dst, dst2, src, src2 []byte, f *filter) {
	if f.channels == 3 {
		acrossRGB(dst[:3*f.out], dst2[:3*f.out], src, src2, f)
		return
	}
	n := f.channels
	for i := range f.out {
		start, weights := f.at(i)
		for c := range n {
			sum := uint64(halves)
			for j, w := range weights {
				at := (start+j)*n + c
				sum += (uint64(src[at]) | uint64(src2[at])<<32) * uint64(w)
			}
			dst[i*n+c], dst2[i*n+c] = byte(sum>>bits), byte(sum>>(32+bits))
		}
	}
}

func acrossRGB(dst, dst2, src, src2 []byte, f *filter) {
	dst2 = dst2[:len(dst)]
	for i, x := 0, 0; x+2 < len(dst); i, x = i+1, x+3 {
		start, weights := f.at(i)
		n := 3 * len(weights)
		p, q := src[3*start:], src2[3*start:]
		p, q = p[:n], q[:n]
		r, g, b := uint64(halves), uint64(halves), uint64(halves)
		for _, k := range weights {
			if len(p) < 3 || len(q) < 3 {
				break
			}
			w := uint64(k)
			r += (uint64(p[0]) | uint64(q[0])<<32) * w
			g += (uint64(p[1]) | uint64(q[1])<<32) * w
			b += (uint64(p[2]) | uint64(q[2])<<32) * w
			p, q = p[3:], q[3:]
		}
		dst[x], dst[x+1], dst[x+2] = byte(r>>bits), byte(g>>bits), byte(b>>bits)
		dst2[x], dst2[x+1], dst2[x+2] = byte(r>>(32+bits)), byte(g>>(32+bits)), byte(b>>(32+bits))
	}
}

// downGo makes row i of the result of the rows of src, stride bytes apart, the first of which is the position's first.
// Eight columns are summed at a time, two in a word.
func downGo(dst, src []byte, stride int, f *filter, i int) {
	_, weights := f.at(i)
	const mask = 0xff000000ff
	x := 0
	for ; x+8 <= len(dst); x += 8 {
		s0, s1, s2, s3 := uint64(halves), uint64(halves), uint64(halves), uint64(halves)
		at := x
		for _, w := range weights {
			p, k := binary.LittleEndian.Uint64(src[at:]), uint64(w)
			s0 += p & mask * k
			s1 += p >> 8 & mask * k
			s2 += p >> 16 & mask * k
			s3 += p >> 24 & mask * k
			at += stride
		}
		v := s0>>bits&mask | s1>>bits&mask<<8 | s2>>bits&mask<<16 | s3>>bits&mask<<24
		binary.LittleEndian.PutUint64(dst[x:], v)
	}
	for ; x < len(dst); x++ {
		sum, at := int32(half), x
		for _, w := range weights {
			sum += int32(src[at]) * w
			at += stride
		}
		dst[x] = byte(sum >> bits)
	}
}

// planesGo looks a row of three channels up in their tables.
func planesGo(red, green, blue []float32, src []byte, t *Tables) {
	green, blue = green[:len(red)], blue[:len(red)]
	tr, tg, tb := t.at(0), t.at(1), t.at(2)
	for i := range red {
		p := src[3*i : 3*i+3]
		red[i], green[i], blue[i] = tr[p[0]], tg[p[1]], tb[p[2]]
	}
}

// planesAny does the same for channel c of any number.
func planesAny(plane []float32, src []byte, t *[256]float32, c, channels int) {
	for i := range plane {
		plane[i] = t[src[i*channels+c]]
	}
}
