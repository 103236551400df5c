package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/registry"
)

// Diagnostic is one thing wrong with a spec, and where.
type Diagnostic struct {
	File string // of the spec; for an override the option as it was given: "--set decode.workers=0"
	Line int    // from 1; 0: the diagnostic concerns the file or the override as a whole
	Col  int    // from 1, in characters
	// Stage is the id of the stage concerned, "#3" for the third stage if it has none, "" for the pipeline.
	Stage string
	Code  string // stable; docs/diagnostics.md lists them
	Msg   string
	Hint  string // a way out, or ""
	Warn  bool   // the spec can be run nevertheless
}

// String is `train.yaml:9:25: stage "collate": size must be at least 1, got 0 [field_range]`, with a hint in brackets
// behind it.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", d.Line, d.Col)
	}
	b.WriteString(": ")
	if d.Warn {
		b.WriteString("warning: ")
	}
	if d.Stage != "" {
		fmt.Fprintf(&b, "stage %q: ", d.Stage)
	}
	fmt.Fprintf(&b, "%s [%s]", d.Msg, d.Code)
	if d.Hint != "" {
		fmt.Fprintf(&b, " (hint: %s)", d.Hint)
	}
	return b.String()
}

// Diagnostics are all problems of a spec, by position; those of overrides come last.
type Diagnostics []Diagnostic

// Errors counts the diagnostics that are not warnings.
func (d Diagnostics) Errors() int {
	n := 0
	for _, x := range d {
		if !x.Warn {
			n++
		}
	}
	return n
}

// Err is nil if there are only warnings; else an error that lists everything, a line each.
func (d Diagnostics) Err() error {
	if d.Errors() == 0 {
		return nil
	}
	return d
}

// Error lists the diagnostics, one a line.
func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i, x := range d {
		lines[i] = x.String()
	}
	return strings.Join(lines, "\n")
}

const setPrefix = "--set "

// place is what the At of every value holds: a position in the file, or an override.
type place struct {
	line, col int
	set       string
}

// collector gathers diagnostics while a spec is read.
type collector struct {
	file   string
	list   Diagnostics
	sets   []string       // overrides, in order
	broken map[place]bool // values whose text is not known: what else is said of them is noise
}

func (c *collector) add(at any, stage, code, msg, hint string) {
	c.put(at, Diagnostic{Stage: stage, Code: code, Msg: msg, Hint: hint})
}

func (c *collector) put(at any, d Diagnostic) {
	p, _ := at.(place)
	if c.broken[p] {
		return
	}
	if d.Code == "variable" {
		c.broken[p] = true
	}
	d.File, d.Line, d.Col = c.file, p.line, p.col
	if p.set != "" {
		d.File = p.set
	}
	c.list = append(c.list, d)
}

func (c *collector) problem(stage string, fallback any, p registry.Problem) {
	if p.At == nil {
		p.At = fallback
	}
	c.add(p.At, stage, p.Code, p.Msg, p.Hint)
}

// sorted orders by position; equal positions keep the order of discovery, doubles are dropped.
func (c *collector) sorted() Diagnostics {
	order := func(d Diagnostic) int { return slices.Index(c.sets, d.File) } // -1 for those of the file
	slices.SortStableFunc(c.list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.Compact(c.list)
}

// meant is a hint with the name that was probably meant, or "".
func meant(word string, names []string) string {
	if n := registry.Near(word, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}
