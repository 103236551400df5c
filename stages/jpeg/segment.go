package jpeg

import "fmt"

const (
	mSOF0 = 0xC0
	mSOF1 = 0xC1
	mSOF2 = 0xC2
	mDHT  = 0xC4
	mDAC  = 0xCC
	mRST0 = 0xD0
	mSOI  = 0xD8
	mEOI  = 0xD9
	mSOS  = 0xDA
	mDQT  = 0xDB
	mDRI  = 0xDD
	mAPP0 = 0xE0
	mAPP1 = 0xE1
	mAPPE = 0xEE
)

func markerName(m byte) string {
	switch {
	case m == mDHT:
		return "Huffman table (DHT)"
	case m == mDQT:
		return "quantizer (DQT)"
	case m == mSOS:
		return "scan header (SOS)"
	case m == mDRI:
		return "restart interval (DRI)"
	case m == mEOI:
		return "end (EOI)"
	case m&0xF8 == mRST0:
		return fmt.Sprintf("restart (RST%d)", m&7)
	case m&0xF0 == mAPP0:
		return fmt.Sprintf("APP%d", m&15)
	case isFrame(m):
		return fmt.Sprintf("frame header (SOF%d)", m&15)
	}
	return fmt.Sprintf("0x%02x", m)
}

func isFrame(m byte) bool { return m&0xF0 == 0xC0 && m != mDHT && m != 0xC8 && m != mDAC }

// segment reads one segment's body s, which begins 4 bytes behind at.
func (h *header) segment(m byte, s []byte, at int) error {
	switch {
	case m == mDQT:
		return h.quantizers(s, at)
	case m == mDHT:
		return h.huffman(s, at)
	case m == mDRI:
		if len(s) < 2 {
			return fail(ErrDamaged, at, "restart interval of %d bytes, wanted 2", len(s))
		}
		h.ri = int(s[0])<<8 | int(s[1])
	case m == mSOS:
		return h.scanHeader(s, at)
	case isFrame(m):
		return h.frameHeader(m, s, at)
	case m == mAPP0:
		h.jfif = h.jfif || len(s) >= 14 && string(s[:5]) == "JFIF\x00"
	case m == mAPP1:
		if o := exifOrientation(s); o > 0 {
			h.orientation = o
		}
	case m == mAPPE:
		if len(s) >= 12 && string(s[:5]) == "Adobe" {
			h.adobe = int(s[11])
		}
	}
	return nil
}

func (h *header) quantizers(s []byte, at int) error {
	for len(s) > 0 {
		id, wide := s[0]&15, s[0]>>4
		n := 65
		if wide == 1 {
			n = 129
		}
		if id > 3 || wide > 1 || len(s) < n {
			return fail(ErrDamaged, at, "quantizer %d of precision %d in %d bytes, wanted number 0 to 3, precision 0 or 1 and %d bytes",
				id, wide, len(s), n)
		}
		for k := range 64 {
			if wide == 1 {
				h.qt[id][k] = uint16(s[1+2*k])<<8 | uint16(s[2+2*k])
			} else {
				h.qt[id][k] = uint16(s[1+k])
			}
		}
		h.qtSeen[id] = true
		s = s[n:]
	}
	return nil
}

func (h *header) huffman(s []byte, at int) error {
	for len(s) > 0 {
		id, class := s[0]&15, s[0]>>4
		if id > 3 || class > 1 || len(s) < 17 {
			return fail(ErrDamaged, at, "huffman table %d of class %d in %d bytes, wanted number 0 to 3, class 0 or 1 and 17 bytes or more",
				id, class, len(s))
		}
		n := 0
		for _, v := range s[1:17] {
			n += int(v)
		}
		if n > 256 || len(s) < 17+n {
			return fail(ErrDamaged, at, "huffman table of %d symbols in %d bytes, wanted 256 at most and all of them there", n, len(s)-17)
		}
		h.dht[class][id] = s[1 : 17+n]
		s = s[17+n:]
	}
	return nil
}

var frameNames = [16]string{3: "lossless", 5: "hierarchical", 6: "hierarchical progressive", 7: "hierarchical lossless",
	9: "arithmetic-coded", 10: "arithmetic-coded progressive", 11: "arithmetic-coded lossless", 13: "arithmetic-coded hierarchical",
	14: "arithmetic-coded hierarchical", 15: "arithmetic-coded hierarchical"}

func (h *header) frameHeader(m byte, s []byte, at int) error {
	if m > mSOF2 {
		return fail(ErrUnsupported, at, "unsupported: %s picture (SOF%d)", frameNames[m&15], m&15)
	}
	if h.frame {
		return fail(ErrDamaged, at, "a second frame header, wanted one")
	}
	if len(s) < 6 || len(s) < 6+3*int(s[5]) {
		return fail(ErrDamaged, at, "frame header of %d bytes, wanted more", len(s))
	}
	if s[0] != 8 {
		return fail(ErrUnsupported, at, "unsupported: %d bits a sample, wanted 8", s[0])
	}
	h.frame, h.frameAt, h.progressive = true, at, m == mSOF2
	h.height, h.width, h.nc = int(s[1])<<8|int(s[2]), int(s[3])<<8|int(s[4]), int(s[5])
	if h.height == 0 {
		return fail(ErrUnsupported, at, "unsupported: height 0 (to be told after the first scan)")
	}
	if h.width == 0 {
		return fail(ErrDamaged, at, "a picture of width 0")
	}
	if h.nc != 1 && h.nc != 3 && h.nc != 4 {
		return fail(ErrUnsupported, at, "unsupported: %d components, wanted 1, 3 or 4", h.nc)
	}
	for k := range h.nc {
		c := component{id: s[6+3*k], h: int(s[7+3*k] >> 4), v: int(s[7+3*k] & 15), tq: s[8+3*k]}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.tq > 3 {
			return fail(ErrDamaged, at, "component %d has sampling %dx%d and quantizer %d, wanted 1 to 4 and 0 to 3", k, c.h, c.v, c.tq)
		}
		if h.nc == 1 {
			c.h, c.v = 1, 1 // a scan of one component goes block by block, whatever its factors
		}
		h.comps[k] = c
		h.maxH, h.maxV = max(h.maxH, c.h), max(h.maxV, c.v)
	}
	return nil
}

func (h *header) scanHeader(s []byte, at int) error {
	if !h.frame {
		return fail(ErrDamaged, at, "a scan before the frame header")
	}
	n := 0
	if len(s) > 0 {
		n = int(s[0])
	}
	if n < 1 || n > 4 || len(s) < 4+2*n {
		return fail(ErrDamaged, at, "scan header of %d bytes for %d components", len(s), n)
	}
	sc := scan{n: n, data: h.at}
	for k := range n {
		c := scanComponent{comp: -1, dc: s[2+2*k] >> 4, ac: s[2+2*k] & 15}
		for j := range h.nc {
			if h.comps[j].id == s[1+2*k] {
				c.comp = j
				break
			}
		}
		for j := range k {
			if sc.comps[j].comp == c.comp {
				c.comp = -1
			}
		}
		if c.comp < 0 {
			return fail(ErrDamaged, at, "scan names component %d, wanted one of the frame's, each once", s[1+2*k])
		}
		sc.comps[k] = c
	}
	sc.ss, sc.se, sc.ah, sc.al = int(s[1+2*n]), int(s[2+2*n]), int(s[3+2*n]>>4), int(s[3+2*n]&15)
	h.scan = sc
	return h.checkScan(at)
}

// checkScan looks at the spectral range and the MCU's size. Sequential files may carry odd ranges: nobody reads them.
func (h *header) checkScan(at int) error {
	sc := &h.scan
	if h.progressive {
		bad := sc.ss > sc.se || sc.se > 63 || sc.ss == 0 && sc.se != 0 || sc.ss > 0 && sc.n != 1 ||
			sc.al > 13 || sc.ah > 13 || sc.ah != 0 && sc.al != sc.ah-1
		if bad {
			return fail(ErrDamaged, at, "progressive scan of coefficients %d to %d, bits %d to %d, %d components: no such scan",
				sc.ss, sc.se, sc.ah, sc.al, sc.n)
		}
	}
	if sc.n == 1 {
		return nil
	}
	blocks := 0
	for k := range sc.n {
		c := &h.comps[sc.comps[k].comp]
		blocks += c.h * c.v
	}
	if blocks > 10 {
		return fail(ErrDamaged, at, "%d blocks in an MCU, wanted 10 at most", blocks)
	}
	return nil
}

// checkFrame looks for what only a decode would trip over: layouts nobody can upsample.
func (h *header) checkFrame() error {
	for k := range h.nc {
		c := &h.comps[k]
		if h.maxH%c.h != 0 || h.maxV%c.v != 0 {
			return fail(ErrUnsupported, h.frameAt, "unsupported: sampling %dx%d under %dx%d is not a whole ratio", c.h, c.v, h.maxH, h.maxV)
		}
	}
	return nil
}

// exifOrientation finds tag 0x0112 in the first directory of an EXIF segment; 0 when there is none.
func exifOrientation(s []byte) int {
	if len(s) < 14 || string(s[:6]) != "Exif\x00\x00" {
		return 0
	}
	s = s[6:]
	var u16 func(int) int
	switch string(s[:2]) {
	case "II":
		u16 = func(i int) int { return int(s[i]) | int(s[i+1])<<8 }
	case "MM":
		u16 = func(i int) int { return int(s[i])<<8 | int(s[i+1]) }
	default:
		return 0
	}
	off := u16(4) | u16(6)<<16
	if s[0] == 'M' {
		off = u16(4)<<16 | u16(6)
	}
	if u16(2) != 42 || off < 8 || off+2 > len(s) {
		return 0
	}
	for i, n := off+2, u16(off); n > 0 && i+12 <= len(s); i, n = i+12, n-1 {
		if u16(i) == 0x0112 && u16(i+2) == 3 {
			if o := u16(i + 8); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
	}
	return 0
}
