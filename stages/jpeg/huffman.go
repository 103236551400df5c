package jpeg

const (
	acBits   = 11 // bits an AC look-up resolves; benchmarks: 9 costs 16 % of the entropy decoding, 10 one %, 12 spills L1
	dcBits   = 9
	progBits = 9
	eob      = 128 // advance of an end of block: past every coefficient, so one test ends a block, whole or damaged
)

// codes is a canonical Huffman code, for those too long for a table.
type codes struct {
	max [18]int32 // behind the last code of each length, left-aligned to 16 bits
	off [18]int32 // symbol index minus code
	sym [256]byte
}

// build reads 16 counts and the symbols, and calls f for every code of length up to bits: entries lo to hi of a table.
func (c *codes) build(spec []byte, bits int, f func(sym byte, length, lo, hi int)) error {
	code, n := int32(0), 0
	copy(c.sym[:], spec[16:])
	for l := 1; l <= 16; l++ {
		c.off[l] = int32(n) - code
		for range int(spec[l-1]) {
			if code >= 1<<l {
				return fail(ErrDamaged, -1, "huffman table with more codes of %d bits than there are", l)
			}
			if l <= bits {
				f(spec[16+n], l, int(code)<<(bits-l), int(code+1)<<(bits-l))
			}
			code++
			n++
		}
		c.max[l] = code << (16 - l)
		code <<= 1
	}
	return nil
}

// find resolves a code longer than bits at the top of acc; length 0 when there is no such code.
func (c *codes) find(acc uint64, bits int) (sym byte, length int) {
	v := int32(acc >> 48)
	if v < c.max[bits] {
		return 0, 0
	}
	for l := bits + 1; l <= 16; l++ {
		if v < c.max[l] {
			return c.sym[(v>>(16-l)+c.off[l])&255], l
		}
	}
	return 0, 0
}

// An entry: bits 0-7 length of code and value, 8-15 length of the code, 16-23 63 minus length of the value, 24-31 advance
// in zigzag order. 0: the code is longer than the table, or there is none. Values too large for 8-bit pictures count as none.
func dcEntry(sym byte, l int) uint32 {
	if sym > 11 {
		return 0
	}
	return uint32(l) + uint32(sym) | uint32(l)<<8 | (63-uint32(sym))<<16
}

func acEntry(sym byte, l int) uint32 {
	size, adv := uint32(sym&15), uint32(sym>>4)+1
	if size > 10 {
		return 0
	}
	if size == 0 && sym != 0xF0 {
		adv = eob
	}
	return uint32(l) + size | uint32(l)<<8 | (63-size)<<16 | adv<<24
}

type dcTable struct {
	codes
	t [1 << dcBits]uint32
}

func (h *dcTable) build(spec []byte) error {
	clear(h.t[:])
	return h.codes.build(spec, dcBits, func(sym byte, l, lo, hi int) {
		e := dcEntry(sym, l)
		for i := lo; i < hi; i++ {
			h.t[i] = e
		}
	})
}

func (h *dcTable) long(acc uint64) uint32 {
	sym, l := h.find(acc, dcBits)
	if l == 0 {
		return 0
	}
	return dcEntry(sym, l)
}

// acTable resolves sequential AC symbols.
type acTable struct {
	codes
	t    [1 << acBits]uint32
	pair [1 << acBits]uint64 // the entry, and of a second symbol that fits whole: 32-39 advance, 48-63 value
	skip [1 << acBits]uint32 // as many symbols as fit: bits, advance<<8
}

func (h *acTable) build(spec []byte) error {
	clear(h.t[:])
	err := h.codes.build(spec, acBits, func(sym byte, l, lo, hi int) {
		e := acEntry(sym, l)
		for i := lo; i < hi; i++ {
			h.t[i] = e
		}
	})
	if err != nil {
		return err
	}
	for i := range h.t {
		h.pair[i] = h.second(i)
		h.skip[i] = h.several(i)
	}
	return nil
}

func (h *acTable) second(i int) uint64 {
	e := uint64(h.t[i])
	one := int(e & 0xff)
	if e == 0 || one >= acBits || e>>24 == eob {
		return e
	}
	f := h.t[i<<one&(1<<acBits-1)]
	two := int(f & 0xff)
	if f == 0 || one+two > acBits {
		return e
	}
	size := 63 - int(f>>16&63)
	v := i >> (acBits - one - two) & (1<<size - 1)
	if size > 0 && v>>(size-1) == 0 {
		v -= 1<<size - 1
	}
	return e&^0xff | uint64(one+two) | uint64(f>>24)<<32 | uint64(uint16(v))<<48
}

func (h *acTable) several(i int) uint32 {
	left, adv, used := acBits, uint32(0), uint32(0)
	for adv <= 31 {
		e := h.t[i<<(acBits-left)&(1<<acBits-1)]
		if e == 0 || int(e&0xff) > left {
			break
		}
		used += e & 0xff
		left -= int(e & 0xff)
		adv += e >> 24
	}
	return used | adv<<8
}

func (h *acTable) long(acc uint64) uint32 {
	sym, l := h.find(acc, acBits)
	if l == 0 {
		return 0
	}
	return acEntry(sym, l)
}

// progTable resolves AC symbols of progressive scans: the length of the code, symbol<<8.
type progTable struct {
	codes
	t [1 << progBits]uint16
}

func (h *progTable) build(spec []byte) error {
	clear(h.t[:])
	return h.codes.build(spec, progBits, func(sym byte, l, lo, hi int) {
		e := uint16(l) | uint16(sym)<<8
		for i := lo; i < hi; i++ {
			h.t[i] = e
		}
	})
}

func (h *progTable) long(acc uint64) uint16 {
	sym, l := h.find(acc, progBits)
	return uint16(l) | uint16(sym)<<8
}
