package jpeg

import "encoding/binary"

// mcuBlock is one block of an MCU in the order of the scan, with where it goes in the row of MCUs at hand.
type mcuBlock struct {
	dc      *dcTable
	ac      *acTable
	zq      *[256]uint32
	places  *[256]uint8
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

// span decodes n MCUs from column mx on; blocks nobody wants are stepped over. It is false at a code that does not
// exist or a block of more than 64 coefficients; mx then tells the MCU. Bits past the end are for the caller to
// notice.
//
// acc, n and p are the source's, in registers. There is one exit test a symbol; after a refill at least 56 bits are
// good, enough for two symbols of at most 26.
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
// second is stored first: when there is none its store falls on the first one's place and is overwritten, so no
// branch tells the cases apart. Stores past coefficient 63 fall on the last place, which is then still zero, with
// value 0. It returns the last position, plus eob when an end of block ended it; 64 to eob-1 means damage.
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
		e := &tab.t[acc>>(64-acBits)]
		if e.bits == 0 {
			if e = tab.longCode(e, acc); e.bits == 0 {
				return acc, n, p, 64
			}
		}
		t := acc << (e.code & 63)
		m := uint64(int64(^t) >> 63)
		v := int32(((t^m)>>1>>(e.shift&63))^m) - int32(m)
		k1 := k + e.adv
		k = k1 + e.adv2
		z := zq[k]
		blk[z&63] = int16(int32(e.v2) * int32(z>>8))
		z = zq[k1]
		blk[z&63] = int16(v * int32(z>>8))
		if k >= 63 {
			return endAC(e, acc, n, p, k, k1)
		}
		acc <<= e.bits & 63
		n -= uint(e.bits)
		e = &tab.t[acc>>(64-acBits)]
		if e.bits == 0 {
			continue
		}
		t = acc << (e.code & 63)
		m = uint64(int64(^t) >> 63)
		v = int32(((t^m)>>1>>(e.shift&63))^m) - int32(m)
		k1 = k + e.adv
		k = k1 + e.adv2
		z = zq[k]
		blk[z&63] = int16(int32(e.v2) * int32(z>>8))
		z = zq[k1]
		blk[z&63] = int16(v * int32(z>>8))
		if k >= 63 {
			return endAC(e, acc, n, p, k, k1)
		}
		acc <<= e.bits & 63
		n -= uint(e.bits)
	}
}

// longCode finds the entry of a code of more than acBits bits; its bits are 0 when there is none.
func (h *acTable) longCode(e *acEntry, acc uint64) *acEntry {
	if e.long == 0 {
		return e
	}
	return &h.long[(uint(e.long)-1)<<longBits|uint(acc>>48)&(1<<longBits-1)]
}

// endAC takes the last symbols off the bits. When the first one filled the block, the second belongs to the next.
func endAC(e *acEntry, acc uint64, n, p uint, k, k1 uint8) (uint64, uint, uint, uint8) {
	if k1 == 63 && k != 63 {
		return acc << e.one(), n - e.one(), p, 63
	}
	return acc << (e.bits & 63), n - uint(e.bits), p, k
}

// skipAC steps over the AC coefficients of a block, several symbols at a time where they fit.
//
//go:noinline
func skipAC(tab *acTable, buf *[bufLen + margin]byte, acc uint64, n, p uint) (uint64, uint, uint, uint8) {
	k := uint32(0)
	for {
		if p > bufLen+8 {
			return acc, n, p, 64
		}
		acc |= binary.BigEndian.Uint64(buf[p:p+8]) >> (n & 63)
		p += (63 - n) >> 3
		n |= 56
		for range 2 {
			e := tab.skip[acc>>(64-acBits)]
			bits := uint(e & 63)
			x := k + e>>8
			if e == 0 || x-64 < 64 || x > eob+62 { // a long code, or symbols that may cross the end of the block
				f := &tab.t[acc>>(64-acBits)]
				if f.bits == 0 {
					if f = tab.longCode(f, acc); f.bits == 0 {
						return acc, n, p, 64
					}
				}
				bits, x = f.one(), k+uint32(f.adv)
			}
			acc <<= bits
			n -= bits
			k = x
			if k >= 63 {
				return acc, n, p, uint8(k)
			}
		}
	}
}
