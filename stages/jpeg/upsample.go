package jpeg

import "encoding/binary"

// The triangle filter of libjpeg: three parts of the nearer sample, one of the farther, rounded down at even pixels and up
// at odd ones. Here in the Go form: four 16-bit lanes in a word.

const ones = 0x0001000100010001

// spread puts four bytes into 16-bit lanes.
func spread(b []byte) uint64 {
	x := uint64(binary.LittleEndian.Uint32(b))
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	return (x | x<<8) & 0x00FF00FF00FF00FF
}

// widen2Go makes 2n samples (rounded up to 8) of n columns; near[0] and far[0] are the samples left of the first.
func widen2Go(out, near, far []byte, n int) {
	s := 3*spread(near[1:]) + spread(far[1:])
	l := 3*uint64(near[0]) + uint64(far[0])
	for i := 0; i < n; i += 4 {
		next := 3*spread(near[i+5:]) + spread(far[i+5:])
		even := (3*s + (s<<16 | l) + 8*ones) >> 4 & (255 * ones)
		odd := (3*s + (s>>16 | next<<48) + 7*ones) >> 4 & (255 * ones)
		binary.LittleEndian.PutUint64(out[2*i:], even|odd<<8)
		l, s = s>>48, next
	}
}

// widen1Go does the same for one row.
func widen1Go(out, in []byte, n int) {
	s, l := spread(in[1:]), uint64(in[0])
	for i := 0; i < n; i += 4 {
		next := spread(in[i+5:])
		even := (3*s + (s<<16 | l) + ones) >> 2 & (255 * ones)
		odd := (3*s + (s>>16 | next<<48) + 2*ones) >> 2 & (255 * ones)
		binary.LittleEndian.PutUint64(out[2*i:], even|odd<<8)
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
