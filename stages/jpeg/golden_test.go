package jpeg

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// decode decodes with a new decoder into memory of just the right size.
func decode(t testing.TB, d *Decoder, data []byte, opt Options) ([]byte, Result, error) {
	info, err := Header(data)
	require.NoError(t, err)
	w, h := info.OutputSize(opt)
	n := 3
	if opt.Grey {
		n = 1
	}
	dst := make([]byte, w*h*n)
	res, err := d.Decode(dst, data, opt)
	return dst, res, err
}

// golden is a line of golden.txt: what djpeg (or Pillow) made of a picture.
type golden struct {
	name, colour string
	scale, w, h  int
	crc          uint32
}

func goldens(t testing.TB) (gs []golden) {
	s := bufio.NewScanner(bytes.NewReader(read(t, "golden.txt")))
	for s.Scan() {
		var g golden
		_, err := fmt.Sscanf(s.Text(), "%s %d %s %d %d %x", &g.name, &g.scale, &g.colour, &g.w, &g.h, &g.crc)
		require.NoError(t, err, s.Text())
		gs = append(gs, g)
	}
	require.NotEmpty(t, gs)
	return gs
}

func TestPixelsEqualTheGoldensOfDjpegAndPillow(t *testing.T) {
	ds := decoders()
	for _, g := range goldens(t) {
		data := read(t, g.name)
		for name, d := range ds {
			pix, res, err := decode(t, d, data, Options{Scale: g.scale, Grey: g.colour == "grey"})
			if !assert.NoError(t, err, "%+v", g) {
				continue
			}
			assert.Equal(t, Result{Width: g.w, Height: g.h, Whole: true}, res, "%+v", g)
			assert.Equal(t, g.crc, crc32.ChecksumIEEE(pix), "%s %+v", name, g)
		}
	}
}

func TestRegionsEqualTheWholeInGreyAndColour(t *testing.T) {
	for name, d := range decoders() {
		for _, g := range goldens(t) {
			if g.colour == "pillow" {
				continue
			}
			data := read(t, g.name)
			info, err := Header(data)
			require.NoError(t, err)
			opt := Options{Scale: g.scale, Grey: g.colour == "grey"}
			whole, _, err := decode(t, d, data, opt)
			require.NoError(t, err)
			n := len(whole) / g.w / g.h
			r := newRand(g.name)
			for range 10 {
				opt.Region = randomRegion(r, info.Width, info.Height)
				part, res, err := decode(t, d, data, opt)
				require.NoError(t, err)
				x, y := opt.Region.Min.X/g.scale, opt.Region.Min.Y/g.scale
				for i := range res.Height {
					require.True(t, bytes.Equal(whole[((y+i)*g.w+x)*n:][:res.Width*n], part[i*res.Width*n:][:res.Width*n]), "%s %+v %v row %d", name, g, opt.Region, i)
				}
			}
		}
	}
}

func TestHeaderTellsShapeWithoutDecoding(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   Info
		layout string
	}{
		{"seq_2x2.jpg", Info{Width: 43, Height: 31, Components: 3, Colour: YCbCr, Sampling: [4][2]int{{2, 2}, {1, 1}, {1, 1}}, Orientation: 1}, "4:2:0"},
		{"prog_2x1.jpg", Info{Width: 39, Height: 34, Components: 3, Colour: YCbCr, Sampling: [4][2]int{{2, 1}, {1, 1}, {1, 1}}, Orientation: 1, Progressive: true, Buffered: true}, "4:2:2"},
		{"seq_2x2_2x1_1x2.jpg", Info{Width: 61, Height: 37, Components: 3, Colour: YCbCr, Sampling: [4][2]int{{2, 2}, {2, 1}, {1, 2}}, Orientation: 1}, "2x2,2x1,1x2"},
		{"grey.jpg", Info{Width: 33, Height: 21, Components: 1, Sampling: [4][2]int{{1, 1}}, Orientation: 1}, "grey"},
		{"rgb.jpg", Info{Width: 33, Height: 21, Components: 3, Colour: RGB, Sampling: [4][2]int{{1, 1}, {1, 1}, {1, 1}}, Orientation: 1}, "4:4:4"},
		{"cmyk.jpg", Info{Width: 40, Height: 30, Components: 4, Colour: CMYK, Sampling: [4][2]int{{1, 1}, {1, 1}, {1, 1}, {1, 1}}, Orientation: 1}, "1x1,1x1,1x1,1x1"},
		{"ycck.jpg", Info{Width: 40, Height: 30, Components: 4, Colour: YCCK, Sampling: [4][2]int{{1, 1}, {1, 1}, {1, 1}, {1, 1}}, Orientation: 1}, "1x1,1x1,1x1,1x1"},
		{"restart.jpg", Info{Width: 90, Height: 50, Components: 3, Colour: YCbCr, Sampling: [4][2]int{{2, 2}, {1, 1}, {1, 1}}, Orientation: 1, RestartInterval: 3}, "4:2:0"},
	} {
		info, err := Header(read(t, c.name))
		require.NoError(t, err)
		assert.Equal(t, c.want, info, c.name)
		assert.Equal(t, c.layout, info.Layout(), c.name)
	}
	assert.Equal(t, "YCCK", YCCK.String())
}

func TestOrientationIsToldAndPixelsStayAsStored(t *testing.T) {
	plain, _, err := decode(t, new(Decoder), read(t, "exif_1.jpg"), Options{})
	require.NoError(t, err)
	for _, o := range []int{1, 3, 6, 8} {
		data := read(t, fmt.Sprintf("exif_%d.jpg", o))
		info, err := Header(data)
		require.NoError(t, err)
		assert.Equal(t, o, info.Orientation)
		assert.Equal(t, []int{12, 8}, []int{info.Width, info.Height})
		pix, _, err := decode(t, new(Decoder), data, Options{})
		require.NoError(t, err)
		assert.True(t, bytes.Equal(plain, pix))
	}
}

func TestHuffmanTablesLeftOutAreTheStandardOnes(t *testing.T) {
	data := read(t, "seq_2x2.jpg")
	want, _, err := decode(t, new(Decoder), data, Options{})
	require.NoError(t, err)
	var bare []byte
	for at := 2; ; { // motion JPEG leaves them out
		n := 2 + int(data[at+2])<<8 + int(data[at+3])
		if data[at+1] == mSOS {
			bare = append(append([]byte{0xFF, mSOI}, bare...), data[at:]...)
			break
		}
		if data[at+1] != mDHT {
			bare = append(bare, data[at:at+n]...)
		}
		at += n
	}
	require.Less(t, len(bare), len(data)-300)
	got, _, err := decode(t, new(Decoder), bare, Options{})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
}

func TestOutputStaysInItsRows(t *testing.T) {
	data := read(t, "seq_2x2.jpg")
	info, err := Header(data)
	require.NoError(t, err)
	for name, d := range decoders() {
		for _, grey := range []bool{false, true} {
			row, stride := 3*info.Width, 3*info.Width+11
			if grey {
				row = info.Width
			}
			dst := bytes.Repeat([]byte{0xA5}, stride*info.Height)
			_, err := d.Decode(dst, data, Options{Stride: stride, Grey: grey})
			require.NoError(t, err)
			for y := range info.Height {
				gap := dst[y*stride+row : (y+1)*stride]
				require.Equal(t, strings.Repeat("\xA5", len(gap)), string(gap), "%s grey %v row %d", name, grey, y)
			}
		}
	}
}
