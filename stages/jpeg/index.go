package jpeg

import (
	"encoding/binary"
	"hash/crc32"
)

// Index is a side index of a sequential picture: where in the data chosen MCU rows and columns begin, and the DC
// predictors there. With it a decode of a region starts at the region. It is plain bytes, to be kept wherever the
// caller likes; an empty one is no index. It is tied to the data by a checksum: with other data, or spoilt, it is
// refused.
//
// Format, little-endian: "JIX1"; CRC-32C of all that follows; length of the data; CRC-32C of the data; offset of the
// scan (4 bytes each); MCUs across and down, rows and columns between entries, columns 0 for row starts only (2
// each); number of components; 3 zero bytes. Then the entries, row by row: offset of the byte that holds the next
// bit, times 8 plus the bit (5 bytes), and a predictor for each component (2 each).
type Index []byte

const (
	indexMagic  = "JIX1"
	indexHeader = 32
)

// castagnoli has an instruction on amd64 and arm64: checking 90 KB takes about 5 us.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// indexMaker collects entries during a decode.
type indexMaker struct {
	making     bool
	rows, cols int
	out        []byte
}

// start writes a header for the picture at hand into the memory of out.
func (m *indexMaker) start(h *header, opt *Options) {
	*m = indexMaker{making: true, rows: max(opt.IndexRows, 1), cols: max(opt.IndexCols, 0), out: (*opt.MakeIndex)[:0]}
	m.rows, m.cols = min(m.rows, 1<<16-1), min(m.cols, 1<<16-1)
	m.out = append(m.out, indexMagic+"\x00\x00\x00\x00"...)
	m.out = binary.LittleEndian.AppendUint32(m.out, uint32(len(h.data)))
	m.out = append(m.out, 0, 0, 0, 0)
	m.out = binary.LittleEndian.AppendUint32(m.out, uint32(h.scan.data))
	for _, v := range [...]int{h.mcusX(), h.mcusY(), m.rows, m.cols, h.nc, 0} {
		m.out = binary.LittleEndian.AppendUint16(m.out, uint16(v))
	}
}

// note adds an entry where one belongs and tells the column where the next may.
func (m *indexMaker) note(d *Decoder, my, mx int) int {
	if my%m.rows != 0 {
		return 1 << 30
	}
	if mx == 0 || m.cols > 0 && mx%m.cols == 0 {
		raw, bit := d.src.pos()
		at := uint64(raw)<<3 | uint64(bit)
		m.out = binary.LittleEndian.AppendUint32(m.out, uint32(at))
		m.out = append(m.out, byte(at>>32))
		for k := range d.h.nc {
			m.out = binary.LittleEndian.AppendUint16(m.out, uint16(d.pred[k]))
		}
	}
	if m.cols == 0 {
		return 1 << 30
	}
	return (mx/m.cols + 1) * m.cols
}

// finish signs the index.
func (m *indexMaker) finish(data []byte) Index {
	binary.LittleEndian.PutUint32(m.out[12:], crc32.Checksum(data, castagnoli))
	binary.LittleEndian.PutUint32(m.out[4:], crc32.Checksum(m.out[8:], castagnoli))
	m.making = false
	return m.out
}

// indexReader finds entries of a checked index.
type indexReader struct {
	b                  []byte // entries only; empty: no index
	rows, cols, perRow int
	size               int
}

// open checks that x was made from this picture and that all its entries are there.
func (r *indexReader) open(h *header, x Index) error {
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(x[i:])) }
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(x[i:]) }
	if len(x) < indexHeader || string(x[:4]) != indexMagic {
		return fail(ErrIndex, -1, "index: %d bytes that do not begin with %q", len(x), indexMagic)
	}
	if crc32.Checksum(x[8:], castagnoli) != u32(4) {
		return fail(ErrIndex, -1, "index: its checksum is wrong, it is spoilt")
	}
	if u32(8) != uint32(len(h.data)) || u32(12) != crc32.Checksum(h.data, castagnoli) {
		return fail(ErrIndex, -1, "index: made from other data (%d bytes there, %d here)", u32(8), len(h.data))
	}
	*r = indexReader{b: x[indexHeader:], rows: u16(24), cols: u16(26), perRow: 1, size: 5 + 2*h.nc}
	if h.several() || u32(16) != uint32(h.scan.data) || u16(20) != h.mcusX() || u16(22) != h.mcusY() || u16(28) != h.nc || r.rows == 0 {
		return fail(ErrIndex, -1, "index: made from a picture of another shape")
	}
	if r.cols > 0 {
		r.perRow = ceilDiv(h.mcusX(), r.cols)
	}
	if want := ceilDiv(h.mcusY(), r.rows) * r.perRow * r.size; len(r.b) != want {
		return fail(ErrIndex, -1, "index: %d bytes of entries, wanted %d", len(r.b), want)
	}
	return nil
}

// place gives the data offset and bit of an entry.
func (r *indexReader) place(i int) (int, uint) {
	e := r.b[i*r.size:]
	at := uint64(binary.LittleEndian.Uint32(e)) | uint64(e[4])<<32
	return int(at >> 3), uint(at & 7)
}

// seek goes to entry i and reads on no further than to entry next.
func (d *Decoder) seek(i, next int) error {
	r := &d.ix
	raw, bit := r.place(i)
	limit := len(d.h.data)
	if next < len(r.b)/r.size {
		n, _ := r.place(next)
		limit = min(limit, n+16) // a refill looks at 8 bytes, which stuffing may double
	}
	if raw < d.h.scan.data || raw >= limit {
		return fail(ErrIndex, raw, "index: entry outside the scan")
	}
	for k := range d.h.nc {
		d.pred[k] = int32(int16(binary.LittleEndian.Uint16(r.b[i*r.size+5+2*k:])))
	}
	d.src.seek(d.h.data, raw, bit, limit)
	d.sought, d.dead = true, 0
	return nil
}

// enter chooses where decoding of the scan begins: at its start, or at the last entry row not below the region. It
// returns the first row to decode.
func (d *Decoder) enter() int {
	if len(d.ix.b) == 0 {
		return 0
	}
	return d.firstRow / d.ix.rows * d.ix.rows
}

// columns chooses which MCUs of row my to decode, and goes to the first by the index where that saves work. jump: it
// must, for the row before was not read to its end.
func (d *Decoder) columns(my int, jump bool) (start, end int, err error) {
	end = d.h.mcusX()
	r := &d.ix
	if my == d.lastRow && !d.mk.making {
		end = d.lastCol
	}
	if len(r.b) == 0 {
		return 0, end, nil
	}
	if my >= d.firstRow && my < d.lastRow && (my+1)%r.rows == 0 {
		end = d.lastCol // the next row has its own entry
	}
	if my%r.rows != 0 {
		return 0, end, nil
	}
	col := 0
	if my >= d.firstRow && r.cols > 0 {
		col = d.firstCol / r.cols
	}
	if !jump && col == 0 {
		return 0, end, nil
	}
	i := my / r.rows * r.perRow
	next := i + r.perRow
	switch {
	case end < d.h.mcusX() && r.cols > 0:
		next = i + ceilDiv(end, r.cols)
	case end == d.h.mcusX() && (r.cols == 0 || d.firstCol < r.cols):
		next = len(r.b) // later rows may be read on from here
	}
	return col * max(r.cols, 1), end, d.seek(i+col, next)
}
