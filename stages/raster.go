package stages

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"strings"

	"golang.org/x/image/webp"
)

// decodeOther decodes GIF and WebP into the RGB pixels of dst, whose size is the header's. Alpha is dropped: the colour
// is the one stored.
func decodeOther(dst, data []byte, h header) error {
	var (
		m   image.Image
		err error
	)
	switch h.format {
	case formatGIF:
		m, err = gif.Decode(bytes.NewReader(data)) // the first frame; what follows is not looked at
	case formatWebP:
		m, err = webp.Decode(bytes.NewReader(data))
	}
	switch {
	case err != nil && endsEarly(err):
		return fmt.Errorf("%w: %w", errCutShort, err)
	case err != nil:
		return fmt.Errorf("damaged %s: %w", formatNames[h.format], err)
	case h.format == formatGIF:
		return compose(dst, m, h)
	case m.Bounds() != image.Rect(0, 0, h.width, h.height):
		return fmt.Errorf("damaged %s: its header says %d×%d, its pixels are %v", formatNames[h.format], h.width, h.height, m.Bounds())
	}
	return toRGB(dst, m)
}

func endsEarly(err error) bool {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return true
	}
	for _, words := range []string{"unexpected EOF", "not enough image data", ": EOF"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

// compose puts a GIF's first frame on its canvas. Pixels that it does not cover, and transparent ones, are black.
func compose(dst []byte, m image.Image, h header) error {
	frame, ok := m.(*image.Paletted)
	if !ok || !frame.Rect.In(image.Rect(0, 0, h.width, h.height)) {
		return fmt.Errorf("damaged GIF: its first frame, %v, is not on its canvas of %d×%d", m.Bounds(), h.width, h.height)
	}
	if frame.Rect != image.Rect(0, 0, h.width, h.height) {
		clear(dst)
	}
	table := paletteRGB(frame.Palette)
	for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
		row := frame.Pix[(y-frame.Rect.Min.Y)*frame.Stride:][:frame.Rect.Dx()]
		fromPalette(dst[3*(y*h.width+frame.Rect.Min.X):], row, table)
	}
	return nil
}

func paletteRGB(p color.Palette) *[256][3]byte {
	var t [256][3]byte
	for i, c := range p[:min(len(p), 256)] {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		t[i] = [3]byte{n.R, n.G, n.B}
	}
	return &t
}

func fromPalette(dst, row []byte, t *[256][3]byte) {
	for x, v := range row {
		c := &t[v]
		dst[3*x], dst[3*x+1], dst[3*x+2] = c[0], c[1], c[2]
	}
}

// toRGB writes the pixels of what the WebP decoder makes.
func toRGB(dst []byte, m image.Image) error {
	switch m := m.(type) {
	case *image.NRGBA:
		w := m.Rect.Dx()
		for y := range m.Rect.Dy() {
			expand8(dst[3*w*y:3*w*(y+1)], m.Pix[y*m.Stride:], 4)
		}
	case *image.YCbCr:
		webpRGB(dst, m)
	case *image.NYCbCrA:
		webpRGB(dst, &m.YCbCr)
	default:
		return fmt.Errorf("pixels of %T are not supported", m)
	}
	return nil
}

// eight rounds 16 bits to 8: v*255/65535, never clipped.
func eight(b []byte) byte {
	v := uint32(b[0])<<8 | uint32(b[1])
	return byte((v*255 + 32767) / 65535)
}
