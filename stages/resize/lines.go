package resize

import "fmt"

const (
	maxChannels = 4  // that the kernels know
	spare       = 16 // bytes that the kernel of the first pass may write behind a row
)

// pass is a job under way. A nil filter stands for a pass that changes nothing.
type pass struct {
	src           View
	across, down  *filter
	width, height int // of the result, in bytes and rows
	kernels       bool
	first         bool // kernels for the first pass, which needs four positions and few channels
	second        bool // and for the second
}

// lines is a moving window of the rows that the first pass has made: rows lo to hi of the source.
type lines struct {
	buf    []byte
	stride int
	rows   int // room
	lo, hi int
	edge   []byte // two source rows with room behind them
}

func (s *Scaler) prepare(src Region, j Job) pass {
	src.check("source")
	if j.Width < 1 || j.Height < 1 {
		panic(fmt.Sprintf("resize: a result of %d×%d", j.Width, j.Height))
	}
	n := src.Channels
	p := pass{src: src.Crop(j.Box.X-src.X, j.Box.Y-src.Y, j.Box.W, j.Box.H), width: j.Width * n, height: j.Height}
	p.kernels = haveKernels && !s.plain
	if j.Flip || j.Box.W != j.Width {
		p.across = s.across.get(sizes{j.Box.W, j.Width, n, j.Flip})
		p.first = p.kernels && j.Width >= 4 && n <= maxChannels
	}
	most := 1
	if j.Box.H != j.Height {
		p.down = s.down.get(sizes{in: j.Box.H, out: j.Height})
		p.second = p.kernels && p.width >= 32
		most = p.down.most
	}
	l := &s.lines
	l.lo, l.hi = 0, 0
	l.stride = (p.width + spare + 31) &^ 31
	l.rows = min(most+2+max(8, most), j.Box.H+1)
	l.buf = grown(l.buf, (l.rows+2)*l.stride)
	return p
}

// row makes row y of the result, in to or, where that is nil, in memory of the scaler's own, with spare bytes behind it.
func (s *Scaler) row(p *pass, to []byte, y int) []byte {
	l := &s.lines
	if p.down == nil {
		l.need(p, y, y+1)
		if to != nil {
			copy(to, l.from(y))
		}
		return l.from(y)
	}
	line := to
	if to == nil {
		line, to = s.line, s.line[:p.width]
	}
	start, end := int(p.down.start[y]), int(p.down.start[y]+p.down.count[y])
	l.need(p, start, end)
	if p.second {
		downRow(to, l.from(start), l.stride, p.down, y)
	} else {
		downGo(to, l.from(start), l.stride, p.down, y)
	}
	return line
}

// from is the memory from row y on.
func (l *lines) from(y int) []byte { return l.buf[(y-l.lo)*l.stride:] }

// need makes the rows up to end, keeping those from start on.
func (l *lines) need(p *pass, start, end int) {
	for l.hi < end {
		if l.hi+2-l.lo > l.rows+1 {
			copy(l.buf, l.from(start)[:(l.hi-start)*l.stride])
			l.lo = start
		}
		l.two(p)
	}
}

// two makes the next two rows; behind the last of an odd number it comes again.
func (l *lines) two(p *pass) {
	to := l.from(l.hi)
	y, z := l.hi, min(l.hi+1, p.src.Height-1)
	l.hi = z + 1
	switch {
	case p.across == nil:
		copy(to, p.src.row(y))
		copy(to[l.stride:], p.src.row(z))
	case p.first:
		n := p.across.span
		l.edge = grown(l.edge, 2*n)
		acrossRows(to, to[l.stride:], l.whole(p.src, y, l.edge[:n]), l.whole(p.src, z, l.edge[n:]), p.across)
	default:
		acrossGo(to, to[l.stride:], p.src.row(y), p.src.row(z), p.across)
	}
}

// whole is row y with as much memory behind it as fills edge: the last rows are copied there.
func (l *lines) whole(src View, y int, edge []byte) []byte {
	if at := y * src.Stride; at+len(edge) <= len(src.Pix) {
		return src.Pix[at:]
	}
	copy(edge, src.row(y))
	return edge
}

func panicSize(dst View, src Region, j Job) {
	panic(fmt.Sprintf("resize: a job of %d×%d of %d channels into %d×%d of %d", j.Width, j.Height, src.Channels, dst.Width,
		dst.Height, dst.Channels))
}

func panicFloats(dst []float32, src Region, j Job, t *Tables) {
	panic(fmt.Sprintf("resize: a job of %d×%d of %d channels into %d numbers, with %d tables", j.Width, j.Height,
		src.Channels, len(dst), len(t.values)))
}
