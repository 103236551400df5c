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

// refiner holds what a refinement needs of one block.
type refiner struct {
	blk *[64]int16
	zq  *[256]uint32
	bit int16
}

// correct adds a bit to coefficient k if told so, away from zero. A bit that is set already was sent twice: damage
// that libjpeg lets pass.
func (r *refiner) correct(k uint, one bool) {
	c := &r.blk[r.zq[k&63]&63]
	if !one || *c&r.bit != 0 {
		return
	}
	if *c >= 0 {
		*c += r.bit
	} else {
		*c -= r.bit
	}
}

// acRefine reads one more bit of a band: new coefficients of one bit, and a bit for each that is not zero already.
func (d *Decoder) acRefine(mx, end int) (int, bool) {
	s := &d.src
	b, tab := &d.blocks[0], d.prog.table
	ss, se := uint(d.h.scan.ss), uint(d.h.scan.se)
	r := refiner{zq: b.zq, bit: 1 << (d.h.scan.al & 15)}
	band := uint64(1)<<se<<1 - 1
	for ; mx < end; mx++ {
		if uint(s.p)+slack > uint(s.end) && !s.marker {
			s.fill()
		}
		nz := b.nonzero[mx] & band
		k := ss
		if d.prog.eobRun > 0 && nz>>k == 0 {
			d.prog.eobRun--
			continue
		}
		r.blk = (*[64]int16)(b.coef[mx*64:])
		if d.prog.eobRun == 0 {
			var ok bool
			k, nz, ok = s.refineBlock(tab, &r, k, se, nz, &d.prog.eobRun)
			b.nonzero[mx] |= nz
			if !ok {
				return mx, false
			}
		}
		if d.prog.eobRun > 0 {
			if !s.correctFrom(&r, nz, k) {
				return mx, false
			}
			d.prog.eobRun--
		}
	}
	return mx, true
}

// need refills so that 56 bits are good. It is false far behind the end of the data.
func (s *source) need() bool {
	if s.p > bufLen+8 {
		return false
	}
	s.acc |= binary.BigEndian.Uint64(s.buf[s.p:s.p+8]) >> (s.n & 63)
	s.p += int(63-s.n) >> 3
	s.n |= 56
	return true
}

// refineBlock reads symbols until the band or an end of block. It gives where it stopped and which coefficients are
// set.
func (s *source) refineBlock(tab *progTable, r *refiner, k, se uint, nz uint64, eobRun *int) (uint, uint64, bool) {
	for ; k <= se; k++ {
		if !s.need() {
			return k, nz, false
		}
		e := tab.t[s.acc>>(64-progBits)]
		if e == 0 {
			if e = tab.long(s.acc); e == 0 {
				return k, nz, false
			}
		}
		s.acc <<= e & 31
		s.n -= uint(e & 31)
		run, size := uint(e>>12), uint(e>>8&15)
		v := int16(0)
		switch {
		case size > 1:
			return k, nz, false
		case size == 1:
			v = r.bit
			if int64(s.acc) >= 0 {
				v = -v
			}
			s.acc <<= 1
			s.n--
		case run < 15:
			*eobRun = 1<<run + int(s.acc>>(64-run))
			s.acc <<= run
			s.n -= run
			return k, nz, true
		}
		for k <= se { // over the run of zeros, correcting what is set between them
			zeros := uint(bits.TrailingZeros64(nz >> k))
			if zeros > run {
				k += run
				break
			}
			k, run = k+zeros, run-zeros
			if s.n < 8 && !s.need() {
				return k, nz, false
			}
			r.correct(k, int64(s.acc) < 0)
			s.acc <<= 1
			s.n--
			k++
		}
		if v != 0 {
			if k > se {
				return k, nz, false
			}
			r.blk[r.zq[k&63]&63] = v
			nz |= 1 << k
		}
	}
	return k, nz, true
}

// correctFrom reads the bits of all set coefficients from k on.
func (s *source) correctFrom(r *refiner, nz uint64, k uint) bool {
	for m := nz >> k << k; m != 0; m &= m - 1 {
		if s.n < 8 && !s.need() {
			return false
		}
		r.correct(uint(bits.TrailingZeros64(m)), int64(s.acc) < 0)
		s.acc <<= 1
		s.n--
	}
	return true
}
