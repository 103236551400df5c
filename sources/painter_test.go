package sources

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/shard"
)

func TestPaintedPicturesAreWholeJPEGsOfTheirSize(t *testing.T) {
	var p Painter
	for _, size := range [][2]int{{1, 1}, {15, 17}, {16, 16}, {17, 33}, {320, 240}, {500, 375}, {2, 4000}, {4000, 3}} {
		for class := range 12 {
			file := p.Append(nil, Picture{Seed: 1, Index: int64(class), Class: class, Width: size[0], Height: size[1]})
			m, err := jpeg.Decode(bytes.NewReader(file))
			require.NoError(t, err, "%v", size)
			require.Equal(t, size[0], m.Bounds().Dx())
			require.Equal(t, size[1], m.Bounds().Dy())
		}
	}
}

// Digests of runs over made-up pictures are compared between machines and versions.
func TestPaintedBytesNeverChange(t *testing.T) {
	var p Painter
	h := uint64(0)
	for i := range int64(20) {
		for _, b := range p.Append(nil, Picture{Seed: 7, Index: i, Class: int(i % 3), Width: 100 + int(i), Height: 80}) {
			h = shard.Hash(h, uint64(b))
		}
	}
	assert.Equal(t, uint64(0x57c6b78a6f3c4573), h)
}

func TestPaintedPicturesDifferBySeedIndexAndClass(t *testing.T) {
	var p Painter
	base := Picture{Seed: 1, Index: 2, Class: 3, Width: 64, Height: 64}
	first := string(p.Append(nil, base))
	assert.Equal(t, first, string(p.Append(nil, base)), "a used painter paints the same")
	for _, other := range []Picture{{2, 2, 3, 64, 64}, {1, 3, 3, 64, 64}, {1, 2, 4, 64, 64}} {
		assert.NotEqual(t, first, string(p.Append(nil, other)), "%+v", other)
	}
}

func TestPaintedPicturesCostAsManyBitsAsPhotographs(t *testing.T) {
	var p Painter
	n := 0
	for i := range int64(50) {
		n += len(p.Append(nil, Picture{Seed: 1, Index: i, Class: int(i), Width: 500, Height: 375}))
	}
	bits := float64(n) * 8 / 50 / (500 * 375)
	assert.InDelta(t, 2, bits, 0.7, "bits a pixel")
}

func BenchmarkPainter(b *testing.B) {
	for _, size := range [][2]int{{320, 240}, {500, 375}} {
		pic := Picture{Seed: 1, Width: size[0], Height: size[1]}
		var p Painter
		var file []byte
		b.Run(fmt.Sprintf("paint/%dx%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pic.Index++
				file = p.Append(file[:0], pic)
			}
		})
		b.Run(fmt.Sprintf("decode by the standard library/%dx%d", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				_, _ = jpeg.Decode(bytes.NewReader(file))
			}
		})
	}
}
