package sources

import "math/bits"

// What follows writes baseline JPEG as ITU-T T.81 has it, with the tables of its annex K. The standard library's
// encoder would do, but its bytes may change with the Go version, and a digest must not.

// zigzag order all along: quant tables as in annex K at quality 90.
var (
	lumaQuant = [64]int32{
		3, 2, 2, 3, 2, 2, 3, 3, 3, 3, 4, 3, 3, 4, 5, 8, 5, 5, 4, 4, 5, 10, 7, 7, 6, 8, 12, 10, 12, 12, 11, 10,
		11, 11, 13, 14, 18, 16, 13, 14, 17, 14, 11, 11, 16, 22, 16, 17, 19, 20, 21, 21, 21, 12, 15, 23, 24, 22, 20, 24, 18, 20, 21, 20,
	}
	chromaQuant = [64]int32{
		3, 4, 4, 5, 4, 5, 9, 5, 5, 9, 20, 13, 11, 13, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20,
		20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20,
	}
	falloff = fallingOff()
)

// fallingOff is 256 over the frequency of each coefficient: the number of its diagonal.
func fallingOff() (f [64]int32) {
	k := 0
	for d := range 15 {
		for range min(d, 14-d) + 1 {
			f[k] = 256 / max(1, int32(d))
			k++
		}
	}
	return f
}

// huffman is the code and its length for each symbol.
type huffman struct {
	counts  [16]byte
	symbols []byte
	code    [256]uint16
	length  [256]uint8
}

func makeHuffman(counts [16]byte, symbols []byte) (h huffman) {
	h.counts, h.symbols = counts, symbols
	code, k := uint16(0), 0
	for i, n := range counts {
		for range n {
			h.code[symbols[k]], h.length[symbols[k]] = code, uint8(i+1)
			code++
			k++
		}
		code <<= 1
	}
	return h
}

var (
	lumaDC = makeHuffman([16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	lumaAC = makeHuffman([16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D}, []byte(""+
		"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0"+
		"\x24\x33\x62\x72\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28\x29\x2a\x34\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49"+
		"\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x83\x84\x85\x86\x87\x88\x89"+
		"\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5"+
		"\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa"))
	chromaDC = makeHuffman([16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	chromaAC = makeHuffman([16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77}, []byte(""+
		"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0"+
		"\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26\x27\x28\x29\x2a\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48"+
		"\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x82\x83\x84\x85\x86\x87"+
		"\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3"+
		"\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa"))
)

// appendHeader writes everything up to the scan: JFIF, tables, a 4:2:0 frame.
func appendHeader(b []byte, w, h int) []byte {
	b = append(b, 0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0)
	for i, q := range []*[64]int32{&lumaQuant, &chromaQuant} {
		b = append(b, 0xFF, 0xDB, 0, 67, byte(i))
		for _, v := range q {
			b = append(b, byte(v))
		}
	}
	b = append(b, 0xFF, 0xC0, 0, 17, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 3,
		1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1)
	for i, t := range []*huffman{&lumaDC, &lumaAC, &chromaDC, &chromaAC} {
		b = append(b, 0xFF, 0xC4, 0, byte(19+len(t.symbols)), byte(i&1<<4|i>>1))
		b = append(append(b, t.counts[:]...), t.symbols...)
	}
	return append(b, 0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0)
}

// bitWriter collects the bits of a scan. A byte of ones is followed by a zero byte.
type bitWriter struct {
	out   []byte
	acc   uint64
	n     uint
	plain bool // no zero bytes
}

func (w *bitWriter) put(code uint32, n uint) {
	w.acc = w.acc<<n | uint64(code)
	if w.n += n; w.n < 32 {
		return
	}
	w.n -= 32
	v := uint32(w.acc >> w.n)
	if (^v-0x01010101)&v&0x80808080 == 0 { // no byte is FF
		w.out = append(w.out, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
		return
	}
	for s := 24; s >= 0; s -= 8 {
		w.stuffed(byte(v >> s))
	}
}

func (w *bitWriter) stuffed(c byte) {
	if w.out = append(w.out, c); c == 0xFF && !w.plain {
		w.out = append(w.out, 0)
	}
}

// flush ends the scan; the last byte is filled up with ones.
func (w *bitWriter) flush() {
	pad := (8 - w.n%8) % 8
	w.acc, w.n = w.acc<<pad|1<<pad-1, w.n+pad
	for ; w.n > 0; w.n -= 8 {
		w.stuffed(byte(w.acc >> (w.n - 8)))
	}
	w.acc = 0
}

// rest writes the last coefficients of a block, in zigzag order, and the end mark.
func (w *bitWriter) rest(block []int32, ac *huffman) {
	run := 0
	for _, v := range block {
		if v == 0 {
			run++
			continue
		}
		for ; run > 15; run -= 16 {
			w.put(uint32(ac.code[0xF0]), uint(ac.length[0xF0]))
		}
		w.value(ac, run<<4, v)
		run = 0
	}
	if run > 0 {
		w.put(uint32(ac.code[0]), uint(ac.length[0]))
	}
}

// value writes the symbol of run and size, and then the bits of v.
func (w *bitWriter) value(t *huffman, run int, v int32) {
	size := uint(bits.Len32(uint32(max(v, -v))))
	s := run | int(size)
	if v < 0 {
		v += 1<<size - 1
	}
	w.put(uint32(t.code[s])<<size|uint32(v), uint(t.length[s])+size)
}
