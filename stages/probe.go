package stages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/stages/jpeg"
)

// format is what the first bytes of a file say.
type format uint8

const (
	formatUnknown format = iota
	formatJPEG
	formatPNG
	formatGIF
	formatWebP
)

var formatNames = [...]string{"unknown", "JPEG", "PNG", "GIF", "WebP"}

const pngMark = "\x89PNG\r\n\x1a\n"

// header is what a file tells about its picture before anything is decoded.
type header struct {
	format        format
	width, height int
	orientation   int   // EXIF, 1 to 8
	working       int64 // bytes that decoding takes beside its output, at most
}

var errCutShort = errors.New("the picture is cut short")

// others are well-known beginnings of files that are not read, for the message.
var others = []struct{ begin, name string }{
	{"BM", "BMP"}, {"II*\x00", "TIFF"}, {"MM\x00*", "TIFF"}, {"\x00\x00\x01\x00", "ICO"}, {"\xFF\x0A", "JPEG XL"},
	{"\x00\x00\x00\x0CJXL ", "JPEG XL"}, {"\x00\x00\x00\x0CjP  ", "JPEG 2000"}, {"%PDF", "PDF"}, {"8BPS", "Photoshop"},
}

// probe reads the header of a picture, whatever its name was. It takes no memory.
func probe(data []byte) (header, error) {
	switch {
	case len(data) == 0:
		return header{}, errors.New("empty file")
	case bytes.HasPrefix(data, []byte("\xFF\xD8")):
		return probeJPEG(data)
	case bytes.HasPrefix(data, []byte(pngMark)):
		return probePNG(data)
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return probeGIF(data)
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return probeWebP(data)
	}
	return header{}, unknown(data)
}

func unknown(data []byte) error {
	for _, o := range others {
		if bytes.HasPrefix(data, []byte(o.begin)) {
			return fmt.Errorf("%s files are not read, only JPEG, PNG, GIF and WebP; convert it", o.name)
		}
	}
	if len(data) >= 12 && string(data[4:8]) == "ftyp" {
		return fmt.Errorf("files of type %q (AVIF, HEIC, video) are not read, only JPEG, PNG, GIF and WebP; convert it", data[8:12])
	}
	for _, mark := range []string{pngMark, "GIF89a", "\xFF\xD8"} {
		if len(data) < len(mark) && bytes.HasPrefix([]byte(mark), data) {
			return errCutShort
		}
	}
	return fmt.Errorf("not a picture we know (JPEG, PNG, GIF, WebP): begins with %q", data[:min(len(data), 12)])
}

func probeJPEG(data []byte) (header, error) {
	info, err := jpeg.Header(data)
	if err != nil {
		return header{}, jpegError(err)
	}
	h := header{format: formatJPEG, width: info.Width, height: info.Height, orientation: info.Orientation}
	if info.Progressive {
		h.working = 2 * int64(info.Components) * h.pixels() // its coefficients
	}
	return h, nil
}

// jpegError makes sure that the words come up that tell a bad picture from a bad disk.
func jpegError(err error) error {
	if errors.Is(err, jpeg.ErrCutShort) && !strings.Contains(err.Error(), errCutShort.Error()) {
		return fmt.Errorf("%w: %w", errCutShort, err)
	}
	return err
}

func probePNG(data []byte) (header, error) {
	if len(data) < 33 {
		return header{}, errCutShort
	}
	if string(data[12:16]) != "IHDR" {
		return header{}, fmt.Errorf("damaged PNG: its first chunk is %q, wanted \"IHDR\"", data[12:16])
	}
	w, h := binary.BigEndian.Uint32(data[16:]), binary.BigEndian.Uint32(data[20:])
	if w == 0 || h == 0 || w > 1<<31-1 || h > 1<<31-1 {
		return header{}, fmt.Errorf("damaged PNG: %d×%d pixels", w, h)
	}
	out := header{format: formatPNG, width: int(w), height: int(h), orientation: pngOrientation(data)}
	out.working = int64(len(data)) + 8*int64(w) // where the pixel data come in pieces, and the rows
	return out, nil
}

// pngOrientation looks for a chunk of EXIF data, which may lie before or after the pixels.
func pngOrientation(data []byte) int {
	for rest := data[8:]; len(rest) >= 12; {
		n := int64(binary.BigEndian.Uint32(rest))
		if n+12 > int64(len(rest)) {
			break
		}
		if string(rest[4:8]) == "eXIf" {
			return orientationOf(rest[8 : 8+n])
		}
		rest = rest[12+n:]
	}
	return 1
}

func probeGIF(data []byte) (header, error) {
	if len(data) < 13 {
		return header{}, errCutShort
	}
	h := header{format: formatGIF, orientation: 1,
		width: int(binary.LittleEndian.Uint16(data[6:])), height: int(binary.LittleEndian.Uint16(data[8:]))}
	if h.width == 0 || h.height == 0 {
		return h, fmt.Errorf("damaged GIF: its canvas has %d×%d pixels", h.width, h.height)
	}
	h.working = h.pixels()
	return h, nil
}

// pixels does not overflow: both sides are below 2^31.
func (h header) pixels() int64 { return int64(h.width) * int64(h.height) }

// check refuses a picture that has too many pixels.
func (h header) check(limit int) error {
	if h.pixels() > int64(limit) {
		return fmt.Errorf("the picture has %d×%d = %d pixels, more than max_pixels, %d", h.width, h.height, h.pixels(), limit)
	}
	return nil
}
