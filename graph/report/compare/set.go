package compare

import (
	"math"
	"slices"
)

const (
	// Runs is how many runs a side an alarm needs: with fewer no interval is worth the name.
	Runs = 5
	// Least is the smallest change that can be an alarm: 5 % of A, or 0.05 of what is a share itself.
	Least = 0.05
	// clear is the gap between two disjoint intervals that an alarm needs, as a part of the wider one. Many figures are
	// looked at in one comparison, so each must be surer than one alone; docs/decisions/0017-when-compare-alarms.md.
	clear = 0.25
	// sure is the least chance that the interval holds the median: that of the extremes of five runs.
	sure = 1 - 1.0/16
)

// Set is a figure in the runs of one side. Low to High is the interval for the median, and Sure the chance that it holds
// the true one: for fewer than five runs less than 15 of 16, for a single run 0.
type Set struct {
	Runs   int       `json:"runs"`
	Median float64   `json:"median"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Sure   float64   `json:"sure"`
	Spread float64   `json:"spread"` // highest less lowest, of all runs
	Values []float64 `json:"values"` // in the order of the files
}

// NewSet describes values; nil without any.
func NewSet(values []float64) *Set {
	n := len(values)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	k, chance := rank(n)
	return &Set{Runs: n, Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[k], High: sorted[n-1-k], Sure: chance,
		Spread: sorted[n-1] - sorted[0], Values: values}
}

// rank is the highest k for which the k-th lowest (from 0) to the k-th highest of n values hold the median with a chance
// of at least sure, and that chance; the extremes where none is so sure. A value lies below the median with a chance of
// a half, so the number below is binomial.
func rank(n int) (k int, chance float64) {
	tail, term := 0.0, math.Pow(2, float64(-n))
	for i := 0; i <= (n-1)/2; i++ {
		tail += term
		c := 1 - 2*tail
		if i > 0 && c < sure {
			break
		}
		k, chance = i, max(0, c)
		term *= float64(n-i) / float64(i+1)
	}
	return k, chance
}

// gap is the distance between two intervals; negative where they meet.
func gap(a, b *Set) float64 { return max(b.Low-a.High, a.Low-b.High) }

// disjoint tells whether two intervals have nothing in common.
func disjoint(a, b *Set) bool { return gap(a, b) > 0 }

// apart tells whether they are so by a clear gap.
func apart(a, b *Set) bool {
	return disjoint(a, b) && gap(a, b) > clear*max(a.High-a.Low, b.High-b.Low)
}
