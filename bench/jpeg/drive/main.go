// Command drive runs the programs of this folder side by side: every mode of every program once, in turn, for a number of
// runs, and prints the median milliseconds a picture, the spread, and the ratios to libjpeg-turbo within the same run.
//
// usage: drive -c CDECODE -go GODECODE -noasm GODECODE -runs 7 FOLDER
// FOLDER holds small, large, small_prog, large_prog, as pictures.py makes them.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/stages/jpeg"
)

// mode is a row of the table: a program's mode, and the row of libjpeg-turbo it is held against.
type mode struct{ program, name, against string }

var sequential = []mode{
	{"c", "whole", "c whole"}, {"c", "crop", "c whole"}, {"c", "eighth", "c whole"},
	{"go", "whole", "c whole"}, {"go", "make-rows", "go whole"}, {"go", "make-grid", "go whole"}, {"go", "fresh", "c whole"}, {"go", "eighth", "c eighth"},
	{"go", "crop", "c crop"}, {"go", "rows", "c crop"}, {"go", "grid", "c crop"},
	{"noasm", "whole", "c whole"}, {"noasm", "crop", "c crop"}, {"noasm", "rows", "c crop"}, {"noasm", "grid", "c crop"},
	{"go", "std", "c whole"},
}

var progressive = []mode{{"c", "whole", "c whole"}, {"go", "whole", "c whole"}, {"noasm", "whole", "c whole"}, {"c", "crop", "c whole"}, {"go", "crop", "c crop"}}

// program is one of the decoders, running.
type program struct {
	in  *os.File
	out *bufio.Scanner
}

func start(path, list string) *program {
	cmd := exec.Command(path, list)
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	return &program{w, bufio.NewScanner(out)}
}

func (p *program) ask(mode string) string {
	fmt.Fprintln(p.in, mode)
	if !p.out.Scan() {
		log.Fatalf("mode %s: the program ended", mode)
	}
	return p.out.Text()
}

func main() {
	paths := map[string]*string{"c": flag.String("c", "", "cdecode"), "go": flag.String("go", "", "godecode"), "noasm": flag.String("noasm", "", "godecode built with -tags noasm")}
	runs := flag.Int("runs", 7, "runs of every mode")
	only := flag.String("only", "", "sets to measure, separated by commas; all by default")
	few := flag.String("modes", "", "rows to measure, such as \"c whole,go whole\"; all by default")
	flag.Parse()
	for _, set := range []string{"small", "large", "small_prog", "large_prog"} {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), set) {
			continue
		}
		list, head := makeList(flag.Arg(0), set)
		ps := map[string]*program{}
		for k, p := range paths {
			ps[k] = start(*p, list)
		}
		modes := sequential
		if strings.HasSuffix(set, "_prog") {
			modes = progressive
		} else {
			head += ", index bytes of row starts and grid: " + ps["go"].ask("sizes")
		}
		if *few != "" {
			modes = slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return !slices.Contains(strings.Split(*few, ","), m.program+" "+m.name) })
		}
		fmt.Printf("\n%s: %s\n", set, head)
		table(modes, measure(ps, modes, *runs))
	}
}

// makeList writes the pictures of a set with a random resized crop each: scale 0.08 to 1, ratio 3/4 to 4/3.
func makeList(folder, set string) (list, head string) {
	files, _ := filepath.Glob(filepath.Join(folder, set, "*.jpg"))
	if len(files) == 0 {
		log.Fatalf("no pictures in %s", filepath.Join(folder, set))
	}
	r := rand.New(rand.NewSource(1))
	var b strings.Builder
	size, pixels := 0, 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			log.Fatal(err)
		}
		info, err := jpeg.Header(data)
		if err != nil {
			log.Fatal(f, ": ", err)
		}
		x, y, w, h := crop(r, info.Width, info.Height)
		fmt.Fprintln(&b, f, x, y, w, h)
		size, pixels = size+len(data), pixels+info.Width*info.Height
	}
	list = filepath.Join(folder, set+".list")
	if err := os.WriteFile(list, []byte(b.String()), 0o644); err != nil {
		log.Fatal(err)
	}
	return list, fmt.Sprintf("%d pictures, mean %d bytes, %d pixels", len(files), size/len(files), pixels/len(files))
}

func crop(r *rand.Rand, w, h int) (x, y, cw, ch int) {
	for range 10 {
		a := float64(w*h) * (.08 + .92*r.Float64())
		q := math.Exp(math.Log(.75) + r.Float64()*(math.Log(4./3)-math.Log(.75)))
		cw, ch = int(math.Round(math.Sqrt(a*q))), int(math.Round(math.Sqrt(a/q)))
		if cw > 0 && ch > 0 && cw <= w && ch <= h {
			return r.Intn(w - cw + 1), r.Intn(h - ch + 1), cw, ch
		}
	}
	return 0, 0, w, h
}

func measure(ps map[string]*program, modes []mode, runs int) map[string][]float64 {
	ms := map[string][]float64{}
	for i := -1; i < runs; i++ { // the first warms up
		for _, m := range modes {
			v, err := strconv.ParseFloat(ps[m.program].ask(m.name), 64)
			if err != nil {
				log.Fatal(err)
			}
			if i >= 0 {
				k := m.program + " " + m.name
				ms[k] = append(ms[k], v)
			}
		}
	}
	return ms
}

func table(modes []mode, ms map[string][]float64) {
	fmt.Println("| one thread | ms (min..max) | pictures/s | held against | ratio (min..max) |\n|---|---|---|---|---|")
	for _, m := range modes {
		k := m.program + " " + m.name
		med, lo, hi := spread(ms[k])
		fmt.Printf("| %s | %.3f (%.3f..%.3f) | %.0f |", k, med, lo, hi, 1000/med)
		if base := ms[m.against]; base != nil && m.against != k {
			q := make([]float64, len(base))
			for i := range q {
				q[i] = base[i] / ms[k][i]
			}
			med, lo, hi := spread(q)
			fmt.Printf(" %s | %.2f (%.2f..%.2f) |\n", m.against, med, lo, hi)
		} else {
			fmt.Println(" | |")
		}
	}
}

func spread(v []float64) (med, lo, hi float64) {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2], s[0], s[len(s)-1]
}
