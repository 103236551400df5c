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

// Fill writes the numbers at len(dst) places from first on to dst: what At gives for each. A place outside panics. Four
// are worked out at once, whose steps do not wait for each other. Cost: BenchmarkPermutationFill.
func (p *Permutation) Fill(dst []int64, first int64) {
	if len(dst) == 0 {
		return
	}
	x := p.check(first)
	p.check(first + int64(len(dst)) - 1)
	for ; len(dst) >= 4; dst, x = dst[4:], x+4 {
		a, b, c, d := p.forth4(x)
		dst[0], dst[1], dst[2], dst[3] = p.walk(a), p.walk(b), p.walk(c), p.walk(d)
	}
	for i := range dst {
		dst[i] = p.walk(p.forth(x + uint64(i)))
	}
}

// walk goes on from what lies beyond n.
func (p *Permutation) walk(x uint64) int64 {
	for x >= p.n {
		x = p.forth(x)
	}
	return int64(x)
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

// forth4 is forth of x and the three after it.
func (p *Permutation) forth4(x uint64) (w0, w1, w2, w3 uint64) {
	a, b, end := p.a, p.b, p.end
	l0, r0 := x/b, x%b
	l1, r1 := step(l0, r0, b)
	l2, r2 := step(l1, r1, b)
	l3, r3 := step(l2, r2, b)
	for k := p.key; k != end; {
		k += golden
		l0, l1 = within(l0+below(k^r0, a), a), within(l1+below(k^r1, a), a)
		l2, l3 = within(l2+below(k^r2, a), a), within(l3+below(k^r3, a), a)
		k += golden
		r0, r1 = within(r0+below(k^l0, b), b), within(r1+below(k^l1, b), b)
		r2, r3 = within(r2+below(k^l2, b), b), within(r3+below(k^l3, b), b)
	}
	return l0*b + r0, l1*b + r1, l2*b + r2, l3*b + r3
}

// step is the pair of the number that follows.
func step(l, r, b uint64) (uint64, uint64) {
	if r++; r == b {
		return l + 1, 0
	}
	return l, r
}

func within(v, n uint64) uint64 {
	if v >= n {
		v -= n
	}
	return v
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
