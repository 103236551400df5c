package resize

import (
	"fmt"
	"math"
)

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

// Crop is the part of w×h pixels whose upper left one is at (x, y) of v. A part that is not inside panics.
func (v View) Crop(x, y, w, h int) View {
	if x < 0 || y < 0 || w < 1 || h < 1 || x > v.Width-w || y > v.Height-h {
		panic(fmt.Sprintf("resize: crop of %d×%d at (%d, %d) in %d×%d", w, h, x, y, v.Width, v.Height))
	}
	v.Pix = v.Pix[y*v.Stride+x*v.Channels:]
	v.Width, v.Height = w, h
	return v
}

// At says that the view is a region of a larger picture, its upper left pixel at (x, y) there.
func (v View) At(x, y int) Region { return Region{v, x, y} }

func (v View) row(y int) []byte {
	at := y * v.Stride
	return v.Pix[at : at+v.Width*v.Channels : at+v.Width*v.Channels]
}

func (v View) check(what string) {
	if v.Width < 1 || v.Height < 1 || v.Channels < 1 || v.Width > math.MaxInt32/v.Channels || v.Stride < v.Width*v.Channels ||
		len(v.Pix) < v.Width*v.Channels || v.Height-1 > (len(v.Pix)-v.Width*v.Channels)/v.Stride {
		panic(fmt.Sprintf("resize: %s of %d×%d×%d, rows %d apart, in %d bytes", what, v.Width, v.Height, v.Channels,
			v.Stride, len(v.Pix)))
	}
}

// Box is a rectangle of pixels: its upper left one, and its size.
type Box struct{ X, Y, W, H int }

// holds says that all of o is inside.
func (b Box) holds(o Box) bool {
	return o.X >= b.X && o.Y >= b.Y && o.W <= b.W && o.H <= b.H && o.X-b.X <= b.W-o.W && o.Y-b.Y <= b.H-o.H
}

// Region is what is there of a picture: a view, and where its upper left pixel lies in the whole. A view of the whole
// picture is its region at (0, 0).
type Region struct {
	View
	X, Y int
}

// Box is the rectangle that the region covers.
func (r Region) Box() Box { return Box{r.X, r.Y, r.Width, r.Height} }
