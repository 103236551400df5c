package jpeg

import "encoding/binary"

// The triangle filter of libjpeg: three parts of the nearer sample, one of the farther, rounded down at even pixels
// and up at odd ones. Here in the Go form: four 16-bit lanes in a word.

const ones = 0x0001000100010001

// lanes puts the four low bytes into 16-bit lanes.
func lanes(four uint32) uint64 {
	x := uint64(four)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	return (x | x<<8) & 0x00FF00FF00FF00FF
}

// spread does so with the first four bytes of b.
func spread(b []byte) uint64 { return lanes(binary.LittleEndian.Uint32(b)) }

// widen2Go makes 2n samples (rounded up to 16) of n columns; near[0] and far[0] are the samples left of the first.
func widen2Go(out, near, far []byte, n int) {
	s := 3*spread(near[1:]) + spread(far[1:])
	l := 3*uint64(near[0]) + uint64(far[0])
	near, far = near[5:], far[5:]
	for i := 0; i < n; i += 8 {
		a := binary.LittleEndian.Uint64(near[i : i+8 : i+8])
		b := binary.LittleEndian.Uint64(far[i : i+8 : i+8])
		o := out[2*i : 2*i+16 : 2*i+16]
		next := 3*lanes(uint32(a)) + lanes(uint32(b))
		even := (3*s + (s<<16 | l) + 8*ones) >> 4 & (255 * ones)
		odd := (3*s + (s>>16 | next<<48) + 7*ones) >> 4 & (255 * ones)
		binary.LittleEndian.PutUint64(o, even|odd<<8)
		l, s = s>>48, next
		next = 3*lanes(uint32(a>>32)) + lanes(uint32(b>>32))
		even = (3*s + (s<<16 | l) + 8*ones) >> 4 & (255 * ones)
		odd = (3*s + (s>>16 | next<<48) + 7*ones) >> 4 & (255 * ones)
		binary.LittleEndian.PutUint64(o[8:], even|odd<<8)
		l, s = s>>48, next
	}
}

// widen1Go does the same for one row.
func widen1Go(out, in []byte, n int) {
	s, l := spread(in[1:]), uint64(in[0])
	in = in[5:]
	for i := 0; i < n; i += 8 {
		a := binary.LittleEndian.Uint64(in[i : i+8 : i+8])
		o := out[2*i : 2*i+16 : 2*i+16]
		next := lanes(uint32(a))
		even := (3*s + (s<<16 | l) + ones) >> 2 & (255 * ones)
		odd := (3*s + (s>>16 | next<<48) + 2*ones) >> 2 & (255 * ones)
		binary.LittleEndian.PutUint64(o, even|odd<<8)
		l, s = s>>48, next
		next = lanes(uint32(a >> 32))
		even = (3*s + (s<<16 | l) + ones) >> 2 & (255 * ones)
		odd = (3*s + (s>>16 | next<<48) + 2*ones) >> 2 & (255 * ones)
		binary.LittleEndian.PutUint64(o[8:], even|odd<<8)
		l, s = s>>48, next
	}
}

// mixRows interpolates between two rows.
func mixRows(out, near, far []byte, bias uint) {
	near, far = near[:len(out)], far[:len(out)]
	for i := range out {
		out[i] = byte((3*uint(near[i]) + uint(far[i]) + bias) >> 2)
	}
}

// repeatRow repeats each sample ex times, from pixel x on.
func repeatRow(out, row []byte, x, ex int) {
	s, left := x/ex, ex-x%ex
	for i := range out {
		out[i] = row[s]
		if left--; left == 0 {
			s, left = s+1, ex
		}
	}
}
