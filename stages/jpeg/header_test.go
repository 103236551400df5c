package jpeg

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func seg(marker byte, body ...byte) []byte {
	return append([]byte{0xFF, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}

// header1 is a header of one 8x8 grey block with the segments given before its scan.
func header1(extra ...[]byte) []byte {
	b := []byte{0xFF, mSOI}
	for _, e := range extra {
		b = append(b, e...)
	}
	return append(append(b, seg(mSOS, 1, 1, 0, 0, 63, 0)...), 0)
}

func frame(body ...byte) []byte { return seg(mSOF0, append([]byte{8, 0, 8, 0, 8}, body...)...) }

func TestHeadersThatBreakTheRulesAreRefused(t *testing.T) {
	grey := frame(1, 1, 0x11, 0)
	for _, c := range []struct {
		data []byte
		kind error
		want string
	}{
		{header1(), ErrDamaged, "a scan before the frame header"},
		{header1(grey, grey), ErrDamaged, "a second frame header"},
		{header1(seg(mSOF0, 8, 0, 8)), ErrDamaged, "frame header of 3 bytes"},
		{header1(seg(mSOF0, 8, 0, 0, 0, 8, 1, 1, 0x11, 0)), ErrUnsupported, "height 0"},
		{header1(seg(mSOF0, 8, 0, 8, 0, 0, 1, 1, 0x11, 0)), ErrDamaged, "width 0"},
		{header1(frame(2, 1, 0x11, 0, 2, 0x11, 0)), ErrUnsupported, "2 components"},
		{header1(frame(1, 1, 0x51, 0)), ErrDamaged, "sampling 5x1"},
		{header1(frame(1, 1, 0x11, 4)), ErrDamaged, "quantizer 4"},
		{header1(frame(1, 9, 0x11, 0)), ErrDamaged, "scan names component 1"},
		{header1(frame(3, 1, 0x31, 0, 2, 0x21, 0, 3, 0x11, 0)), ErrUnsupported, "2x1 under 3x1 is not a whole ratio"},
		{header1(seg(mSOF0+2, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)), ErrDamaged, "no such scan"},
		{header1(seg(0xC7, 8)), ErrUnsupported, "hierarchical lossless"},
		{header1(seg(mDRI, 1)), ErrDamaged, "restart interval of 1 bytes"},
		{header1(seg(mDQT, 0x04, 1)), ErrDamaged, "quantizer 4"},
		{header1(seg(mDHT, 0x22)), ErrDamaged, "huffman table 2 of class 2"},
		{header1(seg(mDHT, append(make([]byte, 16), 9)...)), ErrDamaged, "huffman table of 9 symbols"},
		{[]byte{0xFF, mSOI, 0xFF, mDQT, 0, 1, 0}, ErrDamaged, "segment of length 1"},
		{[]byte{0xFF, mSOI, 0xFF, mAPP0 + 3}, ErrCutShort, "cut short in the APP3 segment"},
		{[]byte{0xFF, mSOI, 0xFF, 0xFF, 0xFF}, ErrCutShort, "end of data before its first scan"},
		{[]byte{0xFF, mSOI, 0xFF, mEOI}, ErrCutShort, "end of data before its first scan"},
		{[]byte{0xFF, mSOI}, ErrCutShort, "only 2 bytes"},
	} {
		_, err := Header(c.data)
		require.ErrorIs(t, err, c.kind, c.want)
		assert.ErrorContains(t, err, c.want)
		var e interface{ ByteOffset() int64 }
		require.ErrorAs(t, err, &e)
		assert.GreaterOrEqual(t, e.ByteOffset(), int64(0))
	}
	assert.Equal(t, "jpeg: scale 3", fail(ErrUsage, -1, "scale %d", 3).Error())
}

func TestColoursWithoutMarksFollowTheComponentsNames(t *testing.T) {
	three := func(a, b, c byte) []byte { return frame(3, a, 0x11, 0, b, 0x11, 0, c, 0x11, 0) }
	scan := func(f ...[]byte) []byte {
		data := header1(f...)
		data[len(data)-6] = f[len(f)-1][10] // the first component's name
		return data
	}
	jfif := seg(mAPP0, append([]byte("JFIF\x00"), make([]byte, 9)...)...)
	adobe := func(transform byte) []byte {
		return seg(mAPPE, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, transform)...)
	}
	for _, c := range []struct {
		data []byte
		want Colour
	}{
		{scan(three(1, 2, 3)), YCbCr},
		{scan(three('R', 'G', 'B')), RGB},
		{scan(three(5, 6, 7)), YCbCr},
		{scan(jfif, three('R', 'G', 'B')), YCbCr},
		{scan(adobe(0), three(1, 2, 3)), RGB},
		{scan(adobe(1), three('R', 'G', 'B')), YCbCr},
		{scan(jfif, adobe(0), three(1, 2, 3)), YCbCr},
	} {
		info, err := Header(c.data)
		require.NoError(t, err)
		assert.Equal(t, c.want, info.Colour, "% x", c.data)
	}
}

func TestOddOrientationTagsCountAsNone(t *testing.T) {
	tiff := func(s string) []byte { return seg(mAPP1, append([]byte("Exif\x00\x00"), s...)...) }
	for s, want := range map[string]int{
		"II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00": 6,
		"MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x03\x00\x00": 3,
		"II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x09\x00\x00\x00": 1, // no such orientation
		"II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x04\x00\x01\x00\x00\x00\x06\x00\x00\x00": 1, // not a short
		"II*\x00\xff\xff\xff\xff\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00": 1, // a directory far away
		"II*\x00\x08\x00\x00\x00\xff\xff\x12\x01\x03\x00":                                 1, // cut
		"XX*\x00\x08\x00\x00\x00\x01\x00":                                                 1,
	} {
		info, err := Header(header1(tiff(s), frame(1, 1, 0x11, 0)))
		require.NoError(t, err)
		assert.Equal(t, want, info.Orientation, "%q", s)
	}
}

func TestAnOverfullHuffmanCodeIsDamage(t *testing.T) {
	counts := append([]byte{3}, make([]byte, 15)...) // three codes of one bit
	data := header1(seg(mDQT, make([]byte, 65)...), seg(mDHT, append(append([]byte{0}, counts...), 0, 1, 2)...), frame(1, 1, 0x11, 0))
	_, err := new(Decoder).Decode(make([]byte, 192), append(data, 0, 0, 0), Options{})
	require.ErrorIs(t, err, ErrDamaged)
	assert.ErrorContains(t, err, "more codes of 1 bits than there are")
}
