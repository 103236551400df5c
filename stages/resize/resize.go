package resize

import "fmt"

// View is a picture, or a part of one, in memory: rows of Width pixels of Channels bytes, Stride bytes apart. It shares
// its memory with whatever it was made of.
type View struct {
	Pix                             []byte
	Width, Height, Stride, Channels int
}

// Packed is a view of pix whose rows follow each other.
func Packed(pix []byte, width, height, channels int) View {
	return View{Pix: pix, Width: width, Height: height, Stride: width * channels, Channels: channels}
}

// Crop is the part of w×h pixels whose upper left one is at (x, y). A part that is not inside panics.
func (v View) Crop(x, y, w, h int) View {
	if x < 0 || y < 0 || w < 1 || h < 1 || x > v.Width-w || y > v.Height-h {
		panic(fmt.Sprintf("resize: crop of %d×%d at (%d, %d) in %d×%d", w, h, x, y, v.Width, v.Height))
	}
	v.Pix = v.Pix[y*v.Stride+x*v.Channels:]
	v.Width, v.Height = w, h
	return v
}

func (v View) row(y int) []byte {
	at := y * v.Stride
	return v.Pix[at : at+v.Width*v.Channels : at+v.Width*v.Channels]
}

func (v View) check(what string) {
	if v.Width < 1 || v.Height < 1 || v.Channels < 1 || v.Stride < v.Width*v.Channels ||
		len(v.Pix) < (v.Height-1)*v.Stride+v.Width*v.Channels {
		panic(fmt.Sprintf("resize: %s of %d×%d×%d, rows %d apart, in %d bytes", what, v.Width, v.Height, v.Channels,
			v.Stride, len(v.Pix)))
	}
}

// Scaler scales pictures one after another and keeps its scratch memory and the coefficients of the last sizes. It
// belongs to one goroutine; its zero value is ready. Scratch is one picture of the output's width and the input's height.
type Scaler struct {
	across, down filters
	middle       []byte
	sums         []int32
}

// Bilinear fills dst with src, scaled to dst's size. Source and destination must not overlap and have the same channels.
// Cost: see BenchmarkBilinear; about 1 ns for each byte of the result and each source pixel that it is made of.
//
// Method: two passes, across and then down, each a weighted sum over a triangle whose half width is the scale (1 when
// enlarging), with weights of 22 bits and the sum rounded to 8 bits after each pass (Pillow's Resample.c). A pass that
// would change nothing is left out.
func (s *Scaler) Bilinear(dst, src View) {
	dst.check("destination")
	src.check("source")
	if dst.Channels != src.Channels {
		panic(fmt.Sprintf("resize: %d channels into %d", src.Channels, dst.Channels))
	}
	switch wide, high := dst.Width != src.Width, dst.Height != src.Height; {
	case wide && high:
		// Only the rows that the second pass reads are made.
		down := s.down.get(src.Height, dst.Height)
		first, end := down.reach()
		middle := s.room(dst.Width, end-first, dst.Channels)
		s.passAcross(middle, src.Crop(0, first, src.Width, end-first))
		s.passDown(dst, middle, down, first)
	case wide:
		s.passAcross(dst, src)
	case high:
		s.passDown(dst, src, s.down.get(src.Height, dst.Height), 0)
	default:
		for y := range dst.Height {
			copy(dst.row(y), src.row(y))
		}
	}
}

func (s *Scaler) room(w, h, channels int) View {
	if n := w * h * channels; cap(s.middle) < n {
		s.middle = make([]byte, n)
	}
	return Packed(s.middle[:w*h*channels], w, h, channels)
}

func (s *Scaler) passAcross(dst, src View) {
	f := s.across.get(src.Width, dst.Width)
	if dst.Channels != 3 {
		for y := range dst.Height {
			acrossAny(dst.row(y), src.row(y), f, dst.Channels)
		}
		return
	}
	for y := 0; y < dst.Height; y += 2 {
		z := min(y+1, dst.Height-1) // the last row of an odd number comes twice
		acrossRGB(dst.row(y), dst.row(z), src.row(y), src.row(z), f)
	}
}

// passDown makes each row of dst of the rows of src; row 0 of src is row first of what f was made for.
func (s *Scaler) passDown(dst, src View, f *filter, first int) {
	n := dst.Width * dst.Channels
	if cap(s.sums) < n {
		s.sums = make([]int32, n)
	}
	for y := range dst.Height {
		start, weights := f.at(y)
		downRow(dst.row(y), src, start-first, weights, s.sums[:n])
	}
}
