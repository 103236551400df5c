package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// setup is what a process is made for; command asks for one pass. A field that a workload has no use for is left out.
type setup struct {
	Workload string `json:"workload"`
	Rows     int    `json:"rows"`
}

type command struct {
	Do        string    `json:"do"` // run, dump
	Root      string    `json:"root"`
	Workers   int       `json:"workers"`
	Batch     int       `json:"batch"`
	Items     int64     `json:"items"`
	Epochs    int       `json:"epochs"`
	Index     bool      `json:"index"`      // keep side indexes
	Bytes     bool      `json:"bytes"`      // uint8 out, not normalized
	Plain     bool      `json:"plain"`      // without clocks and digest
	Defaults  bool      `json:"defaults"`   // all that penstock run has on: the timeline, and settings that move
	Trace     bool      `json:"trace"`      // and a trace
	Sequence  bool      `json:"sequential"` // not shuffled
	NoFlip    bool      `json:"no_flip"`
	Scale     []float64 `json:"scale"`
	Ratio     []float64 `json:"ratio"`
	Out       string    `json:"out"`        // where dump writes the first column's bytes
	FirstOnly bool      `json:"first_only"` // end after the first batch
}

// answer is what a pass came to. Times are seconds.
type answer struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu,omitempty"` // processor time, where only a part of the pass counts
	First   float64 `json:"first"`         // from Start to the first batch
	Items   int64   `json:"items"`
	Batches int64   `json:"batches"`
	Sum     float64 `json:"sum"` // of the labels, or what else tells that all came
	Shape   []int   `json:"shape,omitempty"`
	DType   string  `json:"dtype,omitempty"`
	Labels  []int64 `json:"labels,omitempty"`
	Version string  `json:"version,omitempty"`
}

type (
	sample = *item.Sample
	batch  = *item.Batch
)

func main() {
	var s setup
	if err := serve(&s); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func serve(s *setup) error {
	if len(os.Args) != 2 {
		return fmt.Errorf("wanted one argument, a JSON object, got %d", len(os.Args)-1)
	}
	if err := json.Unmarshal([]byte(os.Args[1]), s); err != nil {
		return err
	}
	pass, err := workload(s)
	if err != nil {
		return err
	}
	say := json.NewEncoder(os.Stdout)
	if err := say.Encode(answer{Version: version()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		a, err := pass(&c)
		if err != nil {
			return err
		}
		if err := say.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func workload(s *setup) (func(*command) (answer, error), error) {
	switch s.Workload {
	case "pictures":
		return pictures, nil
	case "slow":
		return slow, nil
	case "bare":
		return bare, nil
	case "tiny":
		return tiny(s.Rows), nil
	case "paths":
		return paths(s.Rows), nil
	case "turnaround":
		return turnaround, nil
	}
	return nil, fmt.Errorf("there is no workload %q", s.Workload)
}

func version() string {
	v := "penstock"
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 8 {
				v += " " + s.Value[:8]
			}
		}
	}
	return v + ", " + runtime.Version()
}

// take runs a pipeline to its end and clocks one epoch of it: measured, counted from the end of the one before it, or
// from Start for the first, which alone has a time of its first batch. each sees every batch of that epoch.
func take[T any](p *graph.Pipeline, out *graph.Out[T], measured int, each func(T)) (answer, error) {
	var a answer
	began, used := time.Now(), processor()
	run, err := p.Start(context.Background())
	if err != nil {
		return a, err
	}
	from, usedFrom := began, used
	for epoch := range out.Epochs(run) {
		for b, err := range epoch.All() {
			if err != nil {
				return a, err
			}
			if epoch.Number == int64(measured) {
				if a.Batches == 0 && measured == 0 {
					a.First = time.Since(from).Seconds()
				}
				a.Batches++
				each(b)
			}
		}
		switch epoch.Number {
		case int64(measured) - 1:
			from, usedFrom = time.Now(), processor()
		case int64(measured):
			a.Seconds, a.CPU = time.Since(from).Seconds(), processor()-usedFrom
		}
	}
	return a, run.Wait()
}
