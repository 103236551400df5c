package main

import (
	"math"
	"slices"
)

// contender is a side with the pass that it is asked for.
type contender struct {
	*side
	ask   command
	label string // with its settings
}

// meeting is what two contenders came to, in turn. Pass i of one is the neighbour of pass i of the other.
type meeting struct{ a, b []pass }

// meet runs a and b in turn, n times each, after one pass of each that does not count if warm.
func meet(a, b contender, n int, warm bool) (m meeting, err error) {
	for i := range n + 1 {
		if i == 0 && !warm {
			continue
		}
		for _, c := range []struct {
			contender
			to *[]pass
		}{{a, &m.a}, {b, &m.b}} {
			p, err := c.run(c.ask, false)
			if err != nil {
				return m, err
			}
			if i > 0 {
				*c.to = append(*c.to, p)
			}
		}
	}
	return m, nil
}

// ratios divides the pairs: how many times better a is, where of gives a figure of which more is better.
func (m meeting) ratios(of func(pass) float64) []float64 {
	r := make([]float64, len(m.a))
	for i := range r {
		r[i] = of(m.a[i]) / of(m.b[i])
	}
	return r
}

// spread is the middle and the ends of some figures.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(v))
	return spread{middle(s), s[0], s[len(s)-1]}
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func each(ps []pass, of func(pass) float64) []float64 {
	v := make([]float64, len(ps))
	for i, p := range ps {
		v[i] = of(p)
	}
	return v
}

// interval is one that holds the true median with at least 95 % probability, whatever the distribution is: the order
// statistics between which a binomial of n tries at one half falls.
func interval(v []float64) (low, high float64) {
	s := slices.Sorted(slices.Values(v))
	n, k, below := len(s), 0, 0.0
	for below+binomial(n, k) <= 0.025 {
		below += binomial(n, k)
		k++
	}
	k = max(k-1, 0)
	return s[k], s[n-1-k]
}

func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c / math.Exp2(float64(n))
}
