package jpeg

import (
	"encoding/binary"
	"math/bits"
)

// Scans of progressive pictures. A word a block says which coefficients are not zero, so that a refinement goes from
// one to the next without looking at the block.

// lastOf gives the zigzag index of the last coefficient.
func lastOf(nonzero uint64) uint8 {
	if nonzero == 0 {
		return 0
	}
	return uint8(63 - bits.LeadingZeros64(nonzero))
}

// dcFirst reads the upper bits of the DC coefficients.
func (d *Decoder) dcFirst(mx, end int) (int, bool) {
	s := &d.src
	acc, n, p := s.acc, s.n, uint(s.p)
	buf, al := &s.buf, d.h.scan.al
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
			if at := mx*b.step + b.off; at < b.hi {
				b.coef[at*64] = int16(d.pred[b.k&3] << al)
			}
		}
	}
	s.acc, s.n, s.p = acc, n, int(p)
	return mx, mx >= end
}

// dcRefine reads one more bit of the DC coefficients.
func (d *Decoder) dcRefine(mx, end int) (int, bool) {
	s := &d.src
	bit := int16(1) << d.h.scan.al
	for ; mx < end; mx++ {
		if uint(s.p)+slack > uint(s.end) && !s.marker {
			s.fill()
		}
		for i := range d.blocks {
			b := &d.blocks[i]
			if s.n == 0 {
				if s.p > bufLen+8 {
					return mx, false
				}
				s.acc = binary.BigEndian.Uint64(s.buf[s.p : s.p+8])
				s.n, s.p = 64, s.p+8
			}
			one := int16(int64(s.acc) >> 63)
			s.acc <<= 1
			s.n--
			if at := mx*b.step + b.off; at < b.hi {
				b.coef[at*64] |= one & bit
			}
		}
	}
	return mx, true
}

// acFirst reads the upper bits of a band of AC coefficients.
func (d *Decoder) acFirst(mx, end int) (int, bool) {
	s := &d.src
	acc, n, p := s.acc, s.n, uint(s.p)
	buf, b, tab := &s.buf, &d.blocks[0], d.prog.table
	zq := b.zq
	ss, se, al := uint(d.h.scan.ss), uint(d.h.scan.se), d.h.scan.al&15
	run, nz := d.prog.eobRun, uint64(0)
blocks:
	for ; mx < end; mx++ {
		if run > 0 {
			skip := min(run, end-mx)
			run -= skip
			mx += skip - 1
			continue
		}
		if p+slack > uint(s.end) && !s.marker {
			s.p, s.n = int(p), n
			s.fill()
			p = uint(s.p)
		}
		blk := (*[64]int16)(b.coef[mx*64:])
		nz = 0
		for k := ss; k <= se; k++ {
			if p > bufLen+8 {
				break blocks
			}
			acc |= binary.BigEndian.Uint64(buf[p:p+8]) >> (n & 63)
			p += (63 - n) >> 3
			n |= 56
			e := tab.t[acc>>(64-progBits)]
			if e == 0 {
				if e = tab.long(acc); e == 0 {
					break blocks
				}
			}
			acc <<= e & 31
			n -= uint(e & 31)
			r, size := uint(e>>12), uint(e>>8&15)
			if size == 0 {
				if r < 15 {
					run = 1<<r - 1 + int(acc>>(64-r))
					acc <<= r
					n -= r
					break
				}
				k += 15
				continue
			}
			if k += r; k > se {
				break blocks
			}
			m := uint64(int64(^acc) >> 63)
			v := int32((acc^m)>>(64-size)^m) - int32(m)
			acc <<= size
			n -= size
			blk[zq[k&63]&63] = int16(v << al)
			nz |= 1 << k
		}
		b.nonzero[mx] |= nz
	}
	if mx < end {
		b.nonzero[mx] |= nz // what came before the damage
	}
	d.prog.eobRun = run
	s.acc, s.n, s.p = acc, n, int(p)
	return mx, mx >= end
}

// refiner is what the blocks of a refinement have in common.
type refiner struct {
	buf    *[bufLen + margin]byte
	tab    *progTable
	zq     *[256]uint32
	ss, se uint
	al     uint
}

// acRefine reads one more bit of a band: new coefficients of one bit, and a bit for each that is not zero already.
func (d *Decoder) acRefine(mx, end int) (int, bool) {
	s := &d.src
	acc, n, p := s.acc, s.n, uint(s.p)
	b := &d.blocks[0]
	r := refiner{&s.buf, d.prog.table, b.zq, uint(d.h.scan.ss), uint(d.h.scan.se), uint(d.h.scan.al & 15)}
	band := uint64(1)<<r.se<<1 - 1
	run, ok := d.prog.eobRun, true
	for ; mx < end && ok; mx++ {
		if p+slack > uint(s.end) && !s.marker {
			s.p, s.n = int(p), n
			s.fill()
			p = uint(s.p)
		}
		nz, k := b.nonzero[mx]&band, r.ss
		if run > 0 && nz>>k == 0 {
			run--
			continue
		}
		blk := (*[64]int16)(b.coef[mx*64:])
		if run == 0 {
			k, nz, run, acc, n, p = r.block(blk, nz, acc, n, p)
			b.nonzero[mx] |= nz
			ok = run >= 0
		}
		if run > 0 {
			acc, n, p, ok = r.rest(blk, nz>>k<<k, acc, n, p)
			run--
		}
	}
	if !ok {
		run, mx = max(0, run), mx-1
	}
	d.prog.eobRun = run
	s.acc, s.n, s.p = acc, n, int(p)
	return mx, ok
}

// block reads symbols until the band is full or a run of blocks without more of them begins. It gives where it stopped,
// which coefficients are set, and the length of that run: 0 for none, -1 where the data is damaged.
func (r *refiner) block(blk *[64]int16, nz, acc uint64, n, p uint) (uint, uint64, int, uint64, uint, uint) {
	k := r.ss
	for ; k <= r.se; k++ {
		if p > bufLen+8 {
			return k, nz, -1, acc, n, p
		}
		acc |= binary.BigEndian.Uint64(r.buf[p:p+8]) >> (n & 63)
		p += (63 - n) >> 3
		n |= 56
		e := r.tab.t[acc>>(64-progBits)]
		if e == 0 {
			if e = r.tab.long(acc); e == 0 {
				return k, nz, -1, acc, n, p
			}
		}
		acc <<= e & 31
		n -= uint(e & 31)
		zeros, size := uint(e>>12), uint(e>>8&15)
		v := int16(0)
		switch {
		case size > 1:
			return k, nz, -1, acc, n, p
		case size == 1:
			minus := int16(^int64(acc) >> 63)
			v = (1<<r.al ^ minus) - minus
			acc <<= 1
			n--
		case zeros < 15:
			return k, nz, 1<<zeros + int(acc>>(64-zeros)), acc << zeros, n - zeros, p
		}
		for k <= r.se { // over the zeros, correcting what is set between them
			gap := uint(bits.TrailingZeros64(nz >> k))
			if gap > zeros {
				k += zeros
				break
			}
			k, zeros = k+gap, zeros-gap
			if n < 8 {
				if p > bufLen+8 {
					return k, nz, -1, acc, n, p
				}
				acc |= binary.BigEndian.Uint64(r.buf[p:p+8]) >> (n & 63)
				p += (63 - n) >> 3
				n |= 56
			}
			r.correct(blk, k, acc)
			acc <<= 1
			n--
			k++
		}
		if v != 0 {
			if k > r.se {
				return k, nz, -1, acc, n, p
			}
			blk[r.zq[k&63]&63] = v
			nz |= 1 << k
		}
	}
	return k, nz, 0, acc, n, p
}

// rest reads a bit for each coefficient of set.
func (r *refiner) rest(blk *[64]int16, set, acc uint64, n, p uint) (uint64, uint, uint, bool) {
	for ; set != 0; set &= set - 1 {
		if n < 8 {
			if p > bufLen+8 {
				return acc, n, p, false
			}
			acc |= binary.BigEndian.Uint64(r.buf[p:p+8]) >> (n & 63)
			p += (63 - n) >> 3
			n |= 56
		}
		r.correct(blk, uint(bits.TrailingZeros64(set)), acc)
		acc <<= 1
		n--
	}
	return acc, n, p, true
}

// correct adds the first bit of acc to coefficient k, away from zero. A bit that is set already was sent twice: damage
// that libjpeg lets pass. There is no branch, for half of the bits are set.
func (r *refiner) correct(blk *[64]int16, k uint, acc uint64) {
	c := &blk[r.zq[k&63]&63]
	one, minus := int16(int64(acc)>>63), *c>>15
	clear := *c>>r.al&1 - 1
	*c += ((1<<r.al ^ minus) - minus) & one & clear
}
