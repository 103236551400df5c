package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is a run of the workloads.
type bench struct {
	ours           kind
	peers          map[string]kind
	missing        map[string]string
	data, scratch  string
	cdecode        string // the C program of the workload cost; "": there is none
	quick, smoke   bool
	results, docs  string
	command, about string
}

type workload struct {
	name, title string
	run         func(*bench, *result) error
}

var workloads = []workload{
	{"pictures", "Pictures near 500 × 375: decode, random crop to 224, flip, normalize, batches of 64", pictures},
	{"large", "Pictures of about 2000 × 1500: the same, batches of 16", large},
	{"slow", "A source that takes 2 ms a sample, 1,024 numbers, batches of 64", slow},
	{"tiny", "A million rows of 16 float32 in memory, shuffled", tiny},
	{"paths", "Five million paths: memory", paths},
	{"turnaround", "From one epoch to the next", turnaround},
	{"first", "The first batch of 64 pictures", first},
	{"cost", "Processor time of a picture", cost},
}

func main() {
	b := &bench{}
	flag.BoolVar(&b.quick, "quick", false, "fewer pairs and fewer settings")
	flag.BoolVar(&b.smoke, "smoke", false, "without peers, on small data made by the program itself")
	render := flag.Bool("render", false, "only write docs/benchmarks.md and the plots from bench/results")
	dir := flag.String("peers", "bench/.peers", "where bench/peers/install.sh has put the peers")
	flag.StringVar(&b.data, "data", "data/bench", "the folder with the pictures")
	flag.StringVar(&b.ours.name, "ours", "", "the program of bench/ours")
	flag.StringVar(&b.cdecode, "c", "", "the program of bench/peers/picture.c")
	flag.StringVar(&b.results, "results", "bench/results", "where results are kept")
	flag.StringVar(&b.docs, "docs", "docs", "the folder of the page and the plots")
	flag.Parse()
	if err := run(b, *dir, *render, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(b *bench, dir string, render bool, names []string) error {
	if render {
		return renderAll(b.results, b.docs)
	}
	b.ours = kind{name: "penstock", argv: []string{b.ours.name}}
	b.command = strings.TrimSpace("bench/run.sh " + strings.Join(slices.Concat(modeFlags(b), names), " "))
	for _, n := range names {
		if !slices.ContainsFunc(workloads, func(w workload) bool { return w.name == n }) {
			return fmt.Errorf("there is no workload %q", n)
		}
	}
	if !b.smoke {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		b.peers, b.missing = peers(abs)
		about, _ := os.ReadFile(filepath.Join(b.data, "made"))
		b.about = strings.TrimSpace(string(about))
	} else if err := b.makeSmall(); err != nil {
		return err
	}
	b.scratch = filepath.Join(b.data, "scratch")
	if err := os.MkdirAll(b.scratch, 0o755); err != nil {
		return err
	}
	var bad []string
	ran := 0
	for _, w := range workloads {
		if len(names) > 0 && !slices.Contains(names, w.name) {
			continue
		}
		ran++
		began := time.Now()
		fmt.Printf("== %s: %s\n", w.name, w.title)
		r := &result{Workload: w.name, Title: w.title, Date: today(), Machine: machine(), Mode: b.mode(), Command: b.command, Missing: missingLines(b.missing)}
		if err := w.run(b, r); err != nil {
			bad = append(bad, w.name+": "+err.Error())
			fmt.Println("FAILED:", err)
			continue
		}
		bad = append(bad, r.failed()...)
		r.print(os.Stdout)
		fmt.Printf("   %.0f s\n", time.Since(began).Seconds())
		if err := r.write(b.results); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d things do not hold:\n  %s", len(bad), strings.Join(bad, "\n  "))
	}
	if b.smoke {
		fmt.Printf("%d passed, 0 failed\n", ran)
		return nil
	}
	return renderAll(b.results, b.docs)
}

func (b *bench) mode() string {
	switch {
	case b.smoke:
		return "smoke"
	case b.quick:
		return "quick"
	}
	return "full"
}

func modeFlags(b *bench) []string {
	if m := b.mode(); m != "full" {
		return []string{"--" + m}
	}
	return nil
}

// many is n in a full run, a third in a quick one, one in a smoke run.
func (b *bench) many(n int) int {
	switch {
	case b.smoke:
		return 1
	case b.quick:
		return max(2, n/3)
	}
	return n
}

// count is a number of items, small in a smoke run.
func (b *bench) count(n int) int {
	if b.smoke {
		return max(64, n/100)
	}
	return n
}
