package tune

import (
	"math"
	"math/bits"
)

// Times is how long the items of a stage take, in seconds. The zero value takes no time.
type Times struct {
	mean   float64
	spread []span
	zero   float64 // the share of items that take no time
}

// span is a range of times that count items lie in, evenly.
type span struct{ from, to, count float64 }

// Fixed is the same time for every item.
func Fixed(seconds float64) Times { return Times{mean: seconds} }

// Mean is the mean.
func (t Times) Mean() float64 { return t.mean * (1 - t.zero) }

// Spread is the standard deviation divided by the mean; 0 where all are alike.
func (t Times) Spread() float64 {
	mean := t.Mean()
	if mean == 0 {
		return 0
	}
	n, sum := 0.0, 0.0
	for _, s := range t.spread {
		n += s.count
		d := s.to - s.from
		mid := (s.from + s.to) / 2
		sum += s.count * (mid*mid + d*d/12)
	}
	squares := t.mean * t.mean
	if n > 0 {
		squares = sum / n
	}
	return math.Sqrt(max(0, (1-t.zero)*squares-mean*mean)) / mean
}

// Scaled is every time multiplied by k.
func (t Times) Scaled(k float64) Times {
	s := Times{mean: t.mean * k, zero: t.zero, spread: make([]span, len(t.spread))}
	for i, x := range t.spread {
		s.spread[i] = span{x.from * k, x.to * k, x.count}
	}
	return s
}

// Spared takes no time for a share of the items, picked at random: what a cache that holds this share does.
func (t Times) Spared(share float64) Times {
	t.zero = 1 - (1-t.zero)*(1-min(1, max(0, share)))
	return t
}

// bucket is a recorded range of times: count of them, the longest of which is upto.
type bucket struct {
	Upto  float64 `json:"upto"`
	Count int64   `json:"count"`
}

// recorded makes times of a histogram and its exact mean. A bucket's longest time is known, and how wide the bucket is;
// the times in it are spread so that the mean comes out right.
func recorded(mean float64, buckets []bucket) Times {
	t := Times{mean: mean}
	n, high, room := 0.0, 0.0, 0.0
	for _, b := range buckets {
		c := float64(b.Count)
		n, high = n+c, high+c*b.Upto
		if b.Count > 1 {
			room += c * (b.Upto - floor(b.Upto)) / 2
		}
	}
	if n == 0 {
		return t
	}
	down := 0.0
	if room > 0 {
		down = min(1, max(0, (high-mean*n)/room))
	}
	sum := 0.0
	for _, b := range buckets {
		s := span{b.Upto, b.Upto, float64(b.Count)}
		if b.Count > 1 {
			s.from -= down * (b.Upto - floor(b.Upto))
		}
		sum += s.count * (s.from + s.to) / 2
		t.spread = append(t.spread, s)
	}
	if sum > 0 && mean > 0 { // the rest of the difference, such as times that were rounded
		t = Times{mean: sum / n, spread: t.spread}.Scaled(mean * n / sum)
	}
	return t
}

// floor is the lower end of the histogram's bucket that a time lies in: a sixteenth of an octave.
func floor(seconds float64) float64 {
	ns := int64(math.Round(seconds * 1e9))
	if ns < 16 {
		return seconds
	}
	e := bits.Len64(uint64(ns)) - 5
	return float64(ns>>e<<e) / 1e9
}

// deckSize is the most cards of a deck.
const deckSize = 4096

// cards are the times as a deck of equally likely values, lowest first, whose mean is that of the times.
func (t Times) cards() []float64 {
	n := 0.0
	for _, s := range t.spread {
		n += s.count
	}
	if n == 0 {
		n, t.spread = 1, []span{{t.mean, t.mean, 1}}
	}
	t.spread = append([]span{{0, 0, n * t.zero / max(1e-12, 1-t.zero)}}, t.spread...)
	if t.zero >= 1 {
		return []float64{0}
	}
	if t.zero > 0 {
		n /= 1 - t.zero
	}
	size := int(min(deckSize, math.Ceil(n-1e-9)))
	if t.zero > 0 { // a few recorded times cannot tell small shares
		size = deckSize
	}
	deck, each := make([]float64, size), n/float64(size)
	i, used := 0, 0.0
	for k := range deck {
		need, sum := each, 0.0
		for need > 1e-12*each && i < len(t.spread) {
			s := t.spread[i]
			take := min(need, s.count-used)
			if take > 0 {
				at := (used + take/2) / s.count
				sum += take * (s.from + (s.to-s.from)*at)
			}
			used, need = used+take, need-take
			if used >= s.count*(1-1e-12) {
				i, used = i+1, 0
			}
		}
		deck[k] = sum / each
	}
	return deck
}
