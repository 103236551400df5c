package shard

import (
	"fmt"
	"math"
	"math/bits"
)

// Rounds of the Feistel network. Six are the least for which no attack with few queries is known (Patarin, 2004). Small
// domains need more until all orders come equally often: TestSmallPermutationsAreUniform fails with 8 at n = 6.
const (
	rounds      = 8
	smallRounds = 32
	small       = 1024
)

// Permutation is a keyed permutation of the numbers 0 to n-1 that takes no memory and no set-up. It is a value; its
// methods may be called from any goroutine.
//
// Method: a generalized Feistel network on pairs of numbers (Black and Rogaway, "Ciphers with Arbitrary Finite
// Domains", 2002) whose domain a×b is just above n, and cycle walking for what lies beyond. The walk takes less than
// one extra step on average for n below 10, and less than 1/√n of a step above. Integers only.
type Permutation struct {
	n, a, b uint64
	key     uint64
	end     uint64 // the last round's key; the first is key
}

// NewPermutation is the permutation of n numbers with this key. n must not be negative.
func NewPermutation(n int64, key uint64) Permutation {
	if n < 0 {
		panic(fmt.Sprintf("shard: permutation of %d numbers", n))
	}
	p := Permutation{n: uint64(n)}
	// With a even the network reaches odd permutations too; with both sides odd every round is an even one.
	p.a = max(2, root(p.n))
	p.a += p.a & 1
	p.b = max(1, (p.n+p.a-1)/p.a)
	p.key = Hash(key)
	count := uint64(rounds)
	if n < small {
		count = smallRounds
	}
	p.end = p.key + count*golden
	return p
}

// root is the square root, rounded up.
func root(n uint64) uint64 {
	r := uint64(math.Sqrt(float64(n)))
	for r*r >= n && r > 0 {
		r--
	}
	for r*r < n {
		r++
	}
	return r
}

// Len is n.
func (p *Permutation) Len() int64 { return int64(p.n) }

// At is the number at a place; both lie in 0 to n-1. A place outside panics. Cost: about 30 ns.
func (p *Permutation) At(place int64) int64 {
	x := p.check(place)
	for {
		if x = p.forth(x); x < p.n {
			return int64(x)
		}
	}
}

// Place is the inverse of At: where a number stands.
func (p *Permutation) Place(index int64) int64 {
	x := p.check(index)
	for {
		if x = p.back(x); x < p.n {
			return int64(x)
		}
	}
}

func (p *Permutation) check(i int64) uint64 {
	if uint64(i) >= p.n {
		panic(fmt.Sprintf("shard: %d is outside a permutation of %d numbers", i, p.n))
	}
	return uint64(i)
}

func (p *Permutation) forth(x uint64) uint64 {
	l, r := x/p.b, x%p.b
	for k := p.key; k != p.end; {
		k += golden
		if l += below(k^r, p.a); l >= p.a {
			l -= p.a
		}
		k += golden
		if r += below(k^l, p.b); r >= p.b {
			r -= p.b
		}
	}
	return l*p.b + r
}

func (p *Permutation) back(x uint64) uint64 {
	l, r := x/p.b, x%p.b
	for k := p.end; k != p.key; {
		if d := below(k^l, p.b); r >= d {
			r -= d
		} else {
			r += p.b - d
		}
		k -= golden
		if d := below(k^r, p.a); l >= d {
			l -= d
		} else {
			l += p.a - d
		}
		k -= golden
	}
	return l*p.b + r
}

// below maps 64 bits to 0..n-1 by the high half of a product.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(mix(x), n)
	return hi
}
