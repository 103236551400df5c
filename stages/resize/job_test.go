package resize

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARegionGivesTheSameAsTheWholePicture(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	whole := random(r, 210, 160, 3)
	var s Scaler
	for range 200 {
		w, h := 1+r.Intn(210), 1+r.Intn(160)
		j := Job{Box{r.Intn(211 - w), r.Intn(161 - h), w, h}, 1 + r.Intn(60), 1 + r.Intn(60), r.Intn(2) == 0}
		want, got := noise(j.Width, j.Height, 3), noise(j.Width, j.Height, 3)
		s.Bytes(want, whole.At(0, 0), j)

		b := j.Source()
		part := random(r, b.W, b.H, 3)
		for y := range b.H {
			copy(part.row(y), whole.Crop(b.X, b.Y, b.W, b.H).row(y))
		}
		region := part.At(b.X, b.Y)
		require.Equal(t, b, region.Box())
		s.Bytes(got, region, j)
		require.True(t, bytes.Equal(want.Pix, got.Pix), "%+v", j)
	}
}

// A decoder that makes a few rows at a time, in the same memory.
func TestBandsGiveTheSameAsTheWholePicture(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	whole := random(r, 130, 160, 3)
	tables := imagenet()
	var s, other Scaler
	for range 300 {
		w, h := 1+r.Intn(130), 1+r.Intn(160)
		j := Job{Box{r.Intn(131 - w), r.Intn(161 - h), w, h}, 1 + r.Intn(60), 1 + r.Intn(60), r.Intn(2) == 0}
		if r.Intn(5) == 0 {
			j.Height = h
		}
		want, got := noise(j.Width, j.Height, 3), noise(j.Width, j.Height, 3)
		s.Bytes(want, whole.At(0, 0), j)
		floats, floats2 := make([]float32, len(want.Pix)), make([]float32, len(want.Pix))
		s.Floats(floats, whole.At(0, 0), j, tables)

		s.BeginBytes(got, j)
		other.BeginFloats(floats2, 3, j, tables)
		memory := make([]byte, 130*32*3)
		most, done := 1+r.Intn(32), false
		for y, n := r.Intn(j.Box.Y+1), 0; y < 160; y += n - min(n-1, r.Intn(4)/3) {
			n = min(most, 160-y)
			band := Packed(memory[:130*n*3], 130, n, 3)
			for i := range n {
				copy(band.row(i), whole.row(y+i))
			}
			done = s.Band(band.At(0, y))
			require.Equal(t, done, other.Band(band.At(0, y)))
			require.Equal(t, y+n >= j.Box.Y+h, done, "rows to %d, %+v", y+n, j)
			for i := range memory {
				memory[i] = mark
			}
		}
		require.True(t, done)
		require.True(t, bytes.Equal(want.Pix, got.Pix), "%+v, bands of %d", j, most)
		require.Equal(t, floats, floats2)
	}
}

func TestAFlipMirrorsTheResult(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	var s Scaler
	for _, n := range []int{1, 3, 4} {
		src := random(r, 61, 47, n)
		for _, size := range [][2]int{{61, 47}, {61, 20}, {30, 47}, {33, 21}, {100, 99}, {1, 1}, {2, 3}} {
			j := Job{Box{0, 0, 61, 47}, size[0], size[1], false}
			plain, flipped := noise(j.Width, j.Height, n), noise(j.Width, j.Height, n)
			s.Bytes(plain, src.At(0, 0), j)
			j.Flip = true
			s.Bytes(flipped, src.At(0, 0), j)
			for y := range j.Height {
				for x := range j.Width {
					require.Equal(t, plain.Crop(x, y, 1, 1).row(0), flipped.Crop(j.Width-1-x, y, 1, 1).row(0), "%v", size)
				}
			}
		}
	}
}

func TestOneTableServesAllChannels(t *testing.T) {
	src := noise(31, 20, 3)
	j := Job{Box{1, 2, 20, 15}, 9, 8, true}
	var s Scaler
	to := noise(9, 8, 3)
	s.Bytes(to, src.At(0, 0), j)
	table := make([][256]float32, 1)
	for v := range table[0] {
		table[0][v] = float32(v) / 4
	}
	got := make([]float32, 9*8*3)
	s.Floats(got, src.At(0, 0), j, Lookup(table))
	for i, v := range got {
		require.Equal(t, float32(to.Pix[i%72*3+i/72])/4, v)
	}
}

func TestJobsThatDoNotFitPanic(t *testing.T) {
	src := noise(10, 8, 3)
	tables := make([][256]float32, 3)
	job := func(change func(*Job)) Job {
		j := Job{Box{5, 5, 4, 4}, 6, 7, false}
		change(&j)
		return j
	}
	var s Scaler
	do := func(dst View, r Region, j Job) func() { return func() { s.Bytes(dst, r, j) } }
	assert.NotPanics(t, do(noise(6, 7, 3), src.At(5, 5), job(func(*Job) {})))
	for name, f := range map[string]func(){
		"left of the region":  do(noise(6, 7, 3), src.At(6, 5), job(func(*Job) {})),
		"below the region":    do(noise(6, 7, 3), src.At(5, 0), job(func(*Job) {})),
		"an empty box":        do(noise(6, 7, 3), src.At(5, 5), job(func(j *Job) { j.Box.H = 0 })),
		"another width":       do(noise(7, 7, 3), src.At(5, 5), job(func(*Job) {})),
		"another height":      do(noise(6, 6, 3), src.At(5, 5), job(func(*Job) {})),
		"other channels":      do(noise(6, 7, 4), src.At(5, 5), job(func(*Job) {})),
		"rows that overlap":   do(noise(6, 7, 3), View{src.Pix, 10, 8, 29, 3}.At(5, 5), job(func(*Job) {})),
		"a result of nothing": func() { s.Floats(nil, src.At(5, 5), job(func(j *Job) { j.Width = 0 }), Lookup(tables)) },
		"too few floats":      func() { s.Floats(make([]float32, 125), src.At(5, 5), job(func(*Job) {}), Lookup(tables)) },
		"a band too low": func() {
			s.BeginBytes(noise(6, 7, 3), job(func(*Job) {}))
			s.Band(src.Crop(0, 0, 10, 2).At(5, 5))
			s.Band(src.Crop(0, 0, 10, 2).At(5, 8))
		},
		"two tables": func() { s.Floats(make([]float32, 126), src.At(5, 5), job(func(*Job) {}), Lookup(tables[:2])) },
	} {
		assert.Panics(t, f, name)
	}
}

func TestRandomCropsTakeNoMemoryOnceTheLargestIsMet(t *testing.T) {
	src := noise(500, 375, 3).At(0, 0)
	jobs, tables := randomJobs(500, 375, 64, 40), imagenet()
	for i := range 16 { // each kept filter meets the largest
		jobs = append(jobs, Job{Box{0, 0, 500 - i, 375 - i}, 64, 64, false})
	}
	dst := make([]float32, 3*64*64)
	var s Scaler
	all := func() {
		for _, j := range jobs {
			s.Floats(dst, src, j, tables)
		}
	}
	all()
	assert.Zero(t, testing.AllocsPerRun(3, all))
}
