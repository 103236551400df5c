package meter

import (
	"math/bits"
	"sync/atomic"
)

// Histogram counts times in buckets, 16 of equal width an octave, and keeps the largest time of each bucket, so that
// percentiles are exact where all times of a bucket are equal, as in virtual time, and else at most 6.25 % too high.
type Histogram struct {
	count, sum, max atomic.Int64
	buckets         [nbuckets]bucket
}

type bucket struct{ count, max atomic.Int64 }

const (
	subBits  = 4
	nbuckets = (64 - subBits) << subBits
)

func bucketOf(v int64) int {
	if v < 1<<subBits {
		return int(v)
	}
	e := bits.Len64(uint64(v)) - 1 - subBits
	return (e+1)<<subBits + int(v>>e)&(1<<subBits-1)
}

// Add counts n times of v each.
func (h *Histogram) Add(v, n int64) {
	if n <= 0 {
		return
	}
	v = max(v, 0)
	h.count.Add(n)
	h.sum.Add(v * n)
	raise(&h.max, v)
	b := &h.buckets[bucketOf(v)]
	b.count.Add(n)
	raise(&b.max, v)
}

func raise(m *atomic.Int64, v int64) {
	for {
		old := m.Load()
		if v <= old || m.CompareAndSwap(old, v) {
			return
		}
	}
}

// Summary is a histogram's reading.
type Summary struct {
	Count, Sum, P50, P95, P99, Max int64
	Buckets                        []Bucket // that hold something, lowest first
}

// Bucket is a count of times and the largest of them.
type Bucket struct{ Upto, Count int64 }

// Read takes a summary. Called while others add, it may miss their last times.
func (h *Histogram) Read() Summary {
	s := Summary{Sum: h.sum.Load(), Max: h.max.Load()}
	var counts [nbuckets]int64
	for i := range h.buckets {
		if counts[i] = h.buckets[i].count.Load(); counts[i] > 0 {
			s.Count += counts[i]
			s.Buckets = append(s.Buckets, Bucket{h.buckets[i].max.Load(), counts[i]})
		}
	}
	at := func(num, den int64) int64 {
		rank, seen := (s.Count*num+den-1)/den, int64(0)
		for i, c := range counts {
			if seen += c; seen >= rank && c > 0 {
				return h.buckets[i].max.Load()
			}
		}
		return 0
	}
	s.P50, s.P95, s.P99 = at(50, 100), at(95, 100), at(99, 100)
	return s
}
