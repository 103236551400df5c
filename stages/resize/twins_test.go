package resize

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// mark is a byte that a kernel must not write.
const mark = 0xa5

// board is a destination of j's size inside a larger picture of marks.
func board(j Job, channels int) (all, part View) {
	w, h := j.Width+7, j.Height+2
	all = Packed(bytes.Repeat([]byte{mark}, w*h*channels), w, h, channels)
	return all, all.Crop(3, 1, j.Width, j.Height)
}

// random is a picture of noise, of blacks and whites, or of slopes.
func random(r *rand.Rand, w, h, channels int) View {
	stride := w*channels + r.Intn(2)*r.Intn(40)
	v := View{make([]byte, (h-1)*stride+w*channels), w, h, stride, channels} // not a byte behind the last pixel
	kind := r.Intn(4)
	for i := range v.Pix {
		switch kind {
		case 0:
			v.Pix[i] = byte(r.Intn(256))
		case 1:
			v.Pix[i] = byte(255 * r.Intn(2))
		case 2:
			v.Pix[i] = 255
		default:
			v.Pix[i] = byte(i)
		}
	}
	return v
}

// twins does a job with the kernels and with the Go forms, into bytes and floats, and wants the same.
func twins(t require.TestingT, fast, plain *Scaler, src Region, j Job) {
	n := src.Channels
	all, to := board(j, n)
	fast.Bytes(to, src, j)
	all2, to2 := board(j, n)
	plain.Bytes(to2, src, j)
	require.True(t, bytes.Equal(all2.Pix, all.Pix), "%+v of %d channels, stride %d: %s", j, n, src.Stride, difference(all2.Pix, all.Pix))

	tables := make([][256]float32, n)
	for c := range tables {
		for v := range tables[c] {
			tables[c][v] = float32(1000*c + v)
		}
	}
	for _, t2 := range []*Tables{Lookup(tables), imagenetOf(n)} {
		floats, floats2 := make([]float32, n*j.Width*j.Height), make([]float32, n*j.Width*j.Height)
		fast.Floats(floats, src, j, t2)
		plain.Floats(floats2, src, j, t2)
		for i := range floats {
			c, at := i/(j.Width*j.Height), i%(j.Width*j.Height)
			want := t2.at(c)[to2.row(at / j.Width)[at%j.Width*n+c]]
			if floats[i] != want || floats2[i] != want {
				require.Fail(t, "floats", "%+v of %d channels, number %d: kernels %v, go %v, bytes %v", j, n, i, floats[i], floats2[i], want)
			}
		}
	}
}

func imagenetOf(channels int) *Tables {
	if channels == 3 {
		return imagenet()
	}
	return Normal([]float64{0.45}, []float64{0.22})
}

// length draws one that has its own end of a kernel's row: 1 to 70, or longer.
func length(r *rand.Rand, long int) int {
	if r.Intn(4) == 0 {
		return 1 + r.Intn(long)
	}
	return 1 + r.Intn(70)
}

func TestKernelsEqualTheirTwinsOnAnyPicture(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	r := rand.New(rand.NewSource(2))
	var fast Scaler
	plain := Scaler{plain: true}
	for range 600 {
		n := []int{3, 3, 3, 1, 2, 4, 5}[r.Intn(7)]
		v := random(r, length(r, 700), length(r, 300), n)
		src := v.At(r.Intn(100), r.Intn(100))
		w, h := 1+r.Intn(v.Width), 1+r.Intn(v.Height)
		if r.Intn(3) == 0 {
			w, h = v.Width, v.Height
		}
		j := Job{Box{src.X + r.Intn(v.Width-w+1), src.Y + r.Intn(v.Height-h+1), w, h}, length(r, 120), length(r, 120), r.Intn(2) == 0}
		switch r.Intn(8) {
		case 0:
			j.Width = w
		case 1:
			j.Height = h
		case 2: // a fiftieth
			j.Width, j.Height = max(1, w/50), max(1, h/50)
		}
		twins(t, &fast, &plain, src, j)
	}
}

// Every end of a row of every kernel: results of 1 to 40 columns, by 2, 4, 8 and more taps.
func TestKernelsEqualTheirTwinsAtEveryWidth(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	r := rand.New(rand.NewSource(3))
	var fast Scaler
	plain := Scaler{plain: true}
	for n := 1; n <= 4; n++ {
		for w := 1; w <= 40; w++ {
			for _, scale := range []float64{0.4, 1, 1.5, 3, 5, 9, 50} {
				src := random(r, max(1, int(float64(w)*scale)), max(1, int(5*scale)), n)
				twins(t, &fast, &plain, src.At(0, 0), Job{Box{0, 0, src.Width, src.Height}, w, 1 + r.Intn(9), w%2 == 0})
			}
		}
	}
}

func TestKernelsMakeTheWeightsOfTheirTwins(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	r := rand.New(rand.NewSource(9))
	for i := range 1000 {
		out := 1 + r.Intn(300)
		s := sizes{in: 1 + r.Intn(2*out), out: out, channels: r.Intn(5), mirror: r.Intn(2) == 0}
		switch i % 40 {
		case 0, 1, 2, 3:
			s.in = out * (1 + i%2)
		case 4:
			s.out = 1 + r.Intn(70_000) // rounding errors of large numbers
			s.in = 1 + r.Intn(2*s.out)
		}
		fast, plain := filter{sizes: s}, filter{sizes: s}
		fast.make(true)
		plain.make(false)
		require.Equal(t, plain.most, fast.most, s)
		require.True(t, slices.Equal(plain.start, fast.start), s)
		require.True(t, slices.Equal(plain.count, fast.count), s)
		plain.pack(false)
		for i := range s.out {
			_, want := plain.at(i)
			_, got := fast.at(i)
			require.True(t, slices.Equal(want, got), "%+v, position %d: %v, %v", s, i, want, got)
		}
		if plain.pairs == fast.pairs { // of a few pixels the kernel keeps two pairs where one would do
			require.True(t, slices.Equal(plain.packed, fast.packed), s)
		}
	}
}

func FuzzKernelsEqualTheirTwins(f *testing.F) {
	f.Add(uint16(50), uint16(37), uint8(3), uint16(4), uint16(5), uint16(30), uint16(31), uint16(22), uint16(22), true, []byte("pixels"))
	f.Add(uint16(1), uint16(200), uint8(1), uint16(0), uint16(0), uint16(1), uint16(200), uint16(40), uint16(3), false, []byte{255, 0})
	f.Fuzz(func(t *testing.T, w, h uint16, n uint8, x, y, bw, bh, ow, oh uint16, flip bool, pix []byte) {
		in := func(v uint16, low, high int) int { return low + int(v)%(high-low+1) }
		v := View{Width: in(w, 1, 400), Height: in(h, 1, 200), Channels: 1 + int(n)%5}
		v.Stride = v.Width*v.Channels + int(n)/5
		v.Pix = make([]byte, (v.Height-1)*v.Stride+v.Width*v.Channels)
		for i := range v.Pix {
			v.Pix[i] = byte(i*i>>3 + i)
			if len(pix) > 0 {
				v.Pix[i] = pix[(i+i/len(pix))%len(pix)]
			}
		}
		b := Box{X: in(x, 0, v.Width-1), Y: in(y, 0, v.Height-1)}
		b.W, b.H = in(bw, 1, v.Width-b.X), in(bh, 1, v.Height-b.Y)
		twins(t, &Scaler{}, &Scaler{plain: true}, v.At(0, 0), Job{b, in(ow, 1, 100), in(oh, 1, 60), flip})
	})
}
