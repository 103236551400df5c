package stages

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/webp"
)

// decodeOther decodes PNG, GIF and WebP into the RGB pixels of dst, whose size is the header's. Alpha is dropped: the
// colour is the one stored.
func decodeOther(dst, data []byte, h header) error {
	var (
		m   image.Image
		err error
	)
	switch h.format {
	case formatPNG:
		m, err = png.Decode(bytes.NewReader(data))
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
	for _, words := range []string{"unexpected EOF", "not enough image data", "not enough pixel data", ": EOF"} {
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

// toRGB writes the pixels of what the decoders make. 16 bits become 8 by v*255/65535, rounded: never clipped.
func toRGB(dst []byte, m image.Image) error {
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	rows := func(pix []byte, stride int, row func(dst, src []byte)) {
		for y := range h {
			row(dst[3*w*y:3*w*(y+1)], pix[y*stride:])
		}
	}
	switch m := m.(type) {
	case *image.Gray:
		rows(m.Pix, m.Stride, fromGrey)
	case *image.Gray16:
		rows(m.Pix, m.Stride, fromGrey16)
	case *image.RGBA: // of a PNG without alpha
		rows(m.Pix, m.Stride, fromRGBA)
	case *image.NRGBA:
		rows(m.Pix, m.Stride, fromRGBA)
	case *image.RGBA64:
		rows(m.Pix, m.Stride, fromRGBA64)
	case *image.NRGBA64:
		rows(m.Pix, m.Stride, fromRGBA64)
	case *image.Paletted:
		t := paletteRGB(m.Palette)
		rows(m.Pix, m.Stride, func(dst, src []byte) { fromPalette(dst, src[:w], t) })
	case *image.YCbCr: // of a WebP
		webpRGB(dst, m)
	case *image.NYCbCrA:
		webpRGB(dst, &m.YCbCr)
	default:
		return fmt.Errorf("pixels of %T are not supported", m)
	}
	return nil
}

func fromGrey(dst, src []byte) {
	for i := 0; len(dst) >= 3; i++ {
		dst[0], dst[1], dst[2] = src[i], src[i], src[i]
		dst = dst[3:]
	}
}

func fromGrey16(dst, src []byte) {
	for ; len(dst) >= 3; dst, src = dst[3:], src[2:] {
		v := eight(src)
		dst[0], dst[1], dst[2] = v, v, v
	}
}

func fromRGBA(dst, src []byte) {
	for ; len(dst) >= 3; dst, src = dst[3:], src[4:] {
		dst[0], dst[1], dst[2] = src[0], src[1], src[2]
	}
}

func fromRGBA64(dst, src []byte) {
	for ; len(dst) >= 3; dst, src = dst[3:], src[8:] {
		dst[0], dst[1], dst[2] = eight(src), eight(src[2:]), eight(src[4:])
	}
}

// eight rounds 16 bits to 8.
func eight(b []byte) byte {
	v := uint32(b[0])<<8 | uint32(b[1])
	return byte((v*255 + 32767) / 65535)
}
