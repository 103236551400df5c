package compare

import "math"

// Standing is what can be said of a figure.
type Standing string

// The standings. Only Worse, Better and Changed are alarms.
const (
	Same     Standing = "same"      // no difference worth a word
	Noise    Standing = "noise"     // the medians differ, but the runs do not tell the sides apart
	Differs  Standing = "differs"   // there are too few runs to tell whether that is noise
	Worse    Standing = "worse"     // an alarm
	Better   Standing = "better"    // an alarm too: what is better without a cause is as odd
	Changed  Standing = "changed"   // an alarm on what is neither better nor worse
	NotThere Standing = "not there" // one side has no such figure
)

// Figure is one number of the reports in both sides.
type Figure struct {
	Path     string   `json:"path"`
	Stage    string   `json:"stage,omitempty"`
	A        *Set     `json:"a"`
	B        *Set     `json:"b"`
	Change   *float64 `json:"change"` // of B's median against A's; a share's own difference
	Standing Standing `json:"standing"`
	// Causes are the differences of settings and environment that may explain an alarm. An alarm without any is marked.
	Causes []string `json:"causes"`

	is
}

// is how a figure is judged and written.
type is struct {
	label string
	unit  unit
	up    int  // 1: more is better; -1: less is
	alarm bool // it can be one; the others are there to read
}

type unit int

const (
	ofRate unit = iota
	ofTime
	ofShare
	ofBytes
)

// Alarm tells that the sides differ in this figure beyond noise.
func (f *Figure) Alarm() bool {
	return f.Standing == Worse || f.Standing == Better || f.Standing == Changed
}

// judge compares the medians and decides.
func (f *Figure) judge() {
	if f.A == nil || f.B == nil {
		f.Standing = NotThere
		return
	}
	change, ok := f.B.Median-f.A.Median, true
	if f.unit != ofShare {
		change, ok = change/f.A.Median, f.A.Median != 0
	}
	if ok {
		f.Change = &change
	}
	switch {
	case !ok && f.B.Median == 0 || ok && math.Abs(change) <= Least:
		f.Standing = Same
	case min(f.A.Runs, f.B.Runs) < Runs || !f.alarm:
		f.Standing = Differs
		if min(f.A.Runs, f.B.Runs) > 1 && !disjoint(f.A, f.B) {
			f.Standing = Noise
		}
	case !apart(f.A, f.B):
		f.Standing = Noise
	case f.up == 0:
		f.Standing = Changed
	case change*float64(f.up) > 0:
		f.Standing = Better
	default:
		f.Standing = Worse
	}
}

// whole are the figures of a whole run.
var whole = [...]struct {
	path string
	is
}{
	{"totals.samples_per_second", is{"samples/s", ofRate, 1, true}},
	{"sink.wait_ratio", is{"wait ratio", ofShare, -1, true}},
	{"sink.waits.mean", is{"wait, mean", ofTime, -1, false}},
	{"sink.waits.p95", is{"wait, p95", ofTime, -1, false}},
	{"sink.waits.max", is{"wait, longest", ofTime, -1, false}},
	{"totals.first_batch_seconds", is{"first batch", ofTime, -1, false}},
	{"memory.peak_rss_bytes", is{"peak memory", ofBytes, -1, false}},
}

// idleStage is the utilisation below which a stage's service is too small to matter, and so is no alarm.
const idleStage = 0.02

// figures reads all figures of both sides.
func (c *Comparison) figures() {
	for _, w := range whole {
		c.add(&Figure{Path: w.path, is: w.is})
	}
	for _, id := range c.stages {
		at := "stages." + id
		busy := max(median(c.a, at+".utilisation"), median(c.b, at+".utilisation"))
		c.add(&Figure{Path: at + ".service.p50", Stage: id, is: is{"p50", ofTime, -1, busy >= idleStage}})
		c.add(&Figure{Path: at + ".service.mean", Stage: id, is: is{"mean", ofTime, -1, false}})
		c.add(&Figure{Path: at + ".service.p95", Stage: id, is: is{"p95", ofTime, -1, false}})
		c.add(&Figure{Path: at + ".utilisation", Stage: id, is: is{"busy", ofShare, 0, false}})
	}
}

func (c *Comparison) add(f *Figure) {
	f.A, f.B = NewSet(values(c.a, f.Path)), NewSet(values(c.b, f.Path))
	if f.A == nil && f.B == nil {
		return
	}
	f.Causes = []string{}
	f.judge()
	c.Figures = append(c.Figures, f)
}

// values are those of the runs that have the figure.
func values(side []*Report, path string) []float64 {
	var all []float64
	for _, r := range side {
		if v, ok := r.figure(path); ok {
			all = append(all, v)
		}
	}
	return all
}

func median(side []*Report, path string) float64 {
	if s := NewSet(values(side, path)); s != nil {
		return s.Median
	}
	return 0
}
