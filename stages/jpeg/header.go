package jpeg

import (
	"bytes"
	"strconv"
)

// Colour says how the components of a picture are to be read.
type Colour uint8

// The colour models a file can hold.
const (
	Grey Colour = iota
	YCbCr
	RGB
	CMYK
	YCCK
)

// String gives the usual name.
func (c Colour) String() string { return [...]string{"grey", "YCbCr", "RGB", "CMYK", "YCCK"}[c] }

// Info is what the header of a picture tells.
type Info struct {
	Width, Height   int // of the stored picture, before orientation
	Components      int
	Colour          Colour
	Sampling        [4][2]int // horizontal and vertical factor of each component
	Orientation     int       // EXIF, 1 to 8; 1 where the file has none
	Progressive     bool
	RestartInterval int // MCUs between restart markers, 0 for none
	// Buffered says that coefficients come in several scans, so that all must be kept until the last: always so in a
	// progressive picture. See Memory.
	Buffered bool
}

// Memory estimates, from above, the bytes that a Decoder takes to decode the whole picture: about 20 rows of samples
// and the code tables; 2.2 bytes a sample more where the picture is Buffered. What it took for earlier pictures it
// uses again.
func (i Info) Memory() int64 {
	maxH, maxV := 1, 1
	for k := range i.Components {
		maxH, maxV = max(maxH, i.Sampling[k][0]), max(maxV, i.Sampling[k][1])
	}
	mx, my := int64(ceilDiv(i.Width, 8*maxH)), int64(ceilDiv(i.Height, 8*maxV))
	bytes := int64(1<<20) + 8*int64(i.Width)
	for k := range i.Components {
		h, v := int64(i.Sampling[k][0]), int64(i.Sampling[k][1])
		bytes += (mx*h*8+128)*32*v + int64(i.Width) + 512 + batch*h*v*129
		if i.Buffered {
			bytes += mx * h * my * v * (128 + 9)
		}
	}
	return bytes
}

// Layout names the sampling of the components: "grey", "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1", or the factors
// themselves, such as "2x2,1x1,2x1".
func (i Info) Layout() string {
	if i.Components == 1 {
		return "grey"
	}
	s := i.Sampling
	if i.Components == 3 && s[1] == [2]int{1, 1} && s[2] == s[1] {
		if n := (map[[2]int]string{{1, 1}: "4:4:4", {2, 1}: "4:2:2", {2, 2}: "4:2:0", {1, 2}: "4:4:0", {4, 1}: "4:1:1"})[s[0]]; n != "" {
			return n
		}
	}
	var b []byte
	for k := range i.Components {
		if k > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(s[k][0]), 10)
		b = append(b, 'x')
		b = strconv.AppendInt(b, int64(s[k][1]), 10)
	}
	return string(b)
}

// Header reads a picture's header up to its first scan and decodes nothing. It is safe for concurrent use and keeps
// no part of data, which may be the first kilobytes of a file. Cost: under a microsecond and no memory for usual
// headers.
func Header(data []byte) (Info, error) {
	var h header
	if err := h.start(data); err != nil {
		return Info{}, err
	}
	return h.info(), nil
}

// component is what the frame header says of one.
type component struct {
	id   byte
	h, v int
	tq   byte
}

// scanComponent is one component's entry in a scan header.
type scanComponent struct {
	comp   int
	dc, ac byte
}

// scan is a scan header.
type scan struct {
	n              int
	comps          [4]scanComponent
	ss, se, ah, al int
	data           int // offset of the first entropy-coded byte
}

// header reads segments. Tables stay where they lie in data until a scan needs them.
type header struct {
	data          []byte
	at            int // next segment
	frame         bool
	frameAt       int
	progressive   bool
	width, height int
	nc            int
	comps         [4]component
	maxH, maxV    int
	ri            int
	qt            [4][64]uint16 // zigzag order
	qtSeen        [4]bool
	dht           [2][4][]byte // class, id: 16 counts, then symbols
	jfif          bool
	adobe         int // transform of the Adobe mark, -1 without one
	orientation   int
	scan          scan
}

// start reads up to the first scan header.
func (h *header) start(data []byte) error {
	*h = header{data: data, at: 2, adobe: -1, orientation: 1}
	if len(data) == 0 {
		return fail(ErrCutShort, 0, "the file is empty")
	}
	if len(data) < 4 {
		return fail(ErrCutShort, len(data), "the file is only %d bytes long: no picture", len(data))
	}
	if data[0] != 0xFF || data[1] != mSOI {
		return fail(ErrDamaged, 0, "not a JPEG: it begins with %02x %02x, wanted ff d8", data[0], data[1])
	}
	more, err := h.next()
	if err != nil {
		return err
	}
	if !more {
		return fail(ErrCutShort, h.at, "the picture is cut short: end of data before its first scan")
	}
	return h.checkFrame()
}

// next reads segments up to and with the next scan header. It is false at the end marker or the end of the data.
func (h *header) next() (bool, error) {
	for {
		m, at, ok := h.marker()
		if !ok || m == mEOI {
			return false, nil
		}
		if m == 0x01 || m >= mRST0 && m <= mSOI {
			continue // markers without a segment
		}
		b := h.data[h.at:]
		if len(b) < 2 {
			return false, fail(ErrCutShort, at, "the picture is cut short in the %s segment", markerName(m))
		}
		n := int(b[0])<<8 | int(b[1])
		if n < 2 {
			return false, fail(ErrDamaged, at, "%s segment of length %d, wanted 2 or more", markerName(m), n)
		}
		if n > len(b) {
			return false, fail(ErrCutShort, at, "the picture is cut short in the %s segment: %d of %d bytes are there", markerName(m), len(b), n)
		}
		h.at += n
		if err := h.segment(m, b[2:n], at); err != nil {
			return false, err
		}
		if m == mSOS {
			return true, nil
		}
	}
}

// marker finds the next marker, over rubbish and fill bytes, and steps behind it. at is where its 0xFF lies.
func (h *header) marker() (m byte, at int, ok bool) {
	for {
		i := bytes.IndexByte(h.data[h.at:], 0xFF)
		if i < 0 {
			h.at = len(h.data)
			return 0, h.at, false
		}
		at = h.at + i
		i = at + 1
		for i < len(h.data) && h.data[i] == 0xFF {
			i++
		}
		if i == len(h.data) {
			h.at = i
			return 0, i, false
		}
		h.at = i + 1
		if h.data[i] != 0 {
			return h.data[i], i - 1, true
		}
	}
}

// several says whether the picture's coefficients come in more than one scan, so that all must be kept until the end.
func (h *header) several() bool { return h.progressive || h.scan.n != h.nc }

func (h *header) info() Info {
	i := Info{Width: h.width, Height: h.height, Components: h.nc, Colour: h.colour(), Orientation: h.orientation,
		Progressive: h.progressive, RestartInterval: h.ri, Buffered: h.several()}
	for k := range h.nc {
		i.Sampling[k] = [2]int{h.comps[k].h, h.comps[k].v}
	}
	return i
}

// colour follows libjpeg: JFIF before Adobe before the components' names.
func (h *header) colour() Colour {
	switch h.nc {
	case 1:
		return Grey
	case 4:
		if h.adobe > 0 {
			return YCCK
		}
		return CMYK
	}
	c := &h.comps
	switch {
	case h.jfif:
		return YCbCr
	case h.adobe == 0:
		return RGB
	case h.adobe < 0 && c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B':
		return RGB
	}
	return YCbCr
}
