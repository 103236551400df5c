package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Comparison is two sides of reports, set side by side. It is read-only.
type Comparison struct {
	Version     int          `json:"version"`
	A           Side         `json:"a"`
	B           Side         `json:"b"`
	Figures     []*Figure    `json:"figures"`
	Alarms      int          `json:"alarms"`
	Unexplained int          `json:"unexplained"` // alarms without a stated cause
	Differences []Difference `json:"differences"`
	Digest      Digest       `json:"digest"`
	Notes       []string     `json:"notes"`

	a, b   []*Report
	stages []string // of both, in A's order
}

// Side is one side's runs.
type Side struct {
	Files    []string `json:"files"`
	Pipeline string   `json:"pipeline"`
	// Bottleneck is the stage that most of its runs name, "" for none; Named how many of them do.
	Bottleneck string `json:"bottleneck"`
	Named      int    `json:"named"`
}

// Of compares two sides, each of at least one report. A report that stands in its side twice is taken once, and a note
// says so. It fails without reports.
func Of(a, b []*Report) (*Comparison, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, errors.New("wanted at least one report on each side")
	}
	c := &Comparison{Version: version, Figures: []*Figure{}, Differences: []Difference{}, Notes: []string{}}
	c.a, c.b = c.once("A", a), c.once("B", b)
	c.A, c.B = sideOf(c.a), sideOf(c.b)
	c.pair()
	c.figures()
	c.differ()
	c.digests()
	c.explain()
	c.within("A", c.a)
	c.within("B", c.b)
	c.few()
	return c, nil
}

// JSON is the comparison for programs, as compare.schema.json describes it; docs/comparing-runs.md explains its keys. Absent figures are null.
func (c *Comparison) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	return append(text, '\n'), err
}

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// once leaves out reports that are there already: a copy of a run says nothing new, and would make the side look surer
// than it is.
func (c *Comparison) once(side string, all []*Report) []*Report {
	var kept []*Report
	for _, r := range all {
		same := slices.IndexFunc(kept, func(k *Report) bool { return k.text == r.text })
		if same >= 0 {
			c.note("%s: %q is a copy of %q and was left out", side, r.Name, kept[same].Name)
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

func sideOf(all []*Report) Side {
	s := Side{Files: []string{}, Pipeline: all[0].word("pipeline")}
	count := map[string]int{}
	for _, r := range all {
		s.Files = append(s.Files, r.Name)
		id := r.word("verdict.bottleneck")
		if id == none {
			id = ""
		}
		if count[id]++; count[id] > s.Named {
			s.Bottleneck, s.Named = id, count[id]
		}
	}
	return s
}

// pair lists the stages that all reports have.
func (c *Comparison) pair() {
	for _, id := range c.a[0].stages() {
		if everywhere(c.a, id) && everywhere(c.b, id) {
			c.stages = append(c.stages, id)
		}
	}
}

func everywhere(side []*Report, id string) bool {
	return !slices.ContainsFunc(side, func(r *Report) bool { return !slices.Contains(r.stages(), id) })
}

// within notes what should be alike in the runs of one side and is not, and runs that did not end well.
func (c *Comparison) within(side string, all []*Report) {
	for _, x := range []struct{ path, what string }{
		{"spec.fingerprint", "specs"}, {"spec.overrides", "overrides"}, {"pipeline", "pipelines"}, {"totals.samples", "numbers of samples"},
		{"environment.cores_quota", "numbers of cores"}, {"digest", "digests"},
	} {
		if words := distinct(all, x.path); len(words) > 1 {
			c.note("%s mixes runs of %d %s: its spread is not noise alone", side, len(words), x.what)
		}
	}
	for _, r := range all {
		if f, ok := r.figure("totals.failed"); ok && f > 0 {
			c.note("%s: the run of %q failed", side, r.Name)
		}
		if x, err := r.at("totals.balanced"); err == nil && x == nil {
			c.note("%s: %q was written while the run went on", side, r.Name)
		} else if x == false {
			c.note("%s: the counts of %q do not add up", side, r.Name)
		}
	}
}

func distinct(all []*Report, path string) []string {
	var words []string
	for _, r := range all {
		if w := r.word(path); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// few says what a small number of runs cannot tell.
func (c *Comparison) few() {
	if n := min(len(c.a), len(c.b)); n < Runs {
		c.note("with %s a side a difference may be noise, and nothing is an alarm; from %d a side on, run alternately, it can be",
			plural(n, "run"), Runs)
	}
	if a, b := NewSet(values(c.a, "totals.samples")), NewSet(values(c.b, "totals.samples")); a != nil && b != nil && a.Median != b.Median {
		c.note("the runs are not of one length: %.0f samples in A, %.0f in B; rates contain the start", a.Median, b.Median)
	}
}
