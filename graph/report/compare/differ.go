package compare

import (
	"fmt"
	"slices"
	"strings"
)

// Difference is one setting, or a part of the environment, in which the sides differ.
type Difference struct {
	Path string `json:"path"`
	A    string `json:"a"` // as it stands in the reports of a side; several where they differ; "-" for null
	B    string `json:"b"`
	// Stated is where it was asked for: "override", "spec", "decision", "workers", "environment"; "" where nothing in the reports
	// says why.
	Stated string `json:"stated"`

	stage string
}

// What is compared beside the stages. A part of the environment states itself.
var (
	environment = [...]string{"cpu", "cores", "cores_quota", "memory_limit_bytes", "os", "go", "version", "device", "driver", "decoder"}
	settings    = [...]string{"pipeline", "emulated", "rank", "world"}
	ofStages    = [...]string{"kind", "load", "workers", "buffer", "window", "fused_into"}
)

// differ lists the differences: environment, spec, pipeline, stages.
func (c *Comparison) differ() {
	for _, key := range environment {
		c.differAt("environment."+key, "")
	}
	c.differAt("spec.overrides", "")
	c.Differences = append(c.Differences, c.lines()...)
	for _, key := range settings {
		c.differAt(key, "")
	}
	for _, id := range c.stages {
		for _, key := range ofStages {
			c.differAt("stages."+id+"."+key, id)
		}
	}
	c.lone("A", c.a, c.b)
	c.lone("B", c.b, c.a)
}

func (c *Comparison) differAt(path, stage string) {
	va, vb := distinct(c.a, path), distinct(c.b, path)
	if stage != "" && slices.ContainsFunc(va, func(v string) bool { return slices.Contains(vb, v) }) {
		return // auto may come to other values in each run
	}
	a, b := strings.Join(va, " or "), strings.Join(vb, " or ")
	if a == "" {
		a = none
	}
	if b == "" {
		b = none
	}
	if a != b {
		c.Differences = append(c.Differences, Difference{path, a, b, c.stated(path, stage), stage})
	}
}

// lone notes stages that only one side has.
func (c *Comparison) lone(side string, these, others []*Report) {
	for _, id := range these[0].stages() {
		if slices.Contains(others[0].stages(), id) {
			continue
		}
		d := Difference{Path: "stages." + id, A: none, B: none, Stated: c.stated("stages."+id+".kind", id), stage: id}
		if kind := these[0].word("stages." + id + ".kind"); side == "A" {
			d.A = kind
		} else {
			d.B = kind
		}
		c.Differences = append(c.Differences, d)
	}
}

// stated finds where a difference was asked for.
func (c *Comparison) stated(path, stage string) string {
	a, b := c.a[0], c.b[0]
	_, key, _ := strings.Cut(strings.TrimPrefix(path, "stages."), stage+".")
	switch {
	case strings.HasPrefix(path, "environment."):
		return "environment"
	case path == "spec.overrides" || !slices.Equal(overrides(a, stage, key), overrides(b, stage, key)):
		return "override"
	case !slices.Equal(linesOf(a, stage), linesOf(b, stage)):
		return "spec"
	case decided(a, stage) || decided(b, stage):
		return "decision"
	case key != "workers" && a.workersOf(stage) != b.workersOf(stage):
		return "workers" // auto goes by their number
	case a.word("environment.cores_quota") != b.word("environment.cores_quota"):
		return "environment" // auto goes by the cores
	}
	return ""
}

// workersOf is the number of workers that do a stage's work: its own, or those of the stage it was fused into.
func (r *Report) workersOf(stage string) string {
	if into := r.word("stages." + stage + ".fused_into"); into != none {
		stage = into
	}
	return r.word("stages." + stage + ".workers")
}

// overrides are those of one key of a stage, or of one key of the pipeline.
func overrides(r *Report, stage, key string) []string {
	spec, _ := r.doc["spec"].(map[string]any)
	list, _ := spec["overrides"].([]any)
	var all []string
	for _, x := range list {
		text := textOf(x)
		name, _, _ := strings.Cut(text, "=")
		if stage != "" && (name == stage+"."+key || key == "kind" && strings.HasPrefix(name, stage+".")) {
			all = append(all, text)
		}
	}
	return all
}

// line is a line of a spec and the stage that it belongs to, "" before the first.
type line struct{ text, stage string }

// linesOf are the lines of the spec, without comments: those of a stage, or all for "".
func linesOf(r *Report, stage string) []line {
	ids, owner := r.stages(), ""
	var all []line
	for _, text := range strings.Split(strings.TrimSpace(r.word("spec.text")), "\n") {
		plain := strings.TrimSpace(text)
		if plain == "" || plain[0] == '#' {
			continue
		}
		if id := begins(plain, ids); id != "" {
			owner = id
		}
		if stage == "" || owner == stage {
			all = append(all, line{strings.TrimRight(text, " \r"), owner})
		}
	}
	return all
}

// begins tells whose part of the spec a line begins: in YAML it holds "id: decode", in the text of a pipeline that was
// declared in Go it begins with "decode:".
func begins(text string, ids []string) string {
	_, after, found := strings.Cut(text, "id:")
	if before, _, ok := strings.Cut(text, ":"); !found && ok && slices.Contains(ids, before) {
		return before
	}
	word := strings.FieldsFunc(after, func(c rune) bool { return strings.ContainsRune(" ,}\"'#", c) })
	if found && len(word) > 0 && slices.Contains(ids, word[0]) {
		return word[0]
	}
	return ""
}

// decided tells whether the decision log speaks of a stage.
func decided(r *Report, stage string) bool {
	list, _ := r.doc["decisions"].([]any)
	return stage != "" && slices.ContainsFunc(list, func(d any) bool {
		m, _ := d.(map[string]any)
		return m["stage"] == stage || strings.HasPrefix(textOf(m["knob"]), stage+".")
	})
}

// mostLines is how many changed lines of a spec are listed.
const mostLines = 30

// lines are the lines of the spec in which the first runs of the sides differ.
func (c *Comparison) lines() []Difference {
	a, b := linesOf(c.a[0], ""), linesOf(c.b[0], "")
	var all []Difference
	for i, j := 0, 0; i < len(a) || j < len(b); {
		m, n := meet(a[i:], b[j:])
		for k := range max(m, n) { // changed lines in pairs, as far as they go
			d := Difference{Path: "spec.text", A: none, B: none, Stated: "spec"}
			if k < m {
				d.A, d.stage = strings.TrimSpace(a[i+k].text), a[i+k].stage
			}
			if k < n {
				d.B, d.stage = strings.TrimSpace(b[j+k].text), b[j+k].stage
			}
			all = append(all, d)
		}
		i, j = i+m+1, j+n+1
	}
	return all[:min(len(all), mostLines)]
}

// meet says how many lines of each side to pass until they agree again, the fewest in all; the rest where they never do.
func meet(a, b []line) (m, n int) {
	for sum := 0; sum < min(len(a)+len(b), 400); sum++ {
		for m = max(0, sum-len(b)+1); m <= sum && m < len(a); m++ {
			if n = sum - m; n < len(b) && a[m] == b[n] {
				return m, n
			}
		}
	}
	return len(a), len(b)
}

// explain finds for each alarm the differences that may be its cause: of the stage's own settings, of the pipeline and of
// the environment; for a figure of the whole run those of any stage as well, and the stages whose own figures are alarms.
func (c *Comparison) explain() {
	var slow []string
	for _, f := range c.Figures {
		if f.Alarm() && f.Stage != "" {
			slow = append(slow, fmt.Sprintf("stage %q", f.Stage))
		}
	}
	for _, f := range c.Figures {
		if !f.Alarm() {
			continue
		}
		c.Alarms++
		for i := range c.Differences {
			if d := &c.Differences[i]; d.touches(f.Stage) {
				f.Causes = append(f.Causes, d.Path)
			}
		}
		if f.Stage == "" {
			f.Causes = append(f.Causes, slow...)
		}
		if len(f.Causes) == 0 {
			c.Unexplained++
		}
	}
}

// touches tells whether a difference may change the figures of a stage, or of the whole run for "".
func (d *Difference) touches(stage string) bool {
	if d.Path != "spec.overrides" || stage == "" {
		return stage == "" || d.stage == "" || d.stage == stage
	}
	return strings.Contains(" "+d.A+" "+d.B, " "+stage+".")
}

// Digest says whether the sides delivered the same samples.
type Digest struct {
	A    []string `json:"a"` // the distinct digests of a side
	B    []string `json:"b"`
	Same *bool    `json:"same"` // null where a side has none
	// Stated: the specs, overrides or lengths differ, so that other samples are no wonder.
	Stated bool `json:"stated"`
}

func (c *Comparison) digests() {
	d := &c.Digest
	d.A, d.B = distinct(c.a, "digest"), distinct(c.b, "digest")
	if !slices.Contains(d.A, none) && !slices.Contains(d.B, none) {
		same := len(d.A) == 1 && slices.Equal(d.A, d.B)
		d.Same = &same
	}
	for i := range c.Differences {
		d.Stated = d.Stated || strings.HasPrefix(c.Differences[i].Path, "spec.") || c.Differences[i].Path == "rank" || c.Differences[i].Path == "world"
	}
	d.Stated = d.Stated || !slices.Equal(distinct(c.a, "totals.samples"), distinct(c.b, "totals.samples"))
}
