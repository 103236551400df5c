package resize

import "math"

// Tables hold the number that each value of a channel becomes. They are only read: any number of scalers share them.
type Tables struct {
	values [][256]float32
	normal *[14][8]float32 // what the kernel that computes them needs, if it gives the same
}

// Lookup makes tables of any numbers: one for each channel, or one for all.
func Lookup(values [][256]float32) *Tables { return &Tables{values: values} }

// Normal makes the tables of (v/255 - mean) / std in float32, each operation rounded, as PyTorch's ToTensor and Normalize
// do: a mean and a standard deviation for each channel, or one for all, in units of 0 to 1. No two machines differ. Where
// all 256 results of each channel are the same, rows are computed instead of looked up, which takes half the time.
func Normal(mean, std []float64) *Tables {
	pick := func(l []float64, c int) float32 { return float32(l[min(c, len(l)-1)]) }
	t := &Tables{values: make([][256]float32, max(len(mean), len(std)))}
	for c := range t.values {
		for v := range t.values[c] {
			t.values[c][v] = (float32(v)/255 - pick(mean, c)) / pick(std, c)
		}
	}
	if n := len(t.values); haveFMA && (n == 1 || n == 3) {
		t.compute(func(c int) (float32, float32) { return pick(mean, c), pick(std, c) })
	}
	return t
}

// at is the table of channel c.
func (t *Tables) at(c int) *[256]float32 { return &t.values[min(c, len(t.values)-1)] }

// compute fills in what the kernel needs, and keeps it if the results of all values are those of the tables.
func (t *Tables) compute(of func(c int) (mean, std float32)) {
	var k [14][8]float32
	set := func(i int, v float32) {
		for j := range k[i] {
			k[i][j] = v
		}
	}
	two := func(i, j int, v float32) {
		h := float32(1 / float64(v))
		set(i, h)
		set(j, float32(1/float64(v)-float64(h)))
	}
	two(3, 4, 255)
	for c := range 3 {
		for j := range 8 { // lane by lane: pixels 0 to 3, from 12 bytes on 4 to 7
			k[c][j] = math.Float32frombits(0x80808000 | uint32(3*(j%4)+c))
		}
		mean, std := of(c)
		set(5+c, mean)
		two(8+c, 11+c, std)
	}
	var all [256*3 + spare]byte
	for i := range all {
		all[i] = byte(i / 3)
	}
	var got [3][256]float32
	normalRow(got[0][:], got[1][:], got[2][:], all[:], &k)
	for c := range got {
		for v, x := range got[c] {
			if math.Float32bits(x) != math.Float32bits(t.at(c)[v]) {
				return
			}
		}
	}
	t.normal = &k
}
