package resize

import "fmt"

// Job is what to make of a picture: Box, in pixels of the whole picture, scaled to Width × Height, and Flip to mirror the
// result left to right.
type Job struct {
	Box           Box
	Width, Height int
	Flip          bool
}

// Source is the rectangle of the whole picture that the job reads: every pixel of it and none outside. A decoder need
// not make others; the bytes of the result are the same.
func (j Job) Source() Box { return j.Box }

// Scaler scales pictures one after another and keeps its scratch memory and the coefficients of the last sizes. It
// belongs to one goroutine; its zero value is ready. Scratch is rows of the result's width, two to three times as many as
// one row of the result is made of, and a few; no memory is taken once the largest picture has been met.
type Scaler struct {
	across, down filters
	lines        lines
	line         []byte // a row of the result before its look-up
	pass         pass
	plain        bool // tests: the Go forms alone
}

// Bilinear fills dst with src, scaled to dst's size: [Scaler.Bytes] of a whole picture.
func (s *Scaler) Bilinear(dst, src View) {
	src.check("source")
	s.Bytes(dst, src.At(0, 0), Job{Box: Box{W: src.Width, H: src.Height}, Width: dst.Width, Height: dst.Height})
}

// Bytes does job j into dst, a picture of the job's size and the source's channels. It must not overlap the source. A job
// whose box is not inside the region panics, and so does a destination of another size.
//
// Cost: see BenchmarkBytes. The time grows with the pixels of the box, each of which is read once, less with those of the
// result.
//
// Method: two passes, across and then down, each a weighted sum over a triangle whose half width is the scale (1 when
// enlarging), with weights of 22 bits and the sum rounded to 8 bits after each pass (Pillow's Resample.c). A pass that
// would change nothing is left out. Rows are made when the second pass needs them, so they are still in the first cache.
// A flip is another order of the first pass's weights.
func (s *Scaler) Bytes(dst View, src Region, j Job) {
	s.BeginBytes(dst, j)
	s.all(src)
}

// Floats does job j into dst, which holds channels × height × width numbers, channel by channel: each value of the
// scaled picture becomes the number that t has for it. There is a table for each channel, or one for all.
//
// Otherwise like [Scaler.Bytes]: the numbers are those that its result stands for. Cost: see BenchmarkFloats; those of
// [Normal] take less than others, BenchmarkFloatsLookup.
func (s *Scaler) Floats(dst []float32, src Region, j Job, t *Tables) {
	s.BeginFloats(dst, src.Channels, j, t)
	s.all(src)
}

func (s *Scaler) all(src Region) {
	if !src.Box().holds(s.pass.job.Box) {
		panic(fmt.Sprintf("resize: box %+v in the region %+v", s.pass.job.Box, src.Box()))
	}
	s.Band(src)
}

// BeginBytes and [Scaler.BeginFloats] begin a job whose source comes in bands of rows, from the top. What was begun
// before is given up.
func (s *Scaler) BeginBytes(dst View, j Job) {
	dst.check("destination")
	if dst.Width != j.Width || dst.Height != j.Height {
		panic(fmt.Sprintf("resize: a job of %d×%d into %d×%d", j.Width, j.Height, dst.Width, dst.Height))
	}
	s.begin(j, dst.Channels)
	s.pass.bytes = dst
}

// BeginFloats is [Scaler.BeginBytes] for the result of [Scaler.Floats].
func (s *Scaler) BeginFloats(dst []float32, channels int, j Job, t *Tables) {
	s.begin(j, channels)
	if len(dst) != j.Width*j.Height*channels || len(t.values) != channels && len(t.values) != 1 {
		panic(fmt.Sprintf("resize: a job of %d×%d of %d channels into %d numbers, with %d tables", j.Width, j.Height,
			channels, len(dst), len(t.values)))
	}
	s.pass.floats, s.pass.tables = dst, t
}

// Band goes on with the job begun, by the rows of a region that holds all the box's columns. It makes every row of the
// result that no further source row is needed for, and says whether that was the last. Nothing of the band is kept: a
// decoder may reuse its memory for the next, which begins below it or repeats some of its rows. Rows outside of the box
// are passed over. A band that leaves rows out, or has other channels, panics.
//
// The result does not depend on the bands. Rows are read in pairs: bands of an even number of the box's rows are faster.
func (s *Scaler) Band(src Region) (done bool) {
	p := &s.pass
	b := p.job.Box
	if p.y == p.job.Height {
		return true
	}
	src.check("source")
	top := src.Y - b.Y
	if src.Channels != p.channels || src.X > b.X || src.X+src.Width < b.X+b.W || top > s.lines.hi {
		panic(fmt.Sprintf("resize: a band %+v of %d channels for the rows from %d on of box %+v, %d channels", src.Box(),
			src.Channels, b.Y+s.lines.hi, b, p.channels))
	}
	p.band, p.top = src.View, top
	p.band.Pix = p.band.Pix[(b.X-src.X)*src.Channels:]
	p.band.Width = b.W
	s.rows(min(top+src.Height, b.H))
	p.band = View{}
	if p.y < p.job.Height {
		return false
	}
	p.bytes, p.floats = View{}, nil // nothing is held on to
	return true
}

func panicJob(j Job, channels int) {
	panic(fmt.Sprintf("resize: a job of box %+v to %d×%d, %d channels", j.Box, j.Width, j.Height, channels))
}
