package meter

import "slices"

// Buckets is the most that a series has. It has at least half as many once it was full.
const Buckets = 128

// firstWidth is how long a bucket is at first: a millisecond.
const firstWidth = 1_000_000

// Series keeps several sums over time, in buckets of equal length. When time runs beyond the last bucket each two become
// one of twice the length, so the memory is fixed and no sum is lost. The owner sees to it that one at a time uses it.
type Series struct {
	n     int // sums
	most  bool
	width int64
	cells []int64 // bucket by bucket

	at, lo, hi int64 // the bucket used last, and its times
}

// NewSeries makes a series of n sums; with most it keeps the largest value of each bucket instead.
func NewSeries(n int, most bool) *Series {
	return &Series{n: n, most: most, width: firstWidth, cells: make([]int64, n*Buckets), hi: firstWidth}
}

// seek finds the bucket of a time.
func (s *Series) seek(t int64) {
	if t >= s.lo && t < s.hi {
		return
	}
	t = max(t, 0)
	for t >= Buckets*s.width {
		s.fold()
	}
	s.at = t / s.width
	s.lo = s.at * s.width
	s.hi = s.lo + s.width
}

// fold makes one bucket of each two.
func (s *Series) fold() {
	for i := range s.cells {
		v, to := s.cells[i], i/s.n/2*s.n+i%s.n
		if s.cells[i] = 0; s.most {
			s.cells[to] = max(s.cells[to], v)
		} else {
			s.cells[to] += v
		}
	}
	s.width *= 2
}

// Spread adds weight for each nanosecond of [from, to) to a sum, and says where the bucket of to ends.
func (s *Series) Spread(sum int, from, to, weight int64) (edge int64) {
	s.seek(max(from, to)) // so that it is folded once
	for from < to {
		s.seek(from)
		end := min(to, s.hi)
		s.cells[int(s.at)*s.n+sum] += (end - from) * weight
		from = end
	}
	s.seek(to)
	return s.hi
}

// Add adds to a sum at a time.
func (s *Series) Add(sum int, t, v int64) {
	s.seek(t)
	s.cells[int(s.at)*s.n+sum] += v
}

// Raise notes a value at a time.
func (s *Series) Raise(sum int, t, v int64) {
	s.seek(t)
	c := &s.cells[int(s.at)*s.n+sum]
	*c = max(*c, v)
}

// Copy is a series of its own.
func (s *Series) Copy() *Series {
	c := *s
	c.cells = slices.Clone(s.cells)
	return &c
}

// Widen makes buckets of at least width, and such that time now lies in one.
func (s *Series) Widen(width, now int64) {
	for s.lo, s.hi = 0, 0; s.width < width || now > Buckets*s.width; {
		s.fold()
	}
}

// Width is the length of a bucket.
func (s *Series) Width() int64 { return s.width }

// Line is a sum bucket by bucket, up to the time now.
func (s *Series) Line(sum int, now int64) []int64 {
	out := make([]int64, min(Buckets, (now+s.width-1)/s.width))
	for i := range out {
		out[i] = s.cells[i*s.n+sum]
	}
	return out
}
