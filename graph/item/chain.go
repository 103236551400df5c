package item

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Chain is a digest of hashes in order: the xxhash64 of the hashes before, written as eight little-endian bytes, and
// the next one. The zero value is the digest of nothing.
type Chain struct{ sum uint64 }

// Add appends a hash.
func (c *Chain) Add(h uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], c.sum)
	binary.LittleEndian.PutUint64(b[8:], h)
	c.sum = xxhash.Sum64(b[:])
}

// Sum is the digest so far.
func (c *Chain) Sum() uint64 { return c.sum }

// String is the digest as 16 hexadecimal digits.
func (c *Chain) String() string { return fmt.Sprintf("%016x", c.sum) }

// ParseChain reads a digest that String wrote; anything else is the digest of nothing.
func ParseChain(s string) Chain {
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return Chain{}
	}
	return Chain{v}
}
