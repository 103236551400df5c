package sources

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"strconv"
)

// Paths is a compact list of paths, written with slashes, in the order in which they were added. Each path keeps only
// what differs from the one before, so sorted lists take about 13 bytes a path, in pieces of a megabyte that hold no
// pointers (BenchmarkFiveMillionPaths). It is map-style data; once made it is only read, by any number of goroutines.
// Cost of At: about 100 ns, for up to 16 paths are walked through.
type Paths struct {
	chunks [][]byte // blocks of pathBlock entries: shared length, own length, own bytes; no block is in two chunks
	blocks []uint64 // chunk and offset at which each begins
	n      int64
	last   []byte // the path added last
}

const (
	pathBlock = 16
	pathChunk = 1 << 20
	pathRoom  = 1 << 13 // a block begins where at least so much is left; a longer one makes its chunk grow
)

// NewPaths lists the paths of seq.
func NewPaths(seq iter.Seq[string]) *Paths {
	p := &Paths{}
	for s := range seq {
		p.add([]byte(s))
	}
	p.last = nil
	return p
}

func (p *Paths) add(s []byte) {
	shared := 0
	if p.n%pathBlock == 0 {
		p.begin()
	}
	at := &p.chunks[len(p.chunks)-1]
	if p.n%pathBlock != 0 {
		for shared < len(s) && shared < len(p.last) && s[shared] == p.last[shared] {
			shared++
		}
		*at = binary.AppendUvarint(*at, uint64(shared))
	}
	*at = append(binary.AppendUvarint(*at, uint64(len(s)-shared)), s[shared:]...)
	p.last = append(p.last[:0], s...)
	p.n++
}

// begin begins a block.
func (p *Paths) begin() {
	k := len(p.chunks) - 1
	if k < 0 || len(p.chunks[k]) > pathChunk-pathRoom {
		size := pathChunk
		if k < 0 {
			size = 0 // most lists are short
		}
		p.chunks = append(p.chunks, make([]byte, 0, size))
		k++
	}
	p.blocks = append(p.blocks, uint64(k)<<32|uint64(len(p.chunks[k])))
}

// Len is the number of paths.
func (p *Paths) Len() int64 { return p.n }

// At is path i. It makes Paths map-style data, see [Map].
func (p *Paths) At(_ context.Context, i int64) (string, error) {
	if i < 0 || i >= p.n {
		return "", fmt.Errorf("path %d of a list of %d", i, p.n)
	}
	var room [256]byte
	return string(p.Append(room[:0], i)), nil
}

// Append appends path i to dst. An index outside the list panics.
func (p *Paths) Append(dst []byte, i int64) []byte {
	if i < 0 || i >= p.n {
		panic(fmt.Sprintf("sources: path %d of a list of %d", i, p.n))
	}
	block := p.blocks[i/pathBlock]
	b, start, shared := p.chunks[block>>32][uint32(block):], len(dst), 0
	for k := int64(0); ; k++ {
		if k > 0 {
			shared, b = number(b)
		}
		own := 0
		own, b = number(b)
		dst = append(dst[:start+shared], b[:own]...)
		if k == i%pathBlock {
			return dst
		}
		b = b[own:]
	}
}

func number(b []byte) (int, []byte) {
	if b[0] < 0x80 {
		return int(b[0]), b[1:]
	}
	v, n := binary.Uvarint(b)
	return int(v), b[n:]
}

// fingerprint tells one list from another. It is the 64-bit FNV-1a hash of the list as it is kept: one multiplication a byte.
func (p *Paths) fingerprint() string {
	h := fnv.New64a()
	for _, c := range p.chunks {
		_, _ = h.Write(c)
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// Bytes is the memory that the list takes.
func (p *Paths) Bytes() int64 {
	n := 8 * int64(cap(p.blocks))
	for _, c := range p.chunks {
		n += int64(cap(c))
	}
	return n
}
