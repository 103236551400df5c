// Command godecode is the counterpart of cdecode.c: package jpeg decoding pictures from memory to RGB, one thread.
//
// usage: godecode LIST     LIST: lines of "path x y w h", a picture and a crop of it
//
// It reads a mode a line from standard input, decodes all pictures once, and answers with the milliseconds of thread CPU
// time a picture. Modes: whole; crop; rows, grid (a crop, with an index of row starts, or of row starts and some columns);
// make-rows, make-grid (the whole, making the index); eighth; fresh (the whole, nothing kept from the last picture's
// tables); std (image/jpeg). "sizes" answers with the mean bytes of the two indexes.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"log"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/penstock-go/penstock/stages/jpeg"
)

type picture struct {
	data       []byte
	info       jpeg.Info
	crop       image.Rectangle
	rows, grid jpeg.Index
}

func main() {
	runtime.LockOSThread()
	debug.SetGCPercent(800)
	ps := load(os.Args[1])
	buf := make([]byte, 4096*4096*3)
	var d jpeg.Decoder
	var mk jpeg.Index
	for _, p := range ps {
		d.Decode(buf, p.data, jpeg.Options{MakeIndex: &p.rows})
		d.Decode(buf, p.data, jpeg.Options{MakeIndex: &p.grid, IndexCols: columns(p)})
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		mode := in.Text()
		if mode == "sizes" {
			r, g := 0, 0
			for _, p := range ps {
				r, g = r+len(p.rows), g+len(p.grid)
			}
			fmt.Println(r/len(ps), g/len(ps))
			continue
		}
		t := threadTime()
		for _, p := range ps {
			if err := run(&d, buf, p, mode, &mk); err != nil {
				log.Fatal(err)
			}
		}
		fmt.Printf("%.6f\n", (threadTime()-t)*1e3/float64(len(ps)))
	}
}

// columns spaces grid entries so that a picture has about four a row.
func columns(p *picture) int {
	mcus := (p.info.Width + 8*p.info.Sampling[0][0] - 1) / (8 * p.info.Sampling[0][0])
	return max(mcus/4, 1)
}

func run(d *jpeg.Decoder, buf []byte, p *picture, mode string, mk *jpeg.Index) error {
	var opt jpeg.Options
	switch mode {
	case "whole":
	case "fresh":
		*d = jpeg.Decoder{}
	case "crop":
		opt.Region = p.crop
	case "rows":
		opt.Region, opt.Index = p.crop, p.rows
	case "grid":
		opt.Region, opt.Index = p.crop, p.grid
	case "make-rows":
		opt.MakeIndex = mk
	case "make-grid":
		opt.MakeIndex, opt.IndexCols = mk, columns(p)
	case "eighth":
		opt.Scale = 8
	case "std":
		_, err := stdjpeg.Decode(bytes.NewReader(p.data))
		return err
	default:
		return fmt.Errorf("no mode %q", mode)
	}
	_, err := d.Decode(buf, p.data, opt)
	return err
}

func load(list string) []*picture {
	text, err := os.ReadFile(list)
	if err != nil {
		log.Fatal(err)
	}
	var ps []*picture
	for l := range bytes.Lines(text) {
		var path string
		var x, y, w, h int
		if _, err := fmt.Sscan(string(l), &path, &x, &y, &w, &h); err != nil {
			log.Fatal(err)
		}
		p := &picture{crop: image.Rect(x, y, x+w, y+h)}
		if p.data, err = os.ReadFile(path); err != nil {
			log.Fatal(err)
		}
		if p.info, err = jpeg.Header(p.data); err != nil {
			log.Fatal(path, ": ", err)
		}
		ps = append(ps, p)
	}
	return ps
}
