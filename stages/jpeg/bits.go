package jpeg

import "bytes"

const (
	bufLen = 8192 // unstuffed bytes held at a time
	margin = 24   // bytes behind them that a refill may read
	// slack is more than an MCU can take: 10 blocks of 64 symbols of 26 bits. A look at the fill level before each MCU
	// is enough.
	slack = 2600
)

// source hands out the entropy-coded bytes of a scan with the stuffed zeros taken out. The hot loops keep acc, n and
// p in registers and refill by one big-endian load: acc holds n good bits at its top, buf[p] is the next byte to be
// or-ed in. Behind the last byte come zeros, then stale bytes: who decodes must ask overrun before trusting the last
// codes.
type source struct {
	data   []byte
	raw    int // next byte of data
	base   int // place in data of buf[0]
	limit  int // act as if the data ended here
	acc    uint64
	n      uint
	p, end int
	odd    bool // a 0xFF was stuffed with more than a zero, so pos is off
	clean  bool // put zeros behind the end as far as an MCU can run, for lenient decodes, which may keep what came of them
	marker bool // nothing but a marker or the end of the data lies ahead
	buf    [bufLen + margin]byte
}

// seek starts at bit of the byte at raw and reads no further than limit.
func (s *source) seek(data []byte, raw int, bit uint, limit int) {
	s.data, s.raw, s.base, s.limit = data, raw, raw, limit
	s.acc, s.n, s.p, s.end, s.marker = 0, 0, 0, 0, false
	s.fill()
	s.acc = uint64(s.buf[0]) << 56 << bit
	s.n = 8 - bit
	s.p = 1
}

// pos is the place in data of the byte that holds the next bit, and the bit in it. A 0xFF in the buffer was two
// bytes.
func (s *source) pos() (int, uint) {
	b := max(s.p*8-int(s.n), 0)
	q := min(b>>3, s.end)
	return s.base + q + bytes.Count(s.buf[:q], []byte{0xFF}), uint(b & 7)
}

// overrun is true when more bits were taken than there were. Once marker is set it stays true until the next seek.
func (s *source) overrun() bool { return s.marker && s.p*8-int(s.n) > s.end*8 }

// fill moves what is left to the front and tops it up. It keeps the bytes that are still partly in acc, so pos stays
// true.
func (s *source) fill() {
	k := min(max(s.p-8, 0), s.end)
	s.base += k + bytes.Count(s.buf[:k], []byte{0xFF})
	copy(s.buf[:], s.buf[k:s.end])
	s.p -= k
	e := s.end - k
	stop := min(s.limit, len(s.data))
	for e < bufLen {
		d := s.data[min(s.raw, stop):min(s.raw+bufLen-e, stop)]
		i := bytes.IndexByte(d, 0xFF)
		if i < 0 {
			if len(d) == 0 {
				s.marker = true
				break
			}
			e += copy(s.buf[e:], d)
			s.raw += len(d)
			continue
		}
		e += copy(s.buf[e:], d[:i])
		s.raw += i
		j := s.raw + 1
		for j < len(s.data) && s.data[j] == 0xFF {
			j++
		}
		if j == len(s.data) || s.data[j] != 0 {
			s.marker = true
			break
		}
		s.odd = s.odd || j > s.raw+1
		s.buf[e] = 0xFF
		e++
		s.raw = j + 1
	}
	s.end = e
	over := margin
	if s.clean && s.marker {
		over = slack
	}
	clear(s.buf[e:min(e+over, len(s.buf))])
}

// toMarker gives up what is left before the next marker and tells its place, len(data) when there is none.
func (s *source) toMarker() int {
	for {
		i := bytes.IndexByte(s.data[s.raw:], 0xFF)
		if i < 0 {
			return len(s.data)
		}
		s.raw += i
		j := s.raw + 1
		for j < len(s.data) && s.data[j] == 0xFF {
			j++
		}
		if j == len(s.data) {
			return j
		}
		if s.data[j] != 0 {
			s.raw = j - 1
			return s.raw
		}
		s.raw = j + 1
	}
}
