package jpeg

import "encoding/binary"

// mcuBlock is one block of an MCU in the order of the scan, with where it goes in the row of MCUs at hand.
type mcuBlock struct {
	dc      *dcTable
	ac      *acTable
	zq      *[256]uint32
	coef    []int16 // the row of blocks it lies in, nil where nobody wants it
	last    []uint8
	nonzero []uint64
	step    int // its column among them is MCU column * step + off
	off     int
	lo, hi  int // wanted columns
	dcOnly  bool
	plane   *plane
	k, v    int // component, row in the MCU
}

// span decodes n MCUs from column mx on; blocks nobody wants are stepped over. It is false at a code that does not exist
// or a block of more than 64 coefficients; mx then tells the MCU. Bits past the end are for the caller to notice.
//
// acc, n and p are the source's, in registers. There is one exit test a symbol; after a refill at least 56 bits are good,
// enough for two symbols of at most 26.
func (d *Decoder) span(mx, end int) (int, bool) {
	s := &d.src
	acc, n, p := s.acc, s.n, uint(s.p)
	buf := &s.buf
mcus:
	for ; mx < end; mx++ {
		if p+slack > uint(s.end) && !s.marker {
			s.p, s.n = int(p), n
			s.fill()
			p = uint(s.p)
		}
		for i := range d.blocks {
			b := &d.blocks[i]
			if p > bufLen+8 {
				break mcus
			}
			acc |= binary.BigEndian.Uint64(buf[p:p+8]) >> (n & 63)
			p += (63 - n) >> 3
			n |= 56
			e := b.dc.t[acc>>(64-dcBits)]
			if e == 0 {
				if e = b.dc.long(acc); e == 0 {
					break mcus
				}
			}
			t := acc << (e >> 8 & 63)
			m := uint64(int64(^t) >> 63)
			v := int32(((t^m)>>1>>(e>>16&63))^m) - int32(m)
			acc <<= e & 63
			n -= uint(e & 63)
			d.pred[b.k&3] += v
			at := mx*b.step + b.off
			var k uint8
			if at < b.lo || at >= b.hi || b.dcOnly {
				acc, n, p, k = skipAC(b.ac, buf, acc, n, p)
				if k > 63 && k < eob {
					break mcus
				}
				if at >= b.lo && at < b.hi {
					b.coef[at*64] = int16(d.pred[b.k&3] * int32(b.zq[0]>>8))
				}
				continue
			}
			blk := (*[64]int16)(b.coef[at*64:])
			blk[0] = int16(d.pred[b.k&3] * int32(b.zq[0]>>8))
			acc, n, p, k = readAC(blk, b.ac, b.zq, buf, acc, n, p)
			if k > 63 {
				if k -= eob; k > 62 {
					break mcus
				}
			}
			b.last[at] = k
		}
	}
	s.acc, s.n, s.p = acc, n, int(p)
	return mx, mx >= end
}

// readAC decodes the AC coefficients of a block, multiplies them and stores them where the transform wants them. A
// look-up gives the first symbol's lengths and, where the index holds all of it, a second symbol with its value. The
// second is stored first: when there is none its store falls on the first one's place and is overwritten, so no branch
// tells the cases apart. Stores past coefficient 63 fall on the last place, which is then still zero, with value 0.
// It returns the last position, plus eob when an end of block ended it; 64 to eob-1 means damage.
//
//go:noinline
func readAC(blk *[64]int16, tab *acTable, zq *[256]uint32, buf *[bufLen + margin]byte, acc uint64, n, p uint) (uint64, uint, uint, uint8) {
	k := uint8(0)
	for {
		if p > bufLen+8 {
			return acc, n, p, 64
		}
		acc |= binary.BigEndian.Uint64(buf[p:p+8]) >> (n & 63)
		p += (63 - n) >> 3
		n |= 56
		e := tab.pair[acc>>(64-acBits)]
		if e == 0 {
			l := tab.long(acc)
			if l == 0 {
				return acc, n, p, 64
			}
			e = uint64(l)
		}
		a0 := acc
		t := acc << (e >> 8 & 63)
		acc <<= e & 63
		n -= uint(e & 63)
		m := uint64(int64(^t) >> 63)
		k1 := k + uint8(e>>24)
		k = k1 + uint8(e>>32)
		z := zq[k]
		blk[z&63] = int16(int32(int64(e)>>48) * int32(z>>8))
		z = zq[k1]
		blk[z&63] = int16((int32(((t^m)>>1>>(e>>16&63))^m) - int32(m)) * int32(z>>8))
		if k >= 63 {
			return endAC(e, a0, acc, n, p, k, k1)
		}
		e = tab.pair[acc>>(64-acBits)]
		if e == 0 {
			continue
		}
		a0 = acc
		t = acc << (e >> 8 & 63)
		acc <<= e & 63
		n -= uint(e & 63)
		m = uint64(int64(^t) >> 63)
		k1 = k + uint8(e>>24)
		k = k1 + uint8(e>>32)
		z = zq[k]
		blk[z&63] = int16(int32(int64(e)>>48) * int32(z>>8))
		z = zq[k1]
		blk[z&63] = int16((int32(((t^m)>>1>>(e>>16&63))^m) - int32(m)) * int32(z>>8))
		if k >= 63 {
			return endAC(e, a0, acc, n, p, k, k1)
		}
	}
}

// endAC gives the second symbol back when the first one filled the block: it belongs to the next block.
func endAC(e, before, acc uint64, n, p uint, k, k1 uint8) (uint64, uint, uint, uint8) {
	if k1 == 63 && k != 63 {
		one := (e>>8&63 + 63 - e>>16&63) & 63
		return before << one, n + uint(e&63) - uint(one), p, 63
	}
	return acc, n, p, k
}

// skipAC steps over the AC coefficients of a block, several symbols at a time where they fit.
//
//go:noinline
func skipAC(tab *acTable, buf *[bufLen + margin]byte, acc uint64, n, p uint) (uint64, uint, uint, uint8) {
	k := uint32(0)
	for k < 63 {
		if p > bufLen+8 {
			return acc, n, p, 64
		}
		acc |= binary.BigEndian.Uint64(buf[p:p+8]) >> (n & 63)
		p += (63 - n) >> 3
		n |= 56
		for range 4 {
			e := tab.skip[acc>>(64-acBits)]
			if x := k + e>>8; e == 0 || x-64 < 64 || x > eob+62 {
				break // none fits, or they may cross the end of the block
			}
			acc <<= e & 63
			n -= uint(e & 63)
			k += e >> 8
			if k >= 63 {
				return acc, n, p, uint8(k)
			}
		}
		if n < 32 {
			continue
		}
		e := tab.t[acc>>(64-acBits)]
		if e == 0 {
			if e = tab.long(acc); e == 0 {
				return acc, n, p, 64
			}
		}
		acc <<= e & 63
		n -= uint(e & 63)
		k += e >> 24
	}
	return acc, n, p, uint8(k)
}
