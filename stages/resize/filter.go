package resize

import "math"

// Weights are integers of this many bits; sums of 8-bit values then fit in 31.
const (
	bits = 22
	half = 1 << (bits - 1)
)

// filter holds, for each output position, where its source pixels begin and their weights. It is only read.
type filter struct {
	in, out int
	taps    int     // room for weights of one position
	start   []int32 // two numbers a position: first pixel, number of pixels
	weight  []int32
}

// at gives the first source pixel of an output position and the weights from there on.
func (f *filter) at(i int) (start int, weights []int32) {
	return int(f.start[2*i]), f.weight[i*f.taps : i*f.taps+int(f.start[2*i+1])]
}

// reach is the range of source pixels that all positions together need.
func (f *filter) reach() (first, end int) {
	last := 2 * (f.out - 1)
	return int(f.start[0]), int(f.start[last] + f.start[last+1])
}

// filters keeps the last few filters: many data sets have few sizes.
type filters struct {
	kept [8]*filter
	next int
}

func (fs *filters) get(in, out int) *filter {
	for _, f := range fs.kept {
		if f != nil && f.in == in && f.out == out {
			return f
		}
	}
	f := fs.kept[fs.next]
	if f == nil {
		f = &filter{}
		fs.kept[fs.next] = f
	}
	fs.next = (fs.next + 1) % len(fs.kept)
	f.make(in, out)
	return f
}

// make computes the weights in double precision, operation by operation as Pillow does. The conversions of products to
// float64 keep compilers from fusing them with the sum that follows, which would give other last bits.
func (f *filter) make(in, out int) {
	scale := float64(in) / float64(out)
	support := max(scale, 1)
	inverse := 1 / support
	f.in, f.out = in, out
	f.taps = 2*int(math.Ceil(support)) + 1
	f.start = grown(f.start, 2*out)
	f.weight = grown(f.weight, f.taps*out)
	k := make([]float64, f.taps)
	for i := range out {
		center := float64((float64(i) + 0.5) * scale)
		first := max(int(center-support+0.5), 0)
		n := min(int(center+support+0.5), in) - first
		sum := 0.0
		for j := range n {
			k[j] = triangle(float64((float64(j+first) - center + 0.5) * inverse))
			sum += k[j]
		}
		f.start[2*i], f.start[2*i+1] = int32(first), int32(n)
		w := f.weight[i*f.taps:]
		for j := range n {
			if sum != 0 {
				k[j] /= sum
			}
			w[j] = int32(0.5 + float64(k[j]*(1<<bits)))
		}
		keepBelow(w[:n])
	}
}

// keepBelow takes off what rounding may have added to many thousand weights, so that no sum needs clipping: 255 of them
// and a half must stay below 256. No picture of usual size has that many.
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

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

func grown(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}
