package resize

const (
	maxChannels = 4  // that the kernels know
	spare       = 16 // bytes that the kernel of the first pass may write behind a row
)

// pass is a job under way. A nil filter stands for a pass that changes nothing.
type pass struct {
	job          Job
	channels     int
	across, down *filter
	kernels      bool
	first        bool // kernels for the first pass, which needs four positions and few channels
	second       bool // and for the second, which needs 32 bytes

	bytes  View // where the result goes: here, or
	floats []float32
	tables *Tables
	y      int // the next row of it

	band View // the columns of the box in the rows that are there
	top  int  // the box's row that is the first of the band
}

// lines is a moving window of the rows that the first pass has made: rows lo to hi of the box.
type lines struct {
	buf    []byte
	stride int
	rows   int // room
	lo, hi int
	edge   []byte // two source rows with room behind them
}

func (s *Scaler) begin(j Job, channels int) {
	if j.Width < 1 || j.Height < 1 || j.Box.W < 1 || j.Box.H < 1 || channels < 1 {
		panicJob(j, channels)
	}
	p := pass{job: j, channels: channels, kernels: haveKernels && !s.plain}
	s.across.plain, s.down.plain = s.plain, s.plain
	width := j.Width * channels
	if j.Flip || j.Box.W != j.Width {
		p.across = s.across.get(sizes{j.Box.W, j.Width, channels, j.Flip})
		p.first = p.kernels && j.Width >= 4 && channels <= maxChannels
	}
	most := 1
	if j.Box.H != j.Height {
		p.down = s.down.get(sizes{in: j.Box.H, out: j.Height})
		p.second = p.kernels && width >= 32
		most = p.down.most
	}
	s.pass = p
	s.line = grown(s.line, width+spare)
	l := &s.lines
	l.lo, l.hi = 0, 0
	l.stride = (width + spare + 31) &^ 31
	l.rows = min(most+2+max(8, most), j.Box.H+1)
	l.buf = grown(l.buf, (l.rows+2)*l.stride)
}

// rows makes what rows of the result the box's rows up to end allow.
func (s *Scaler) rows(end int) {
	p, l := &s.pass, &s.lines
	for p.y < p.job.Height {
		from, to := p.y, p.y+1
		if p.down != nil {
			from, to = p.down.reach(p.y)
		}
		for l.hi < to {
			if l.hi >= end {
				return
			}
			if l.hi+2-l.lo > l.rows+1 { // keep only what is still needed
				copy(l.buf, l.from(from)[:(l.hi-from)*l.stride])
				l.lo = from
			}
			l.two(p, end)
		}
		s.row(from)
		p.y++
	}
}

// row makes the next row of the result from the lines from start on.
func (s *Scaler) row(start int) {
	p := &s.pass
	lines := s.lines.from(start)
	to := s.line[:p.job.Width*p.channels]
	if p.tables == nil {
		to = p.bytes.row(p.y)
	}
	switch {
	case p.down == nil && p.tables == nil:
		copy(to, lines)
		return
	case p.down == nil:
		p.planes(lines)
		return
	case p.second:
		downRow(to, lines, s.lines.stride, p.down, p.y)
	default:
		downGo(to, lines, s.lines.stride, p.down, p.y)
	}
	if p.tables != nil {
		p.planes(s.line)
	}
}

// planes puts a row of the result, with spare bytes behind it, into its places.
func (p *pass) planes(line []byte) {
	w, t, area := p.job.Width, p.tables, p.job.Width*p.job.Height
	dst := p.floats[p.y*w:]
	if p.channels != 3 {
		for c := range p.channels {
			planesAny(dst[c*area:][:w], line, t.at(c), c, p.channels)
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

// from is the memory from row y on.
func (l *lines) from(y int) []byte { return l.buf[(y-l.lo)*l.stride:] }

// two makes the next two rows; behind the last before end it comes again, and is not counted.
func (l *lines) two(p *pass, end int) {
	to := l.from(l.hi)
	y, z := l.hi-p.top, min(l.hi+1, end-1)-p.top
	l.hi = z + p.top + 1
	switch {
	case p.across == nil:
		copy(to, p.band.row(y))
		copy(to[l.stride:], p.band.row(z))
	case p.first:
		n := p.across.span
		l.edge = grown(l.edge, 2*n)
		acrossRows(to, to[l.stride:], whole(p.band, y, l.edge[:n]), whole(p.band, z, l.edge[n:]), p.across)
	default:
		acrossGo(to, to[l.stride:], p.band.row(y), p.band.row(z), p.across)
	}
}

// whole is row y with as much memory behind it as fills edge: the last rows are copied there.
func whole(v View, y int, edge []byte) []byte {
	if at := y * v.Stride; at+len(edge) <= len(v.Pix) {
		return v.Pix[at:]
	}
	copy(edge, v.row(y))
	return edge
}
