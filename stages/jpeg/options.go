package jpeg

import "image"

// Options say what a decode is to make. The zero value makes the whole picture as RGB in its own size.
type Options struct {
	// Region is the wanted part in pixels of the stored picture, before orientation. Empty: all of it.
	Region image.Rectangle
	// Scale is 1, 2, 4 or 8 (0 is 1): the output is that much smaller each way. Output pixels are those of the whole
	// scaled picture, from Region.Min/Scale rounded down to Region.Max/Scale rounded up.
	Scale int
	// Grey makes one byte a pixel: Y of YCbCr pictures; 0.299 R + 0.587 G + 0.114 B of others.
	Grey bool
	// Stride is the distance in bytes between rows of the output. 0: rows follow each other.
	Stride int
	// Lenient decodes what it can of a damaged picture. See the package comment.
	Lenient bool

	// MaxPixels refuses larger pictures before memory is taken. 0: DefaultMaxPixels.
	MaxPixels int
	// MaxScans refuses pictures of more scans. 0: DefaultMaxScans.
	MaxScans int

	// Index of this very data, made by an earlier decode, lets decoding start near Region. Empty: none.
	Index Index
	// MakeIndex, where not nil, receives an index in the memory it has. All rows are then read, whatever the region.
	// It comes back empty for pictures that cannot have one: progressive, several scans, not whole, or with stuffing
	// of a kind that is allowed and never seen.
	MakeIndex *Index
	// IndexRows and IndexCols are the MCU rows and columns between entries. 0 rows is 1; 0 columns: row starts only.
	// A row costs 11 bytes (3 components) for each entry.
	IndexRows, IndexCols int
}

// Default limits.
const (
	DefaultMaxPixels = 100_000_000
	DefaultMaxScans  = 64
)

// Result tells what a decode made.
type Result struct {
	Width, Height int   // of the output
	Whole         bool  // false only in a lenient decode that met damage
	Damage        error // the first damage met by a lenient decode
}

// OutputSize gives the width and height in pixels of what a decode with these options makes: 0, 0 where the options
// do not fit the picture.
func (i Info) OutputSize(o Options) (w, h int) {
	a, err := o.area(i.Width, i.Height)
	if err != nil {
		return 0, 0
	}
	return a.w, a.h
}

// area gives the output rectangle in the scaled picture.
func (o *Options) area(width, height int) (area, error) {
	s := max(o.Scale, 1)
	if s > 8 || s&(s-1) != 0 || o.Scale < 0 {
		return area{}, fail(ErrUsage, -1, "scale %d, wanted 1, 2, 4 or 8", o.Scale)
	}
	r := o.Region
	whole := image.Rect(0, 0, width, height)
	if r == (image.Rectangle{}) {
		r = whole
	}
	if r.Empty() || !r.In(whole) {
		return area{}, fail(ErrUsage, -1, "region %v does not lie in the picture of %dx%d", r, width, height)
	}
	a := area{x: r.Min.X / s, y: r.Min.Y / s}
	a.w, a.h = ceilDiv(r.Max.X, s)-a.x, ceilDiv(r.Max.Y, s)-a.y
	return a, nil
}

// stride checks the destination and gives the distance between rows.
func (o *Options) stride(dst []byte, a area) (int, error) {
	row := 3 * a.w
	if o.Grey {
		row = a.w
	}
	s := o.Stride
	if s == 0 {
		s = row
	}
	if s < row {
		return 0, fail(ErrUsage, -1, "stride %d, wanted %d or more", s, row)
	}
	// divided, not multiplied: a stride may be anything
	if len(dst) < row || a.h > 1 && (len(dst)-row)/(a.h-1) < s {
		return 0, fail(ErrUsage, -1, "destination of %d bytes, wanted %d rows of %d, %d apart", len(dst), a.h, row, s)
	}
	return s, nil
}
