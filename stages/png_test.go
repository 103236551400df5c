package stages

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/item"
)

// makePNG writes a PNG of any sort, with its pixel data in pieces, filtered by each filter in turn. Pixels are noise.
func makePNG(t testing.TB, w, h, depth, colour int, interlaced bool, piece int) []byte {
	t.Helper()
	var raw bytes.Buffer
	x := uint32(w*31 + h*17 + depth*5 + colour)
	l := pngLayout{width: w, height: h, depth: depth, colour: colour, interlaced: interlaced}
	lines := func(w, h int) {
		for y := range h {
			raw.WriteByte(byte(y % 5))
			for range (w*l.bits() + 7) / 8 {
				x = x*1664525 + 1013904223
				raw.WriteByte(byte(x >> 24))
			}
		}
	}
	if interlaced {
		for _, p := range [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
			if pw, ph := (w-p[0]+p[2]-1)/p[2], (h-p[1]+p[3]-1)/p[3]; pw > 0 && ph > 0 {
				lines(pw, ph)
			}
		}
	} else {
		lines(w, h)
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(raw.Bytes())
	require.NoError(t, z.Close())

	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	head = append(head, byte(depth), byte(colour), 0, 0, 0)
	if interlaced {
		head[12] = 1
	}
	out := appendChunk([]byte(pngMark), "IHDR", head)
	if colour == 3 {
		p := make([]byte, 3<<depth)
		for i := range p {
			p[i] = byte(i * 37)
		}
		out = appendChunk(out, "PLTE", p)
	}
	for b := packed.Bytes(); len(b) > 0; {
		n := min(piece, len(b))
		out = appendChunk(out, "IDAT", b[:n])
		b = b[n:]
	}
	return appendChunk(out, "IEND", nil)
}

func appendChunk(b []byte, name string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	at := len(b)
	b = append(append(b, name...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[at:]))
}

// reference decodes by the standard library.
func reference(t testing.TB, data []byte) []byte {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return referenceRGB(m)
}

func referenceRGB(m image.Image) []byte {
	var out []byte
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			var c [3]uint32
			switch p := m.At(x, y).(type) {
			case color.Gray16:
				c = [3]uint32{uint32(p.Y), uint32(p.Y), uint32(p.Y)}
			case color.NRGBA64:
				c = [3]uint32{uint32(p.R), uint32(p.G), uint32(p.B)}
			case color.RGBA64:
				c = [3]uint32{uint32(p.R), uint32(p.G), uint32(p.B)}
			default:
				n := color.NRGBAModel.Convert(p).(color.NRGBA)
				out = append(out, n.R, n.G, n.B)
				continue
			}
			for _, v := range c {
				out = append(out, byte((v*255+32767)/65535))
			}
		}
	}
	return out
}

func TestEverySortOfPNGIsReadAsTheStandardLibraryDoes(t *testing.T) {
	w := worker(t, DecodeImage{})
	for colour, depths := range pngDepths {
		for _, depth := range []byte(depths) {
			for _, size := range [][2]int{{1, 1}, {2, 3}, {7, 5}, {8, 8}, {33, 19}} {
				for _, interlaced := range []bool{false, true} {
					for _, piece := range []int{7, 1 << 20} {
						data := makePNG(t, size[0], size[1], int(depth), colour, interlaced, piece)
						v, err := decoded(t, w, data)
						require.NoError(t, err)
						require.Equal(t, reference(t, data), v.Data(), "colour type %d, %d bits, %v, interlaced %v", colour, depth, size, interlaced)
					}
				}
			}
		}
	}
}

func TestAPNGsAlphaIsDropped(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	m.SetNRGBA(0, 0, color.NRGBA{R: 1, G: 2, B: 3})
	v, err := decoded(t, worker(t, DecodeImage{}), encodePNG(t, m))
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 2, 3}, v.Data(), "the stored colour, also where nothing would be seen")
}

func TestBrokenPNGsAreErrors(t *testing.T) {
	whole := makePNG(t, 9, 9, 8, 2, false, 1<<20)
	idat := bytes.Index(whole, []byte("IDAT"))
	w := worker(t, DecodeImage{})
	want, err := decoded(t, w, whole)
	require.NoError(t, err)
	for n := 1; n < len(whole); n++ {
		v, err := decoded(t, w, whole[:n])
		if n < len(whole)-12 { // the end mark is not needed
			require.ErrorIs(t, err, errCutShort, "%d of %d bytes", n, len(whole))
		} else {
			require.NoError(t, err)
			require.True(t, want.Equal(v))
		}
	}
	edit := func(change func(b []byte) []byte) error {
		_, err := decoded(t, w, change(bytes.Clone(whole)))
		return err
	}
	assert.ErrorContains(t, edit(func(b []byte) []byte { b[idat+20] ^= 1; return b }), `the checksum of its chunk "IDAT" does not fit`)
	assert.ErrorContains(t, edit(func(b []byte) []byte { b[24] = 3; return b }), `the checksum of its chunk "IHDR" does not fit`)
	header := whole[16:29]
	with := func(at int, v byte) []byte {
		h := bytes.Clone(header)
		h[at] = v
		return append(appendChunk([]byte(pngMark), "IHDR", h), whole[33:]...)
	}
	for _, c := range []struct {
		at   int
		v    byte
		want string
	}{{8, 3, "colour type 2 with 3 bits"}, {9, 5, "colour type 5"}, {10, 1, "compression 1"}, {12, 2, "interlacing 2"},
		{9, 3, "without its palette"}, {7, 200, "cut short"}} {
		_, err := decoded(t, w, with(c.at, c.v))
		assert.ErrorContains(t, err, c.want)
	}
	larger := bytes.Clone(header)
	larger[3] = 200
	second := append(appendChunk(bytes.Clone(whole[:33]), "IHDR", larger), whole[33:]...)
	v, err := decoded(t, w, second)
	require.NoError(t, err, "only the first header counts")
	assert.True(t, want.Equal(v))
	filter := appendChunk(bytes.Clone(whole[:33]), "IDAT", deflated(t, bytes.Repeat([]byte{9}, 9*28)))
	_, err = decoded(t, w, filter)
	assert.ErrorContains(t, err, "damaged PNG: filter 9 is not known")
}

func deflated(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(b)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// Whatever we read, the standard library reads the same; it refuses more.
func FuzzPNG(f *testing.F) {
	for _, c := range [][3]int{{8, 2, 0}, {16, 6, 1}, {2, 3, 1}, {1, 0, 0}, {8, 4, 0}} {
		f.Add(makePNG(f, 9, 7, c[0], c[1], c[2] == 1, 50))
	}
	w := worker(f, DecodeImage{MaxPixels: 1 << 14})
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasPrefix(data, []byte(pngMark)) {
			return
		}
		out, err := w.Map(call(0), sample("x", "image", item.HeapBytes(data)))
		m, stdErr := png.Decode(bytes.NewReader(data))
		if err != nil || stdErr != nil {
			return
		}
		v := out.Get("image")
		if v.Shape() == item.MakeShape(m.Bounds().Dy(), m.Bounds().Dx(), 3) && !bytes.Equal(referenceRGB(m), v.Data()) {
			t.Fatal("other pixels than the standard library's")
		}
	})
}
