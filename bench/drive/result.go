package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// result is what a workload came to, as it is kept in bench/results.
type result struct {
	Workload string   `json:"workload"`
	Title    string   `json:"title"`
	Date     string   `json:"date"`
	Machine  string   `json:"machine"`
	Mode     string   `json:"mode"` // full, quick, smoke
	Command  string   `json:"command"`
	Data     string   `json:"data,omitempty"`
	Foreign  float64  `json:"foreign"` // the largest share of all cores that other programs took during a pass
	Lines    []line   `json:"lines"`
	Ratios   []ratio  `json:"ratios,omitempty"`
	Checks   []check  `json:"checks,omitempty"`
	Scan     []line   `json:"scan,omitempty"` // the settings of a peer that were tried to find its best
	Missing  []string `json:"missing,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// line is the figures of one side with one setting.
type line struct {
	Side    string  `json:"side"`
	Version string  `json:"version,omitempty"`
	Unit    string  `json:"unit"`
	Value   spread  `json:"value"`
	Passes  int     `json:"passes"`
	CPU     float64 `json:"cpu_us_per_item,omitempty"`
	PSS     float64 `json:"pss_mb,omitempty"`
	First   float64 `json:"first_batch_ms,omitempty"`
}

// ratio is how many times better a is than b, pair by pair, with the figure that must hold and the one to aim at.
type ratio struct {
	What  string    `json:"what"`
	A     string    `json:"a"`
	B     string    `json:"b"`
	Value spread    `json:"value"`
	Low   float64   `json:"low,omitempty"`  // of the median's 95 % interval, where there are enough pairs
	High  float64   `json:"high,omitempty"` //
	Pairs []float64 `json:"pairs"`
	Must  float64   `json:"must,omitempty"`
	Aim   float64   `json:"aim,omitempty"`
	Less  bool      `json:"less,omitempty"` // less is better: it must be at most Must
}

func (r ratio) word() string {
	better := func(limit float64) bool {
		if r.Less {
			return r.Value.Median <= limit
		}
		return r.Value.Median >= limit
	}
	switch {
	case r.Must == 0:
		return ""
	case better(r.Aim):
		return "aim reached"
	case better(r.Must):
		return "holds"
	}
	return "missed"
}

// ratioOf makes a ratio of a meeting.
func ratioOf(what string, a, b contender, m meeting, of func(pass) float64, must, aim float64) ratio {
	r := ratio{What: what, A: a.label, B: b.label, Pairs: m.ratios(of), Must: must, Aim: aim}
	r.Value = spreadOf(r.Pairs)
	if len(r.Pairs) >= 6 {
		r.Low, r.High = interval(r.Pairs)
	}
	return r
}

// lineOf makes a line of passes.
func lineOf(c contender, unit string, ps []pass, of func(pass) float64) line {
	l := line{Side: c.label, Version: c.version, Unit: unit, Value: spreadOf(each(ps, of)), Passes: len(ps)}
	l.CPU = spreadOf(each(ps, func(p pass) float64 { return p.cpu })).Median * 1e6
	l.First = spreadOf(each(ps, func(p pass) float64 { return p.First })).Median * 1e3
	return l
}

// saw notes how much other programs ran meanwhile.
func (r *result) saw(ps ...[]pass) {
	for _, p := range slices.Concat(ps...) {
		r.Foreign = max(r.Foreign, p.foreign)
	}
}

// has says whether a side has a line already.
func (r *result) has(side string) bool {
	return slices.ContainsFunc(r.Lines, func(l line) bool { return l.Side == side })
}

// checked adds checks under a side's name.
func (r *result) checked(name string, cs ...check) {
	for _, c := range cs {
		c.What = name + ": " + c.What
		r.Checks = append(r.Checks, c)
	}
}

// failed lists the checks that do not hold.
func (r *result) failed() (bad []string) {
	for _, c := range r.Checks {
		if !c.OK {
			bad = append(bad, c.What+": "+c.Found)
		}
	}
	return bad
}

func (r *result) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Workload+".json"), append(text, '\n'), 0o644)
}

// readResults reads what is kept, in the order of the workloads.
func readResults(dir string) ([]*result, error) {
	byName := map[string]*result{}
	for _, w := range workloads {
		text, err := os.ReadFile(filepath.Join(dir, w.name+".json"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r := &result{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("%s.json: %w", w.name, err)
		}
		byName[w.name] = r
	}
	var all []*result
	for _, w := range workloads {
		if r := byName[w.name]; r != nil {
			all = append(all, r)
		}
	}
	return all, nil
}

func machine() string {
	cpu := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
			cpu = strings.TrimSpace(v)
			break
		}
	}
	var kib float64
	text, _ = os.ReadFile("/proc/meminfo")
	fmt.Sscanf(string(text), "MemTotal: %f kB", &kib)
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	release, _, _ := strings.Cut(string(kernel), "-")
	virtual := ""
	if text, _ := os.ReadFile("/proc/cpuinfo"); strings.Contains(string(text), " hypervisor ") {
		virtual = " of a virtual machine"
	}
	return fmt.Sprintf("%d cores%s, %s, %.0f GiB, %s %s, %s", runtime.NumCPU(), virtual, cpu, kib/(1<<20), runtime.GOOS,
		strings.TrimSpace(release), runtime.Version())
}

func today() string { return time.Now().UTC().Format("2006-01-02 15:04 UTC") }

func missingLines(m map[string]string) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, name+": "+m[name])
	}
	return out
}
