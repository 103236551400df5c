package resize

import "math"

// Weights are integers of this many bits; sums of 8-bit values then fit in 31.
const (
	bits = 22
	half = 1 << (bits - 1)
)

// sizes is what a filter is made for. Channels is 0 in the pass along columns, where a source pixel is a row. Mirror
// puts the last output position first: a flip costs nothing.
type sizes struct {
	in, out, channels int
	mirror            bool
}

// filter holds, for each output position, where its source pixels begin and their weights. It is only read.
type filter struct {
	sizes
	most   int     // the largest number of pixels of one position
	room   int     // of weights, for each position
	start  []int32 // first pixel
	count  []int32 // number of pixels
	weight []int32

	// The same for the kernels.
	pairs  int      // of weights, for each position: 1 or an even number along rows, any number along columns
	span   int      // bytes of a row that a kernel touches
	offset []int32  // first byte
	packed []uint32 // for each pair, the two upper parts and the two lower 8 bits

	scratch []float64
}

// at gives the first source pixel of an output position and the weights from there on.
func (f *filter) at(i int) (start int, weights []int32) {
	return int(f.start[i]), f.weight[i*f.room:][:f.count[i]]
}

// reach gives the source pixels of an output position, from and up to.
func (f *filter) reach(i int) (from, to int) {
	return int(f.start[i]), int(f.start[i] + f.count[i])
}

// filters keeps the last few filters: many data sets have few sizes.
type filters struct {
	kept  [8]*filter
	next  int
	plain bool // make them without kernels
}

func (fs *filters) get(s sizes) *filter {
	for _, f := range fs.kept {
		if f != nil && f.sizes == s {
			return f
		}
	}
	f := fs.kept[fs.next]
	if f == nil {
		f = &filter{}
		fs.kept[fs.next] = f
	}
	fs.next = (fs.next + 1) % len(fs.kept)
	f.sizes = s
	f.make(haveKernels && !fs.plain)
	return f
}

// make computes the weights.
func (f *filter) make(kernels bool) {
	scale := float64(f.in) / float64(f.out)
	support := max(scale, 1)
	taps := int(math.Ceil(2 * support))
	f.room = taps + 4 // the kernels' pairs and groups may end behind it
	f.start, f.count = grown(f.start, f.out), grown(f.count, f.out)
	f.weight = grown(f.weight, f.room*f.out)
	done := kernels && taps <= 4 && f.fewTaps(scale, support, taps)
	if !done {
		f.makeGo(scale, support, taps)
	}
	if kernels {
		f.pack(done)
	}
}

// makeGo computes the weights in double precision, operation by operation as Pillow does. The conversions of products to
// float64 keep compilers from fusing them with the sum that follows, which would give other last bits.
//
// The number of pixels changes from position to position, so a loop of that length would be mispredicted every time:
// taps pixels are always computed, and those that are none are masked.
func (f *filter) makeGo(scale, support float64, taps int) {
	inverse := 1 / support
	f.scratch = grown(f.scratch, f.room)
	clear(f.weight)
	f.most = 1
	for i := range f.out {
		center := float64((float64(i) + 0.5) * scale)
		first := max(int(center-support+0.5), 0)
		n := min(int(center+support+0.5), f.in) - first
		k, sum := f.scratch[:max(taps, n)], 0.0
		for j := range k {
			k[j] = triangle(float64((float64(j+first)-center+0.5)*inverse), j-n)
			sum += k[j]
		}
		if f.mirror {
			i = f.out - 1 - i
		}
		f.start[i], f.count[i], f.most = int32(first), int32(n), max(f.most, n)
		w := f.weight[i*f.room:][:len(k)]
		for j, v := range k {
			w[j] = int32(0.5 + float64(v/sum*(1<<bits))) // the pixel that holds the center has a half at least
		}
		if n > 16_000 {
			keepBelow(w)
		}
	}
}

// triangle is 1-|x| where that is not negative and rest is; else 0.
func triangle(x float64, rest int) float64 {
	y := math.Float64bits(1 - math.Abs(x))
	return math.Float64frombits(y &^ uint64(int64(y)>>63) & uint64(int64(rest)>>63))
}

// keepBelow takes off what rounding may have added to many thousand weights, so that no sum needs clipping: 255 of them
// and a half must stay below 256. Rounding adds half a unit to a weight at most, so there must be more than 16,000.
func keepBelow(w []int32) {
	const limit = (256<<bits - half - 1) / 255
	sum := int32(0)
	for _, v := range w {
		sum += v
	}
	for j := 0; sum > limit && j < len(w); j++ {
		if w[j] > 0 {
			w[j]--
			sum--
		}
	}
}

// pack lays the weights out for the kernels, unless that is done.
func (f *filter) pack(done bool) {
	if !done {
		f.pairs = (f.most + 1) / 2
		if f.channels > 0 && f.pairs > 1 {
			f.pairs = (f.pairs + 1) &^ 1
		}
		f.packed = grown(f.packed, 2*f.pairs*f.out)
		for i := range f.out {
			p := f.packed[2*f.pairs*i:][:2*f.pairs]
			w := f.weight[i*f.room:][:len(p)]
			for j := 0; j+1 < len(p); j += 2 {
				a, b := uint32(w[j]), uint32(w[j+1])
				p[j], p[j+1] = a>>8|b>>8<<16, a&255|b&255<<16
			}
		}
	}
	if f.channels == 0 {
		return
	}
	f.offset = grown(f.offset, f.out)
	for i, v := range f.start {
		f.offset[i] = v * int32(f.channels)
	}
	f.span = int(max(f.offset[0], f.offset[f.out-1])) + 4*f.channels*max(0, f.pairs/2-1) + 16
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
