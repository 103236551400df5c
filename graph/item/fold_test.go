package item

import (
	"fmt"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fill makes n bytes that repeat nowhere near.
func fill(n int) []byte {
	b, x := make([]byte, n), uint32(n)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func foldedBytes(data []byte) string {
	dst := make([]byte, foldedLen(len(data)))
	fold(dst, data)
	return string(dst)
}

func TestFoldingIsTheSameInAssemblyAndGo(t *testing.T) {
	all := fill(6*foldBlock + 8)
	for blocks := 1; blocks <= 5; blocks++ {
		for at := range 8 { // whatever the address
			data := all[at : at+blocks*foldBlock]
			a, b := [8]uint64{1, 2, 3}, [8]uint64{1, 2, 3}
			foldBlocks(&a, data)
			foldBlocksGo(&b, data)
			require.Equal(t, b, a)
		}
	}
}

// The bytes that are hashed are part of what a digest is: they may not change without a word in CHANGELOG.md.
func TestFoldingIsKnown(t *testing.T) {
	assert.Equal(t, fill(1023), []byte(foldedBytes(fill(1023))), "short fields stay as they are")
	s := NewSample("x")
	data := fill(3*foldBlock + 3*foldStripe + 5)
	s.Set("v", Bytes(taken(data)))
	assert.Equal(t, knownFold, fmt.Sprintf("%016x", s.Hash()))
}

func TestFoldingSeesEveryBitAndEveryOrder(t *testing.T) {
	for _, n := range []int{foldBlock, foldBlock + 1, 2*foldBlock + 3*foldStripe + 7} {
		data := fill(n)
		seen := map[string]bool{foldedBytes(data): true}
		for i := range n {
			for bit := range 8 {
				data[i] ^= 1 << bit
				seen[foldedBytes(data)] = true
				data[i] ^= 1 << bit
			}
		}
		assert.Len(t, seen, 8*n+1)
	}
	data := fill(2 * foldBlock)
	want := foldedBytes(data)
	for _, size := range []int{8, foldStripe, foldBlock} {
		for i := 0; i+2*size <= len(data); i += size {
			other := append([]byte(nil), data...)
			copy(other[i:], data[i+size:i+2*size])
			copy(other[i+size:], data[i:i+size])
			assert.NotEqual(t, want, foldedBytes(other), "pieces of %d bytes at %d change places", size, i)
		}
	}
	assert.NotEqual(t, foldedBytes(make([]byte, 2*foldBlock)), foldedBytes(make([]byte, 3*foldBlock)), "zeros")
}

func TestRowHasherFoldsLargeRowsAsSamplesDo(t *testing.T) {
	pixels := fill(2 * 1500)
	b := &Batch{Columns: []Column{ColumnOf("x", pixels, 1500)}, Rows: []Row{{Key: "a"}, {Key: "b"}}}
	new(RowHasher).Hash(b)
	for i, key := range []string{"a", "b"} {
		s := NewSample(key)
		s.Set("x", Tensor(taken(pixels[1500*i:1500*i+1500]), Uint8, MakeShape(1500)))
		assert.Equal(t, s.Hash(), b.Rows[i].Hash)
	}
}

// BenchmarkSampleHash is the digest's share of a picture of 224×224×3 float32, beside xxhash64 of all its bytes.
func BenchmarkSampleHash(b *testing.B) {
	const n = 4 * 3 * 224 * 224
	s := NewSample("train/class/picture.jpg")
	s.Set("image", Tensor(Heap.Take(n), Float32, MakeShape(3, 224, 224)))
	data := s.Get("image").Data()
	for name, f := range map[string]func() uint64{"folded": s.Hash, "whole": func() uint64 { return xxhash.Sum64(data) }} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				f()
			}
		})
	}
}

const knownFold = "4b5e733631c9e37b"
