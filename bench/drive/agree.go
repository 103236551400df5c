package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
)

// check is a comparison of outputs, with what it found.
type check struct {
	What  string `json:"what"`
	Found string `json:"found"`
	OK    bool   `json:"ok"`
}

// rows are the float32 pictures that a side wrote, N × 3 × size × size.
type rows struct {
	n, size int
	data    []float32
	labels  []int64
}

func (r rows) plane(row, channel int) []float32 {
	p := r.size * r.size
	return r.data[(row*3+channel)*p : (row*3+channel+1)*p]
}

// dump lets a side write the pictures of one pass to a file and reads them.
func dump(c contender, more command) (rows, error) {
	f, err := os.CreateTemp("", "bench-rows-*")
	if err != nil {
		return rows{}, err
	}
	f.Close()
	defer os.Remove(f.Name())
	ask := command{}
	for _, from := range []command{c.ask, more, {"do": "dump", "out": f.Name(), "epochs": 1}} {
		for k, v := range from {
			ask[k] = v
		}
	}
	p, err := c.run(ask, false)
	if err != nil {
		return rows{}, err
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		return rows{}, err
	}
	return parse(c.name, p.answer, data)
}

// parse checks count, dtype and layout.
func parse(name string, a answer, data []byte) (rows, error) {
	if a.DType != "float32" || len(a.Shape) != 4 || a.Shape[1] != 3 || a.Shape[2] != a.Shape[3] {
		return rows{}, fmt.Errorf("%s gives batches of %s %v, wanted float32 [n 3 size size]", name, a.DType, a.Shape)
	}
	r := rows{n: int(a.Items), size: a.Shape[2], labels: a.Labels}
	if want := r.n * 3 * r.size * r.size * 4; len(data) != want || len(a.Labels) != r.n {
		return rows{}, fmt.Errorf("%s wrote %d bytes and %d labels for %d pictures, wanted %d bytes", name, len(data), len(a.Labels), r.n, want)
	}
	r.data = make([]float32, len(data)/4)
	for i := range r.data {
		r.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return r, nil
}

// level is how far apart two neighbouring values of a byte are, after normalizing.
var level = [3]float64{1 / 255. / .229, 1 / 255. / .224, 1 / 255. / .225}

// samePixels compares pictures that must be equal, in order: those of the same files, of one crop that leaves no choice.
// Decoders and resizes round differently, so a small part of the values may be more than a level apart.
func samePixels(a, b rows) check {
	c := check{What: "pixels and order of 64 pictures, middle crop"}
	if a.n != b.n || a.size != b.size || !slices.Equal(a.labels, b.labels) {
		c.Found = fmt.Sprintf("%d and %d pictures of %d and %d pixels; labels equal: %v", a.n, b.n, a.size, b.size, slices.Equal(a.labels, b.labels))
		return c
	}
	apart, sum, worst := 0, 0.0, 0.0
	for row := range a.n {
		for ch := range 3 {
			x, y := a.plane(row, ch), b.plane(row, ch)
			for i := range x {
				d := math.Abs(float64(x[i]-y[i])) / level[ch]
				sum += d
				if worst = max(worst, d); d > 1.01 {
					apart++
				}
			}
		}
	}
	share := float64(apart) / float64(len(a.data))
	mean := sum / float64(len(a.data))
	c.OK = share <= 0.001 && mean <= 0.6
	c.Found = fmt.Sprintf("mean difference %.3f levels of 255, %.4f %% of the values more than one apart, most %.0f", mean, 100*share, worst)
	return c
}

// allOnce checks that an epoch gave every sample of a folder, in whatever order: the count, and how often each label comes.
func allOnce(got, want []int64) check {
	a, b := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	return check{
		What:  "every sample once",
		Found: fmt.Sprintf("%d samples of %d, labels as often as they must be: %v", len(a), len(b), slices.Equal(a, b)),
		OK:    len(a) > 0 && slices.Equal(a, b),
	}
}
