package resize

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
// belongs to one goroutine; its zero value is ready. Scratch is the rows of the result's width that the second pass needs
// for one row of its own, three times at most; there is no other memory taken once the largest picture has been met.
type Scaler struct {
	across, down filters
	lines        lines
	line         []byte // a row of the result before its look-up
	plain        bool   // tests: the Go forms alone
}

// Bilinear fills dst with src, scaled to dst's size. Source and destination must not overlap and have the same channels.
func (s *Scaler) Bilinear(dst, src View) {
	src.check("source")
	s.Bytes(dst, src.At(0, 0), Job{Box: Box{W: src.Width, H: src.Height}, Width: dst.Width, Height: dst.Height})
}

// Bytes does job j into dst, a picture of the job's size and the source's channels. It must not overlap the source. A job
// whose box is not inside the region panics, and so does a destination of another size.
//
// Cost: see BenchmarkBytes. A picture of 500×375 takes about as long for a random crop to 224×224 as PERCENT.
//
// Method: two passes, across and then down, each a weighted sum over a triangle whose half width is the scale (1 when
// enlarging), with weights of 22 bits and the sum rounded to 8 bits after each pass (Pillow's Resample.c). A pass that
// would change nothing is left out. Rows are made when the second pass needs them, so they are still in the first cache.
// A flip is another order of the weights of the first pass.
func (s *Scaler) Bytes(dst View, src Region, j Job) {
	dst.check("destination")
	if dst.Width != j.Width || dst.Height != j.Height || dst.Channels != src.Channels {
		panicSize(dst, src, j)
	}
	p := s.prepare(src, j)
	for y := range j.Height {
		s.row(&p, dst.row(y), y)
	}
}

// Floats does job j into dst, which holds channels × height × width numbers, channel by channel: each value of the
// scaled picture is looked up in the table of its channel. There is a table for each channel, or one for all.
//
// Otherwise like [Scaler.Bytes]: the numbers are those that it would give, looked up. Cost: see BenchmarkFloats.
func (s *Scaler) Floats(dst []float32, src Region, j Job, t *Tables) {
	if len(dst) != j.Width*j.Height*src.Channels || len(t.values) != src.Channels && len(t.values) != 1 {
		panicFloats(dst, src, j, t)
	}
	p := s.prepare(src, j)
	s.line = grown(s.line, p.width+spare)
	for y := range j.Height {
		p.planes(dst[y*j.Width:], s.row(&p, nil, y), j.Width, t)
	}
}

// planes puts a row of w pixels, and spare bytes behind it, into its places from dst on.
func (p *pass) planes(dst []float32, line []byte, w int, t *Tables) {
	area := w * p.height
	if p.src.Channels != 3 {
		for c := range p.src.Channels {
			planesAny(dst[c*area:][:w], line, t.at(c), c, p.src.Channels)
		}
		return
	}
	red, green, blue := dst[:w], dst[area:][:w], dst[2*area:][:w]
	switch {
	case p.kernels && t.normal != nil && w >= 8:
		normalRow(red, green, blue, line, t.normal)
	case p.kernels && w >= 4:
		planesRow(red, green, blue, line, t)
	default:
		planesGo(red, green, blue, line, t)
	}
}
