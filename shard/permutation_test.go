package shard

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryLengthUpTo2000IsAPermutation(t *testing.T) {
	for n := int64(0); n <= 2000; n++ {
		p := NewPermutation(n, 7)
		seen := make([]bool, n)
		for i := range n {
			j := p.At(i)
			if seen[j] {
				t.Fatalf("n %d: %d comes twice", n, j)
			}
			seen[j] = true
			if n <= 100 || n%50 == 0 {
				require.Equal(t, i, p.Place(j), "n %d: inverse of %d", n, j)
			}
		}
	}
}

func TestLargeLengthsStayInRangeAndInvert(t *testing.T) {
	for _, n := range []int64{1<<24 + 10, 1<<31 - 1, 1 << 32, 1<<32 + 1, 1_000_000_007, 1<<53 + 1, 1 << 62, math.MaxInt64} {
		p := NewPermutation(n, 99)
		for k := range int64(5000) {
			i := int64(Hash(uint64(k)) % uint64(n))
			j := p.At(i)
			require.True(t, j >= 0 && j < n, "n %d", n)
			require.Equal(t, i, p.Place(j), "n %d", n)
		}
	}
}

func TestAMillionPlacesHoldEachNumberOnce(t *testing.T) {
	const n = 1_000_003
	p := NewPermutation(n, EpochSeed(1, 2))
	seen := make([]bool, n)
	for i := range int64(n) {
		seen[p.At(i)] = true
	}
	assert.NotContains(t, seen, false)
}

// The numbers of these tests are the contract: a stored state and a published digest depend on them.
func TestKnownAnswers(t *testing.T) {
	first := func(n int64, key uint64) []int64 {
		p := NewPermutation(n, key)
		out := make([]int64, 0, 8)
		for i := range min(n, 8) {
			out = append(out, p.At(i))
		}
		return out
	}
	assert.Equal(t, []int64{0}, first(1, 5))
	for _, c := range known {
		assert.Equal(t, c.want, first(c.n, c.key), "n %d, key %d", c.n, c.key)
	}
	assert.Equal(t, knownHash, Hash(1, 2, 3))
	assert.Equal(t, knownEpoch, EpochSeed(7, 1))
}

func TestEpochsAndSeedsGiveOtherOrders(t *testing.T) {
	const n = 1000
	orders := map[string]bool{}
	for seed := range uint64(5) {
		for epoch := range int64(5) {
			p := NewPermutation(n, EpochSeed(seed, epoch))
			same, order := 0, ""
			for i := range int64(n) {
				if p.At(i) == i {
					same++
				}
				order += fmt.Sprint(p.At(i), " ")
			}
			orders[order] = true
			assert.Less(t, same, 10, "fixed points; one is expected")
		}
	}
	assert.Len(t, orders, 25)
}

// For small n every one of the n! orders must come about equally often.
func TestSmallPermutationsAreUniform(t *testing.T) {
	for n, orders := range map[int64]int{2: 2, 3: 6, 4: 24, 5: 120, 6: 720} {
		counts := map[string]int{}
		draws := orders * 200
		for key := range draws {
			p := NewPermutation(n, EpochSeed(3, int64(key)))
			s := ""
			for i := range n {
				s += fmt.Sprint(p.At(i))
			}
			counts[s]++
		}
		require.Len(t, counts, orders, "n %d: every order occurs", n)
		chi := 0.0
		for _, c := range counts {
			chi += float64((c-200)*(c-200)) / 200
		}
		free := float64(orders - 1)
		assert.Less(t, chi, free+5*math.Sqrt(2*free), "n %d", n)
	}
}

func TestWhereAPlaceGoesIsUniform(t *testing.T) {
	const n, keys = 100, 20_000
	for _, place := range []int64{0, 1, 50, 99} {
		counts := make([]int, n)
		for key := range uint64(keys) {
			p := NewPermutation(n, key)
			counts[p.At(place)]++
		}
		chi := 0.0
		for _, c := range counts {
			chi += float64((c-keys/n)*(c-keys/n)) / (keys / n)
		}
		assert.Less(t, chi, 99+5*math.Sqrt(2*99), "place %d", place)
	}
}

// Neighbours must not stay neighbours: their distance is that of two random numbers, n/3 on average.
func TestNeighboursAreTornApart(t *testing.T) {
	const n = 1 << 20
	p := NewPermutation(n, 11)
	sum := 0.0
	for i := range int64(n - 1) {
		sum += math.Abs(float64(p.At(i+1) - p.At(i)))
	}
	assert.InDelta(t, n/3.0, sum/(n-1), n*0.005)
}

func TestPlacesOutsidePanic(t *testing.T) {
	p := NewPermutation(3, 0)
	assert.Panics(t, func() { p.At(3) })
	assert.Panics(t, func() { p.At(-1) })
	assert.Panics(t, func() { NewPermutation(-1, 0) })
}

func TestFillGivesWhatAtGives(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 7, 64, 1000, 1_281_167, 1 << 40} {
		p := NewPermutation(n, 7)
		for _, first := range []int64{0, 1, n / 2, n - 5, n - 1} {
			for _, k := range []int64{0, 1, 3, 4, 5, 64, 67} {
				if first < 0 || first+k > n || first >= n {
					continue
				}
				got := make([]int64, k)
				p.Fill(got, first)
				for i := range got {
					require.Equal(t, p.At(first+int64(i)), got[i], "n=%d first=%d k=%d i=%d", n, first, k, i)
				}
			}
		}
	}
	p := NewPermutation(10, 7)
	assert.Panics(t, func() { p.Fill(make([]int64, 2), 9) })
	assert.Panics(t, func() { p.Fill(make([]int64, 1), -1) })
}

func BenchmarkPermutationFill(b *testing.B) {
	p := NewPermutation(1_281_167, 7)
	var dst [64]int64
	for b.Loop() {
		p.Fill(dst[:], 1000)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/place")
}

func BenchmarkPermutationAt(b *testing.B) {
	for _, n := range []int64{1000, 1_281_167, 5_000_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := NewPermutation(n, 7)
			var sum, i int64
			for b.Loop() {
				sum += p.At(i)
				if i++; i == n {
					i = 0
				}
			}
			_ = sum
		})
	}
}

func ExampleNewPermutation() {
	p := NewPermutation(10, EpochSeed(7, 0))
	for place := range p.Len() {
		fmt.Print(p.At(place), " ")
	}
	// Output: 1 6 7 4 8 0 5 9 3 2
}
