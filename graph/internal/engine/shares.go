package engine

import (
	"math/bits"
	"slices"
)

// Shares decides which input of a mix gives the next output. Counters are whole numbers, so that it is exact: after any
// number of outputs of a stretch, what each input gave differs from what was asked of it by less than one item. A
// stretch is an epoch, or the part of one between two inputs that drop out.
//
// The rule is that of R. Tijdeman, "The chairman assignment problem" (1980): of the inputs that would not get ahead of
// their share, the one whose turn is over first. It keeps k inputs within 1 - 1/(2k-2) of their shares at every output,
// which is the best that can be had. Between inputs that are equally due a hash of key, epoch and output decides.
type Shares struct {
	weights []int64
	key     uint64

	Epoch int32
	Given []int64 // outputs of the stretch by input
	Gone  []bool  // inputs that take no part any more
	Done  []bool  // inputs that have been gone through once in the epoch
	n     int64   // outputs of the stretch
	due   []int64 // what each input lacks, in parts of the stretch's sum of weights
	sum   int64
	live  int64
}

// MaxWeights is the largest sum of weights: with it every product below fits 128 bits, and every counter 64.
const MaxWeights = 1 << 40

// NewShares makes the counters of an epoch that has not begun.
func NewShares(weights []int64, key uint64) *Shares {
	k := len(weights)
	s := &Shares{weights: weights, key: key, Given: make([]int64, k), Gone: make([]bool, k), Done: make([]bool, k), due: make([]int64, k)}
	s.Begin(0)
	return s
}

// Clone is a copy that counts on its own.
func (s *Shares) Clone() *Shares {
	c := *s
	c.Given, c.Gone, c.Done, c.due = slices.Clone(s.Given), slices.Clone(s.Gone), slices.Clone(s.Done), slices.Clone(s.due)
	return &c
}

// Begin begins an epoch.
func (s *Shares) Begin(epoch int32) {
	s.Epoch = epoch
	clear(s.Gone)
	clear(s.Done)
	s.stretch()
}

// Resume goes on where counters stood.
func (s *Shares) Resume(epoch int32, given []int64, gone, done []bool) {
	s.Begin(epoch)
	copy(s.Gone, gone)
	copy(s.Done, done)
	s.stretch()
	copy(s.Given, given)
	for i := range s.Given {
		if s.Gone[i] {
			s.Given[i] = 0
		}
		s.n += s.Given[i]
	}
	for i := range s.due { // may wrap on the way: the result is below the sum of the weights
		if !s.Gone[i] {
			s.due[i] = s.n*s.weights[i] - s.Given[i]*s.sum
		}
	}
}

// stretch begins to count anew, for the inputs that are left.
func (s *Shares) stretch() {
	s.n, s.sum, s.live = 0, 0, 0
	for i, w := range s.weights {
		s.Given[i], s.due[i] = 0, 0
		if !s.Gone[i] {
			s.sum += w
			s.live++
		}
	}
}

// Drop takes an input out of the rest of the epoch. The others then share among themselves, by their weights.
func (s *Shares) Drop(i int) {
	s.Gone[i] = true
	s.stretch()
}

// Left is how many inputs take part.
func (s *Shares) Left() int { return int(s.live) }

// Next is the input that gives the next output; some input must take part.
func (s *Shares) Next() int {
	best := -1
	for i, w := range s.weights {
		if s.Gone[i] || s.live > 1 && (s.due[i]+w)*(2*s.live-2) < s.sum {
			continue
		}
		if best < 0 || s.sooner(i, best) {
			best = i
		}
	}
	return best
}

// sooner says that input i must give an item before input j must.
func (s *Shares) sooner(i, j int) bool {
	ahi, alo := bits.Mul64(s.slack(i), uint64(s.weights[j]))
	bhi, blo := bits.Mul64(s.slack(j), uint64(s.weights[i]))
	if ahi != bhi || alo != blo {
		return ahi < bhi || ahi == bhi && alo < blo
	}
	return s.lot(i) < s.lot(j)
}

// slack over the weight is the number of outputs for which an input can still wait, scaled.
func (s *Shares) slack(i int) uint64 { return uint64(s.sum*(2*s.live-3) - (2*s.live-2)*s.due[i]) }

// lot decides between inputs that are equally due.
func (s *Shares) lot(i int) uint64 {
	z := s.key ^ uint64(s.Epoch)<<40 ^ uint64(s.n)*0x9E3779B97F4A7C15 ^ uint64(i+1)*0xD1B54A32D192ED03
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Took counts an output of input i.
func (s *Shares) Took(i int) {
	s.n++
	s.Given[i]++
	for j, w := range s.weights {
		if !s.Gone[j] {
			s.due[j] += w
		}
	}
	s.due[i] -= s.sum
}
