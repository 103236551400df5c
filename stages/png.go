package stages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// pngDecoder decodes PNG pictures straight to RGB and keeps its memory: two rows, the inflater's window, and the
// compressed data of files that have it in pieces. It belongs to one worker; its zero value is ready.
//
// It reads every colour type, depth and interlacing of the PNG specification (third edition), checks the sums of what
// it reads, and stops at the last row: what follows, the end mark included, does not matter.
type pngDecoder struct {
	inflate  io.ReadCloser
	joined   []byte
	row, old []byte // the row being read and the one above, each after its filter byte
	wide     []byte // an interlaced row as RGB
	palette  [256][3]byte
}

// pngLayout is what IHDR says.
type pngLayout struct {
	width, height, depth, colour int
	interlaced                   bool
}

var pngChannels = map[int]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

var pngDepths = map[int]string{0: "\x01\x02\x04\x08\x10", 2: "\x08\x10", 3: "\x01\x02\x04\x08", 4: "\x08\x10", 6: "\x08\x10"}

func readLayout(b []byte) (l pngLayout, err error) {
	l = pngLayout{int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:])), int(b[8]), int(b[9]), b[12] == 1}
	switch {
	case pngChannels[l.colour] == 0 || !bytes.Contains([]byte(pngDepths[l.colour]), b[8:9]):
		return l, fmt.Errorf("damaged PNG: colour type %d with %d bits", l.colour, l.depth)
	case b[10] != 0 || b[11] != 0 || b[12] > 1:
		return l, fmt.Errorf("damaged PNG: compression %d, filters %d, interlacing %d are not known", b[10], b[11], b[12])
	}
	return l, nil
}

// bits of a pixel.
func (l *pngLayout) bits() int { return pngChannels[l.colour] * l.depth }

// decode fills dst, 3 bytes a pixel, from a file whose size the caller has checked.
func (d *pngDecoder) decode(dst, data []byte) error {
	l, packed, err := d.chunks(data)
	if err != nil {
		return err
	}
	if err := d.open(packed); err != nil {
		return pngError(err)
	}
	if l.interlaced {
		err = d.passes(dst, &l)
	} else {
		err = d.rows(l.width, l.height, &l, func(y int) []byte { return dst[3*y*l.width : 3*(y+1)*l.width] }, nil)
	}
	if err != nil {
		return pngError(err)
	}
	// The checksum is found by reading on. Surplus data have no effect.
	var more [1]byte
	if _, err := d.inflate.Read(more[:]); err != nil && !errors.Is(err, io.EOF) {
		return pngError(err)
	}
	return nil
}

func pngError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: its pixel data end early", errCutShort)
	}
	return fmt.Errorf("damaged PNG: %w", err)
}

func (d *pngDecoder) open(packed []byte) (err error) {
	if d.inflate == nil {
		d.inflate, err = zlib.NewReader(bytes.NewReader(packed))
		return err
	}
	return d.inflate.(zlib.Resetter).Reset(bytes.NewReader(packed), nil)
}

// chunks walks to the end of the pixel data and gives them in one piece.
func (d *pngDecoder) chunks(data []byte) (l pngLayout, packed []byte, err error) {
	name, body, rest, err := pngChunk(data[len(pngMark):])
	if err == nil && (name != "IHDR" || len(body) != 13) {
		err = errors.New("damaged PNG: no header")
	}
	if err == nil {
		l, err = readLayout(body)
	}
	if err != nil {
		return l, nil, err
	}
	colours, pieces := 0, 0
	for {
		if name, body, rest, err = pngChunk(rest); err != nil && (pieces == 0 || name == "IDAT") {
			return l, nil, err
		}
		switch {
		case name == "IDAT" && pieces == 0:
			packed, pieces = body, 1
		case name == "IDAT":
			if pieces == 1 {
				d.joined = append(d.joined[:0], packed...)
			}
			d.joined = append(d.joined, body...)
			packed, pieces = d.joined, pieces+1
		case pieces > 0:
			if l.colour == 3 && colours == 0 {
				return l, nil, errors.New("damaged PNG: a palette picture without its palette")
			}
			return l, packed, nil
		case name == "PLTE" && l.colour == 3:
			if colours = len(body) / 3; len(body)%3 != 0 || colours == 0 || colours > 1<<l.depth {
				return l, nil, fmt.Errorf("damaged PNG: a palette of %d bytes for %d bits", len(body), l.depth)
			}
			d.palette = [256][3]byte{} // an index beyond it is black
			for i := range colours {
				d.palette[i] = [3]byte(body[3*i:])
			}
		}
	}
}

// pngChunk takes a chunk off. Sums are checked of those that make the picture.
func pngChunk(b []byte) (name string, body, rest []byte, err error) {
	if len(b) < 12 {
		return "", nil, nil, errCutShort
	}
	n := int64(binary.BigEndian.Uint32(b))
	name = string(b[4:8])
	if n > int64(len(b)-12) {
		return name, nil, nil, errCutShort
	}
	body, rest = b[8:8+n], b[12+n:]
	if name[0]&0x20 == 0 && crc32.ChecksumIEEE(b[4:8+n]) != binary.BigEndian.Uint32(b[8+n:]) {
		return name, nil, nil, fmt.Errorf("damaged PNG: the checksum of its chunk %q does not fit", name)
	}
	return name, body, rest, nil
}

// rows reads height rows of width pixels. Each is written as RGB where row says; after then sees it.
func (d *pngDecoder) rows(width, height int, l *pngLayout, row func(y int) []byte, after func(y int)) error {
	n := 1 + (width*l.bits()+7)/8
	if cap(d.row) < n {
		d.row, d.old = make([]byte, n), make([]byte, n)
	}
	d.row, d.old = d.row[:n], d.old[:n]
	clear(d.old)
	for y := range height {
		if _, err := io.ReadFull(d.inflate, d.row); err != nil {
			return err
		}
		if err := unfilter(d.row, d.old, max(1, l.bits()/8)); err != nil {
			return err
		}
		d.expand(row(y), d.row[1:], l)
		if after != nil {
			after(y)
		}
		d.row, d.old = d.old, d.row
	}
	return nil
}

// passes reads the seven passes of an interlaced picture.
func (d *pngDecoder) passes(dst []byte, l *pngLayout) error {
	if cap(d.wide) < 3*l.width {
		d.wide = make([]byte, 3*l.width)
	}
	for _, p := range [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		x, y, dx, dy := p[0], p[1], p[2], p[3]
		w, h := (l.width-x+dx-1)/dx, (l.height-y+dy-1)/dy
		if w <= 0 || h <= 0 {
			continue
		}
		wide := d.wide[:3*w]
		err := d.rows(w, h, l, func(int) []byte { return wide }, func(r int) {
			to := dst[3*((y+r*dy)*l.width+x):]
			for i := range w {
				copy(to[3*i*dx:3*i*dx+3], wide[3*i:])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expand writes a row as RGB.
func (d *pngDecoder) expand(dst, src []byte, l *pngLayout) {
	switch {
	case l.colour == 2 && l.depth == 8:
		copy(dst, src)
	case l.colour == 3:
		for x := 0; len(dst) >= 3; x, dst = x+1, dst[3:] {
			*(*[3]byte)(dst) = d.palette[bitsAt(src, x, l.depth)]
		}
	case l.colour == 0 && l.depth < 8:
		scale := byte(255 / (1<<l.depth - 1))
		for x := 0; len(dst) >= 3; x, dst = x+1, dst[3:] {
			v := bitsAt(src, x, l.depth) * scale
			*(*[3]byte)(dst) = [3]byte{v, v, v}
		}
	case l.depth == 8:
		expand8(dst, src, pngChannels[l.colour])
	default:
		expand16(dst, src, pngChannels[l.colour])
	}
}

func bitsAt(row []byte, x, depth int) byte {
	at := x * depth
	return row[at>>3] >> (8 - depth - at&7) & byte(1<<depth-1)
}

// expand8 takes the colour of pixels of 1, 2 or 4 bytes.
func expand8(dst, src []byte, step int) {
	green, blue := 0, 0
	if step == 4 {
		green, blue = 1, 2
	}
	for ; len(dst) >= 3 && len(src) >= step; dst, src = dst[3:], src[step:] {
		dst[0], dst[1], dst[2] = src[0], src[green], src[blue]
	}
}

// expand16 takes the colour of pixels of 1 to 4 numbers of 16 bits.
func expand16(dst, src []byte, channels int) {
	green, blue := 0, 0
	if channels >= 3 {
		green, blue = 2, 4
	}
	for ; len(dst) >= 3; dst, src = dst[3:], src[2*channels:] {
		dst[0], dst[1], dst[2] = eight(src), eight(src[green:]), eight(src[blue:])
	}
}

// unfilter restores a row; its first byte tells how it was filtered, old is the row above, step the bytes of a pixel.
func unfilter(row, old []byte, step int) error {
	kind := row[0]
	row, old = row[1:], old[1:]
	old = old[:len(row)]
	switch kind {
	case 0:
	case 1:
		for i := step; i < len(row); i++ {
			row[i] += row[i-step]
		}
	case 2:
		for i := range row {
			row[i] += old[i]
		}
	case 3:
		for i := range min(step, len(row)) {
			row[i] += old[i] / 2
		}
		for i := step; i < len(row); i++ {
			row[i] += byte((int(row[i-step]) + int(old[i])) / 2)
		}
	case 4:
		if step == 3 {
			paeth3(row, old)
			return nil
		}
		for first := range step {
			paeth(row, old, first, step)
		}
	default:
		return fmt.Errorf("filter %d is not known", kind)
	}
	return nil
}

// paeth restores one byte of each pixel.
func paeth(row, old []byte, first, step int) {
	var left, corner int
	for i := first; i < len(row); i += step {
		up := int(old[i])
		left = predict(left, up, corner, row[i])
		row[i] = byte(left)
		corner = up
	}
}

// paeth3 restores three bytes at once: their chains of dependence run side by side.
func paeth3(row, old []byte) {
	var l0, l1, l2, c0, c1, c2 int
	for len(row) >= 3 && len(old) >= 3 {
		u0, u1, u2 := int(old[0]), int(old[1]), int(old[2])
		l0, l1, l2 = predict(l0, u0, c0, row[0]), predict(l1, u1, c1, row[1]), predict(l2, u2, c2, row[2])
		row[0], row[1], row[2] = byte(l0), byte(l1), byte(l2)
		c0, c1, c2 = u0, u1, u2
		row, old = row[3:], old[3:]
	}
}

// predict adds to v that one of left, up and corner which is nearest to left + up - corner.
func predict(left, up, corner int, v byte) int {
	a, b := up-corner, left-corner
	c := a + b
	a, b, c = max(a, -a), max(b, -b), max(c, -c)
	if b < a {
		a, left = b, up
	}
	if c < a {
		left = corner
	}
	return (left + int(v)) & 0xFF
}
