//go:build unix

// Command resize scales random crops of one picture and prints the microseconds of CPU that each took:
//
//	resize bytes|floats|lookup|copy WIDTH HEIGHT COUNT
//
// It makes the same crops as pillow.py. copy is the limit: the source's box and the floats of the result, copied.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"syscall"

	"github.com/penstock-go/penstock/stages/resize"
)

const side = 224

// jobs are 64 crops of 8 to 100 % of the area, of any proportions from 3:4 to 4:3; pillow.py has the same arithmetic.
func jobs(w, h int) []resize.Job {
	x := uint32(1)
	draw := func(n int) int {
		x = x*1664525 + 1013904223
		return int(uint64(x) * uint64(n) >> 32)
	}
	var list []resize.Job
	for len(list) < 64 {
		bw, bh := 1+draw(w), 1+draw(h)
		bx, by, flip := draw(w-bw+1), draw(h-bh+1), draw(2) == 1
		if 100*bw*bh >= 8*w*h && 4*bw >= 3*bh && 3*bw <= 4*bh {
			list = append(list, resize.Job{Box: resize.Box{X: bx, Y: by, W: bw, H: bh}, Width: side, Height: side, Flip: flip})
		}
	}
	return list
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1000
}

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: resize bytes|floats|lookup|copy WIDTH HEIGHT COUNT")
	}
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(os.Args[2+i]); err != nil || n[i] < 1 {
			log.Fatalf("wrong number %q", os.Args[2+i])
		}
	}
	do := work(os.Args[1], n[0], n[1])
	list := jobs(n[0], n[1])
	for _, j := range list {
		do(j)
	}
	begin := cpu()
	for i := range n[2] {
		do(list[i%len(list)])
	}
	fmt.Printf("%.1f\n", (cpu()-begin)/float64(n[2]))
}

func work(mode string, w, h int) func(resize.Job) {
	src := resize.Packed(make([]byte, 3*w*h), w, h, 3)
	for i := range src.Pix {
		src.Pix[i] = byte(i * 2654435761 >> 13)
	}
	var s resize.Scaler
	floats, out := make([]float32, 3*side*side), resize.Packed(make([]byte, 3*side*side), side, side, 3)
	tables := resize.Normal([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225})
	var squares [256]float32
	for i := range squares {
		squares[i] = float32(i * i)
	}
	lookup := resize.Lookup([][256]float32{squares})
	to, zeros := make([]byte, len(src.Pix)), make([]float32, len(floats))
	modes := map[string]func(resize.Job){
		"bytes":  func(j resize.Job) { s.Bytes(out, src.At(0, 0), j) },
		"floats": func(j resize.Job) { s.Floats(floats, src.At(0, 0), j, tables) },
		"lookup": func(j resize.Job) { s.Floats(floats, src.At(0, 0), j, lookup) },
		"copy": func(j resize.Job) {
			for y := j.Box.Y; y < j.Box.Y+j.Box.H; y++ {
				at := y*src.Stride + 3*j.Box.X
				copy(to[at:at+3*j.Box.W], src.Pix[at:])
			}
			copy(floats, zeros)
		},
	}
	do := modes[mode]
	if do == nil {
		log.Fatalf("no mode %q", mode)
	}
	return do
}
