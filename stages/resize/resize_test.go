package resize

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reader takes numbers and pixels off the fixtures.
type reader struct {
	t testing.TB
	b []byte
}

func (r *reader) ints(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = int(binary.LittleEndian.Uint32(r.b))
		r.b = r.b[4:]
	}
	return out
}

func (r *reader) pixels(n int) []byte {
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func TestBilinearIsPillowsByteForByte(t *testing.T) {
	b, err := os.ReadFile("testdata/fixtures.bin")
	require.NoError(t, err)
	r := &reader{t, b}
	forms := []*Scaler{{}, {plain: true}}
	for len(r.b) > 0 {
		d := r.ints(3)
		src := Packed(r.pixels(d[0]*d[1]*d[2]), d[0], d[1], d[2])
		for range r.ints(1)[0] {
			c := r.ints(6)
			want := r.pixels(c[4] * c[5] * d[2])
			for _, s := range forms {
				got := make([]byte, len(want))
				s.Bilinear(Packed(got, c[4], c[5], d[2]), src.Crop(c[0], c[1], c[2], c[3]))
				assert.True(t, bytes.Equal(want, got), "%d channels, crop and size %v: %s", d[2], c, difference(want, got))
			}
		}
	}
}

// Sizes that a fixture would be too large for, down to a fiftieth. testdata/digests.py has the same noise.
func TestBilinearIsPillowsOnLargePictures(t *testing.T) {
	f, err := os.Open("testdata/digests.txt")
	require.NoError(t, err)
	defer f.Close()
	src := noise(1201, 907, 3)
	forms := []*Scaler{{}, {plain: true}}
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var x, y, w, h, ow, oh int
		var sum uint32
		_, err := fmt.Sscan(lines.Text(), &x, &y, &w, &h, &ow, &oh, &sum)
		require.NoError(t, err)
		for _, s := range forms {
			dst := noise(ow, oh, 3)
			s.Bilinear(dst, src.Crop(x, y, w, h))
			assert.Equal(t, sum, crc32.ChecksumIEEE(dst.Pix), "%s, go form %v", lines.Text(), s.plain)
		}
	}
	require.Equal(t, 73, n)
}

func difference(a, b []byte) string {
	most, n := 0, 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		if d != 0 {
			n++
		}
		most = max(most, d, -d)
	}
	return fmt.Sprintf("%d of %d bytes differ, by up to %d", n, len(a), most)
}

func noise(w, h, channels int) View {
	v := Packed(make([]byte, w*h*channels), w, h, channels)
	x := uint32(7)
	for i := range v.Pix {
		x = x*1664525 + 1013904223
		v.Pix[i] = byte(x >> 24)
	}
	return v
}

// The sum is the same on every processor; a digest depends on it.
func TestTheBytesNeverChange(t *testing.T) {
	src, sum := noise(301, 207, 3), uint32(0)
	var s Scaler
	for _, size := range [][2]int{{224, 224}, {97, 13}, {640, 480}, {1, 1}, {301, 100}, {100, 207}} {
		dst := noise(size[0], size[1], 3)
		s.Bilinear(dst, src)
		sum = crc32.Update(sum, crc32.IEEETable, dst.Pix)
	}
	assert.Equal(t, uint32(0x173349af), sum)
}

func TestOneColourStaysThatColour(t *testing.T) {
	var s Scaler
	for _, v := range []byte{0, 1, 127, 254, 255} {
		src := Packed(bytes.Repeat([]byte{v}, 3*61*47), 61, 47, 3)
		for _, size := range [][2]int{{1, 1}, {60, 46}, {13, 200}, {333, 2}} {
			dst := noise(size[0], size[1], 3)
			s.Bilinear(dst, src)
			assert.Equal(t, bytes.Repeat([]byte{v}, len(dst.Pix)), dst.Pix)
		}
	}
}

func TestTensOfThousandsOfPixelsInOneDoNotOverflow(t *testing.T) {
	var s Scaler
	for _, n := range []int{16384, 40_000, 65_537, 1 << 20} {
		dst := noise(1, 1, 3)
		s.Bilinear(dst, Packed(bytes.Repeat([]byte{255}, 3*n), n, 1, 3))
		assert.GreaterOrEqual(t, dst.Pix[0], byte(250), "%d: weights of 22 bits lose a little each", n)
		s.Bilinear(dst, Packed(bytes.Repeat([]byte{255}, 3*n), 1, n, 3))
		assert.GreaterOrEqual(t, dst.Pix[0], byte(250), n)
	}
}

func TestStridesAreKept(t *testing.T) {
	src := noise(50, 40, 3)
	want := Packed(make([]byte, 20*10*3), 20, 10, 3)
	var s Scaler
	s.Bilinear(want, src)
	board := Packed(bytes.Repeat([]byte{9}, 30*20*3), 30, 20, 3)
	s.Bilinear(board.Crop(4, 3, 20, 10), src)
	for y := range 20 {
		for x := range 30 {
			got := board.Pix[3*(y*30+x)]
			if x >= 4 && x < 24 && y >= 3 && y < 13 {
				require.Equal(t, want.Pix[3*((y-3)*20+x-4)], got)
			} else {
				require.EqualValues(t, 9, got, "outside the destination")
			}
		}
	}
}

func TestWrongViewsPanic(t *testing.T) {
	var s Scaler
	src := noise(4, 4, 3)
	assert.Panics(t, func() { src.Crop(1, 0, 4, 4) })
	assert.Panics(t, func() { src.Crop(0, 0, 0, 4) })
	assert.Panics(t, func() { s.Bilinear(noise(2, 2, 1), src) })
	assert.Panics(t, func() { s.Bilinear(View{Pix: make([]byte, 11), Width: 2, Height: 2, Stride: 6, Channels: 3}, src) })
}

func TestASizeOnceMetTakesNoMemory(t *testing.T) {
	src, dst := noise(100, 80, 3), noise(30, 20, 3)
	var s Scaler
	s.Bilinear(dst, src)
	assert.Zero(t, testing.AllocsPerRun(20, func() { s.Bilinear(dst, src) }))
}
