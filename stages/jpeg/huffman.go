package jpeg

const (
	acBits   = 10 // bits an AC look-up resolves; 9 and 11 are 3 % slower (bench/jpeg: more look-ups, more cache)
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

// build reads 16 counts and the symbols, and calls f for every code of length up to bits: entries lo to hi of a
// table.
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

// dcEntry: bits 0-7 length of code and value, 8-15 length of the code, 16-23 63 minus length of the value. 0: the
// code is longer than the table, or there is none. Values too large for 8-bit pictures count as none.
func dcEntry(sym byte, l int) uint32 {
	if sym > 11 {
		return 0
	}
	return uint32(l) + uint32(sym) | uint32(l)<<8 | (63-uint32(sym))<<16
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

// acEntry is what acBits bits tell: the first symbol, and a second one with its value where it fits whole.
type acEntry struct {
	bits  uint8 // of both symbols, values included; 0: the code is longer than acBits, or there is none
	code  uint8 // of the first code
	shift uint8 // 63 minus the length of the first value
	adv   uint8 // of the first, in zigzag order; eob for an end of block
	adv2  uint8 // of the second, 0 for none
	long  uint8 // where bits is 0: block of acTable.long, plus 1
	v2    int16 // value of the second
}

// one is the length of the first symbol alone.
func (e *acEntry) one() uint { return (uint(e.code) + 63 - uint(e.shift)) & 63 }

// firstSymbol makes the entry of one symbol. Values too large for 8-bit pictures count as no code.
func firstSymbol(sym byte, l int) acEntry {
	size, adv := sym&15, sym>>4+1
	if size > 10 {
		return acEntry{}
	}
	if size == 0 && sym != 0xF0 {
		adv = eob
	}
	return acEntry{bits: uint8(l) + size, code: uint8(l), shift: 63 - size, adv: adv}
}

const longBits = 16 - acBits

// acTable resolves sequential AC symbols.
type acTable struct {
	t    [1 << acBits]acEntry
	skip [1 << acBits]uint32 // as many symbols as fit, or one that does not: bits, advance<<8
	// long holds the codes of more than acBits bits, in blocks for those with the same beginning. Codes follow each
	// other, so all blocks but the last are full, of two codes at least: there are 129 at most.
	long  [136 << longBits]acEntry
	codes codes
}

func (h *acTable) build(spec []byte) error {
	clear(h.t[:])
	blocks := 0
	err := h.codes.build(spec, 16, func(sym byte, l, lo, hi int) {
		e := firstSymbol(sym, l)
		if l <= acBits {
			for i := lo >> longBits; i < hi>>longBits; i++ {
				h.t[i] = e
			}
			return
		}
		p := &h.t[lo>>longBits]
		if p.long == 0 {
			clear(h.long[blocks<<longBits : (blocks+1)<<longBits])
			blocks++
			p.long = uint8(blocks)
		}
		b := (int(p.long) - 1) << longBits
		for i := lo; i < hi; i++ {
			h.long[b+i&(1<<longBits-1)] = e
		}
	})
	if err != nil {
		return err
	}
	firsts := h.t
	for i := range h.t {
		h.t[i], h.skip[i] = follow(&firsts, i)
	}
	return nil
}

// follow adds the symbols behind the first one of index i: the second to its entry, and all that fit to the skip
// entry.
func follow(t *[1 << acBits]acEntry, i int) (acEntry, uint32) {
	e := t[i]
	used, adv := e.bits, uint32(e.adv)
	for n := 2; used != 0 && used < acBits && adv <= 31; n++ {
		f := &t[i<<used&(1<<acBits-1)]
		if f.bits == 0 || used+f.bits > acBits {
			break
		}
		used += f.bits
		adv += uint32(f.adv)
		if n > 2 {
			continue
		}
		size := 63 - int(f.shift)
		v := i >> (acBits - used) & (1<<size - 1)
		if size > 0 && v>>(size-1) == 0 {
			v -= 1<<size - 1
		}
		e.bits, e.adv2, e.v2 = used, f.adv, int16(v)
	}
	return e, uint32(used) | adv<<8
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
