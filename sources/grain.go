package sources

import "encoding/binary"

const (
	roughLevels = 32 // of 8 steps of roughness each
	variants    = 32
)

// grain is a stock of textures, ready coded. It is only read.
type grain struct {
	luma, chroma [roughLevels][variants]texture
}

// texture is what follows the two lowest frequencies of a block: the fourth coefficient, never zero, and then the bits
// of the others and the end mark, in words from the top.
type texture struct {
	third int32
	bits  uint
	words []uint32
}

func newGrain() *grain {
	g := &grain{}
	r := random{state: 0x677261696E}
	for level := range roughLevels {
		for i := range variants {
			g.luma[level][i] = r.texture(int32(level)*8+4, 64, &lumaQuant, &lumaAC)
			g.chroma[level][i] = r.texture(int32(level)*8+4, 16, &chromaQuant, &chromaAC)
		}
	}
	return g
}

// random is a linear congruential generator; its high bits are good enough for pictures.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state = r.state*6364136223846793005 + 1442695040888963407
	return r.state
}

// texture is noise whose deviation falls with the frequency. The product of two uniform numbers is peaked at zero with
// long tails, as coefficients of photographs are.
func (r *random) texture(rough int32, end int, quant *[64]int32, ac *huffman) texture {
	var block [60]int32 // from the fifth coefficient
	t := texture{third: r.noise(rough, 3) / quant[3]}
	if t.third == 0 {
		t.third = 1 - int32(r.next()>>63)*2
	}
	for k := 4; k < end; k++ {
		block[k-4] = r.noise(rough, k) / quant[k]
	}
	w := bitWriter{plain: true}
	w.rest(block[:], ac)
	t.bits = uint(len(w.out))*8 + w.n
	w.flush()
	w.out = append(w.out, 0, 0, 0)
	for b := w.out; len(b) >= 4; b = b[4:] {
		t.words = append(t.words, binary.BigEndian.Uint32(b))
	}
	return t
}

func (r *random) noise(rough int32, k int) int32 {
	x := r.next()
	a, b := int32(x>>40&255)-128, int32(x>>48&255)
	return (a * b >> 8) * rough * falloff[k] >> 14
}
