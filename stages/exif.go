package stages

import "encoding/binary"

// orientationOf reads tag 0x0112 of the first directory of EXIF data (a TIFF file, after an optional mark). Data that
// break the rules have no orientation: the picture itself may be sound.
func orientationOf(exif []byte) int {
	if len(exif) > 6 && string(exif[:6]) == "Exif\x00\x00" {
		exif = exif[6:]
	}
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(exif[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 1
	}
	entries := exif[at+2:]
	for n := order.Uint16(exif[at:]); n > 0 && len(entries) >= 12; n-- {
		const tag, short = 0x0112, 3
		if order.Uint16(entries) == tag {
			v := int(order.Uint16(entries[8:]))
			if order.Uint16(entries[2:]) != short || order.Uint32(entries[4:]) != 1 || v < 1 || v > 8 {
				return 1
			}
			return v
		}
		entries = entries[12:]
	}
	return 1
}

// turned is the size after a turn.
func turned(orientation, w, h int) (int, int) {
	if orientation >= 5 {
		return h, w
	}
	return w, h
}

// turn copies an RGB picture of w×h pixels to dst so that it stands upright. Cost: about 1 ns a pixel; where rows become
// columns it goes by tiles, for the cache.
func turn(dst, src []byte, w, h, orientation int) {
	// Pixel (row, col) of dst is pixel base + row*down + col*right of src.
	var base, down, right int
	switch orientation {
	case 2: // mirrored left to right
		base, down, right = w-1, w, -1
	case 3: // upside down
		base, down, right = w*h-1, -w, -1
	case 4: // mirrored top to bottom
		base, down, right = w*(h-1), -w, 1
	case 5: // mirrored at the diagonal
		base, down, right = 0, 1, w
	case 6: // to be turned clockwise
		base, down, right = w*(h-1), 1, -w
	case 7: // mirrored at the other diagonal
		base, down, right = w*h-1, -1, -w
	case 8: // to be turned counterclockwise
		base, down, right = w-1, -1, w
	default:
		copy(dst, src[:3*w*h])
		return
	}
	const tile = 32
	ow, oh := turned(orientation, w, h)
	for y := 0; y < oh; y += tile {
		for x := 0; x < ow; x += tile {
			for r := y; r < min(y+tile, oh); r++ {
				to := dst[3*(r*ow+x) : 3*(r*ow+min(x+tile, ow))]
				from := 3 * (base + r*down + x*right)
				for ; len(to) >= 3; to = to[3:] {
					to[0], to[1], to[2] = src[from], src[from+1], src[from+2]
					from += 3 * right
				}
			}
		}
	}
}
