package stages

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// photograph is a picture of 500×375 with slopes, edges and the noise of a camera.
func photograph() *image.RGBA {
	m, x := image.NewRGBA(image.Rect(0, 0, 500, 375)), uint32(1)
	for i := range 500 * 375 {
		x = x*1664525 + 1013904223
		px, py, n := i%500, i/500, int(x>>27)
		v := 60*(px/70%2) + 50*(py/50%2)
		m.SetRGBA(px, py, color.RGBA{R: byte(px/4 + v/2 + n), G: byte(py/3 + v/2 + n), B: byte(v + n), A: 255})
	}
	return m
}

// BenchmarkDecodeImage sets the stage beside the standard library on the same picture.
func BenchmarkDecodeImage(b *testing.B) {
	var asJPEG, asPNG bytes.Buffer
	require.NoError(b, jpeg.Encode(&asJPEG, photograph(), &jpeg.Options{Quality: 90}))
	require.NoError(b, png.Encode(&asPNG, photograph()))
	perPixel := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(500*375), "ns/pixel")
	}
	for name, data := range map[string][]byte{"jpeg": asJPEG.Bytes(), "png": asPNG.Bytes()} {
		b.Run(name, func(b *testing.B) {
			w, c := worker(b, DecodeImage{}), graph.NewCall(b.Context(), 1, "s", item.Pos{})
			b.ReportAllocs()
			for b.Loop() {
				s := sample("x", "image", item.HeapBytes(data))
				if _, err := w.Map(c, s); err != nil {
					b.Fatal(err)
				}
				s.Release()
			}
			perPixel(b)
		})
		b.Run(name+", standard library", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
			perPixel(b)
		})
	}
	for _, name := range []string{"interlaced.gif", "lossy_64x40.webp", "lossless.webp"} {
		b.Run(name, func(b *testing.B) {
			w, data, c := worker(b, DecodeImage{}), testFile(b, name), graph.NewCall(b.Context(), 1, "s", item.Pos{})
			for b.Loop() {
				s := sample("x", "image", item.HeapBytes(data))
				if _, err := w.Map(c, s); err != nil {
					b.Fatal(err)
				}
				s.Release()
			}
		})
	}
}
