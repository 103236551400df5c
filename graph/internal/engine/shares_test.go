package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// within checks that no input is a whole item off what was asked, and gives the greatest distance in parts of sum.
func within(t *testing.T, weights, given []int64, n int64) {
	t.Helper()
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	k := int64(len(weights))
	for i, w := range weights {
		off := n*w - given[i]*sum
		if off < 0 {
			off = -off
		}
		// |off| / sum <= 1 - 1/(2k-2)
		require.LessOrEqual(t, off*(2*k-2), sum*(2*k-3), "input %d of %v after %d outputs: %v", i, weights, n, given)
	}
}

func TestSharesStayWithinOneItemAtEveryPrefix(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lists := [][]int64{{1, 1}, {3, 1}, {1, 1000}, {999_983, 7, 1}, {1, 1, 1, 1, 1}, {1, 2, 3, 4}}
	for range 60 {
		w := make([]int64, 2+r.IntN(9))
		for i := range w {
			w[i] = 1 + r.Int64N([]int64{3, 100, 1_000_003}[r.IntN(3)])
		}
		lists = append(lists, w)
	}
	for _, weights := range lists {
		s := NewShares(weights, r.Uint64())
		s.Begin(3)
		given := make([]int64, len(weights))
		for n := int64(1); n <= 3000; n++ {
			i := s.Next()
			require.GreaterOrEqual(t, i, 0)
			s.Took(i)
			given[i]++
			within(t, weights, given, n)
		}
		require.Equal(t, given, s.Given)
	}
}

func TestSharesArePureFunctionsOfTheirCounters(t *testing.T) {
	weights := []int64{5, 3, 3, 1}
	s := NewShares(weights, 9)
	s.Begin(2)
	var order []int
	for n := range 200 {
		if n == 70 {
			s.Drop(2)
		}
		again := NewShares(weights, 9)
		again.Resume(2, s.Given, s.Gone, s.Done)
		require.Equal(t, s, again, "output %d", n)
		i := s.Next()
		require.False(t, n >= 70 && i == 2, "it has dropped out")
		s.Took(i)
		order = append(order, i)
	}
	other, same := NewShares(weights, 10), 0
	other.Begin(2)
	for _, i := range order[:70] {
		j := other.Next()
		other.Took(j)
		if i == j {
			same++
		}
	}
	require.Less(t, same, 70, "another key gives another order")
}

func TestSharesOfHugeWeightsAndCountsDoNotOverflow(t *testing.T) {
	weights := []int64{MaxWeights/2 - 1, MaxWeights / 2, 1}
	s := NewShares(weights, 1)
	s.Resume(1<<30, []int64{1<<39 - 1, 1 << 39, 1}, make([]bool, 3), nil) // a whole round: nothing is due
	require.Equal(t, []int64{0, 0, 0}, s.due)
	for range 1000 {
		s.Took(s.Next())
	}
	require.InDelta(t, 500, s.Given[0]-(1<<39-1), 1)
	require.EqualValues(t, 1, s.Given[2])
}

func TestOneInputThatIsLeftGivesAll(t *testing.T) {
	s := NewShares([]int64{1, 2}, 1)
	s.Drop(1)
	for range 5 {
		require.Equal(t, 0, s.Next())
		s.Took(0)
	}
	require.Equal(t, 1, s.Left())
	s.Drop(0)
	require.Zero(t, s.Left())
}
