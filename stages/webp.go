package stages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
)

// probeWebP walks the chunks of a WebP file. The size of the frame itself is what a decoder takes memory for; it must
// be that of the canvas.
func probeWebP(data []byte) (header, error) {
	h := header{format: formatWebP, orientation: 1}
	if size := int64(binary.LittleEndian.Uint32(data[4:])) + 8; size > int64(len(data)) {
		return h, fmt.Errorf("%w: its header says %d bytes, there are %d", errCutShort, size, len(data))
	}
	var canvas image.Point
	for rest := data[12:]; len(rest) >= 8; {
		name, n := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:]
		if n > int64(len(body)) {
			break
		}
		chunk := body[:n]
		switch {
		case name == "VP8X" && n >= 10:
			if chunk[0]&2 != 0 {
				return h, errors.New("an animated WebP; only still ones are read")
			}
			canvas = image.Pt(1+int(u24(chunk[4:])), 1+int(u24(chunk[7:])))
		case name == "VP8 " && h.width == 0 && n >= 10 && string(chunk[3:6]) == "\x9d\x01\x2a":
			h.width, h.height = int(binary.LittleEndian.Uint16(chunk[6:])&0x3FFF), int(binary.LittleEndian.Uint16(chunk[8:])&0x3FFF)
			h.working = 3 * h.pixels()
		case name == "VP8L" && h.width == 0 && n >= 5 && chunk[0] == 0x2F:
			bits := binary.LittleEndian.Uint32(chunk[1:])
			h.width, h.height = 1+int(bits&0x3FFF), 1+int(bits>>14&0x3FFF)
			h.working = 8 * h.pixels()
		case name == "EXIF":
			h.orientation = orientationOf(chunk)
		}
		rest = body[min(n+n&1, int64(len(body))):]
	}
	switch {
	case h.width == 0 || h.height == 0:
		return h, errors.New("damaged WebP: it holds no picture")
	case canvas != image.Point{} && canvas != image.Pt(h.width, h.height):
		return h, fmt.Errorf("damaged WebP: a picture of %d×%d on a canvas of %d×%d", h.width, h.height, canvas.X, canvas.Y)
	}
	return h, nil
}

func u24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// webpRGB writes the planes of a lossy WebP picture as RGB, to the bit as libwebp does: chroma upsampled by 9:3:3:1
// ("fancy"), BT.601 of studio range in fixed point. The standard library's conversion would take the planes for JPEG's.
func webpRGB(dst []byte, m *image.YCbCr) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	for y := range h {
		near, far := y/2, y/2-1+y&1*2
		far = min(max(far, 0), (h+1)/2-1)
		webpRow(dst[3*w*y:3*w*(y+1)], m.Y[y*m.YStride:],
			m.Cb[near*m.CStride:], m.Cb[far*m.CStride:], m.Cr[near*m.CStride:], m.Cr[far*m.CStride:])
	}
}

// webpRow writes a row of luma with the chroma rows nearest and second to it.
func webpRow(dst, luma, nearU, farU, nearV, farV []byte) {
	w := len(dst) / 3
	last := (w+1)/2 - 1
	for x := range w {
		a, b := x/2, x/2-1+x&1*2
		var u, v int32
		if b < 0 || b > last {
			u = (3*int32(nearU[a]) + int32(farU[a]) + 2) >> 2
			v = (3*int32(nearV[a]) + int32(farV[a]) + 2) >> 2
		} else {
			u = fancy(int32(nearU[a]), int32(nearU[b]), int32(farU[a]), int32(farU[b]))
			v = fancy(int32(nearV[a]), int32(nearV[b]), int32(farV[a]), int32(farV[b]))
		}
		y := int32(luma[x]) * 19077 >> 8
		dst[3*x] = clip6(y + v*26149>>8 - 14234)
		dst[3*x+1] = clip6(y - u*6419>>8 - v*13320>>8 + 8708)
		dst[3*x+2] = clip6(y + u*33050>>8 - 17685)
	}
}

// fancy weighs the four samples around a pixel 9:3:3:1, with libwebp's two roundings.
func fancy(near, side, far, corner int32) int32 {
	sum := near + side + far + corner + 8
	diagonal := (sum + 2*(side+far)) >> 3
	return (diagonal + near) >> 1
}

func clip6(v int32) byte { return byte(min(max(v>>6, 0), 255)) }
