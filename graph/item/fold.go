package item

import "encoding/binary"

// Large fields are folded to 64 bytes and what is left over before they are hashed, since xxhash64 takes two 64-bit
// multiplications for 8 bytes (BenchmarkSampleHash has both). The method is the inner loop of XXH3 (Collet, 2019): eight
// lanes, each of which adds the product of the halves of a word under a key, and its neighbour's word; after each block
// of 16 stripes the lanes are scrambled. The keys are our own.
const (
	foldStripe = 64
	foldBlock  = 16 * foldStripe
	foldPrime  = 0x9E3779B1
)

// foldKeys are the first numbers of SplitMix64 from 0.
var foldKeys = func() (k [24]uint64) {
	var s uint64
	for i := range k {
		s += 0x9E3779B97F4A7C15
		z := (s ^ s>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		k[i] = z ^ z>>31
	}
	return k
}()

// foldedLen is how many bytes of n are hashed.
func foldedLen(n int) int {
	if n < foldBlock {
		return n
	}
	return foldStripe + n%foldStripe
}

// fold writes what is hashed of data to dst, foldedLen(len(data)) bytes.
func fold(dst, data []byte) {
	if len(data) < foldBlock {
		copy(dst, data)
		return
	}
	lanes := [8]uint64(foldKeys[:8])
	blocks := len(data) / foldBlock
	foldBlocks(&lanes, data[:blocks*foldBlock])
	rest := data[blocks*foldBlock:]
	for s := 0; len(rest) >= foldStripe; s++ {
		foldOne(&lanes, rest, s)
		rest = rest[foldStripe:]
	}
	for i, v := range lanes {
		binary.LittleEndian.PutUint64(dst[8*i:], v)
	}
	copy(dst[foldStripe:], rest)
}

// foldBlocksGo is the twin of the assembly.
func foldBlocksGo(lanes *[8]uint64, data []byte) {
	for ; len(data) >= foldBlock; data = data[foldBlock:] {
		for s := range foldBlock / foldStripe {
			foldOne(lanes, data[s*foldStripe:], s)
		}
		for i := range lanes {
			v := lanes[i]
			lanes[i] = (v ^ v>>47 ^ foldKeys[16+i]) * foldPrime
		}
	}
}

// foldOne adds a stripe, the one of this number in its block.
func foldOne(lanes *[8]uint64, data []byte, s int) {
	data = data[:foldStripe]
	for i := range lanes {
		d := binary.LittleEndian.Uint64(data[8*i:])
		x := d ^ foldKeys[s+i]
		lanes[i^1] += d
		lanes[i] += (x & 0xFFFFFFFF) * (x >> 32)
	}
}
