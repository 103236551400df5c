package resize

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// randomJobs are boxes as random_resized_crop draws them.
func randomJobs(w, h, size, n int) []Job {
	r := rand.New(rand.NewSource(1))
	jobs := make([]Job, 0, n)
	for len(jobs) < n {
		area := float64(w*h) * (0.08 + 0.92*r.Float64())
		ratio := math.Exp((2*r.Float64() - 1) * math.Log(4./3))
		bw, bh := int(math.Sqrt(area*ratio)+0.5), int(math.Sqrt(area/ratio)+0.5)
		if bw <= w && bh <= h {
			jobs = append(jobs, Job{Box{r.Intn(w - bw + 1), r.Intn(h - bh + 1), bw, bh}, size, size, r.Intn(2) == 1})
		}
	}
	return jobs
}

func imagenet() *Tables {
	return Normal([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225})
}

// eachForm runs f with the kernels and with the Go forms.
func eachForm(b *testing.B, name string, f func(b *testing.B, s *Scaler)) {
	for _, form := range []string{"avx2", "go"} {
		if form == "avx2" && !haveKernels {
			continue
		}
		b.Run(name+"/"+form, func(b *testing.B) { f(b, &Scaler{plain: form == "go"}) })
	}
}

// One operation is one picture: a random crop to 224×224.
func BenchmarkFloats(b *testing.B) {
	tables := imagenet()
	for _, d := range [][2]int{{500, 375}, {2000, 1500}} {
		src := noise(d[0], d[1], 3).At(0, 0)
		jobs := randomJobs(d[0], d[1], 224, 64)
		for _, slots := range []int{1, 64} {
			dst := make([]float32, slots*3*224*224)
			eachForm(b, fmt.Sprintf("%dx%d/slots=%d", d[0], d[1], slots), func(b *testing.B, s *Scaler) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					s.Floats(dst[i%slots*3*224*224:][:3*224*224], src, jobs[i%len(jobs)], tables)
				}
			})
		}
	}
}

// Tables of other numbers than a normalization's are looked up.
func BenchmarkFloatsLookup(b *testing.B) {
	tables := Lookup(imagenet().values)
	src, dst := noise(500, 375, 3).At(0, 0), make([]float32, 3*224*224)
	jobs := randomJobs(500, 375, 224, 64)
	eachForm(b, "500x375", func(b *testing.B, s *Scaler) {
		for i := 0; b.Loop(); i++ {
			s.Floats(dst, src, jobs[i%len(jobs)], tables)
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	for _, d := range [][2]int{{500, 375}, {2000, 1500}} {
		src, dst := noise(d[0], d[1], 3).At(0, 0), noise(224, 224, 3)
		jobs := randomJobs(d[0], d[1], 224, 64)
		eachForm(b, fmt.Sprintf("%dx%d", d[0], d[1]), func(b *testing.B, s *Scaler) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Bytes(dst, src, jobs[i%len(jobs)])
			}
		})
	}
}

// The limits: a copy of what is read and written.
func BenchmarkCopy(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		slots int
	}{{"bytes of the result", 3 * 224 * 224, 1}, {"floats of the result", 12 * 224 * 224, 1},
		{"floats of 64 results", 12 * 224 * 224, 64}, {"picture of 500x375", 3 * 500 * 375, 1}} {
		b.Run(c.name, func(b *testing.B) {
			src, dst := make([]byte, c.n), make([]byte, c.n*c.slots)
			for i := 0; b.Loop(); i++ {
				copy(dst[i%c.slots*c.n:], src)
			}
		})
	}
}

// The whole of a picture, and sizes that have their own kernels.
func BenchmarkBilinear(b *testing.B) {
	for _, c := range []struct{ w, h, ow, oh int }{
		{500, 375, 224, 224}, {331, 248, 224, 224}, {160, 120, 224, 224}, {2000, 1500, 224, 224}, {500, 375, 341, 256},
	} {
		src, dst := noise(c.w, c.h, 3), noise(c.ow, c.oh, 3)
		eachForm(b, fmt.Sprintf("%dx%d to %dx%d", c.w, c.h, c.ow, c.oh), func(b *testing.B, s *Scaler) {
			for b.Loop() {
				s.Bilinear(dst, src)
			}
		})
	}
}

// The weights of a new size, of which a random crop needs two.
func BenchmarkFilter(b *testing.B) {
	var fs filters
	in := 300
	for b.Loop() {
		fs.get(sizes{in, 224, 3, false})
		if in++; in == 400 {
			in = 300
		}
	}
}
