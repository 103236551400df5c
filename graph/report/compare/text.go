package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

const none = words.None

func plural(n int, one string) string { return words.Plural(int64(n), one) }

// quote is a name in a sentence.
func quote(s string) string { return `"` + words.Plain(s) + `"` }

// signed is a change: "+8.6 %", "-0.3 %".
func signed(x float64) string {
	text := words.Digits(math.Abs(x)*100, 2) + " %"
	switch {
	case math.Abs(x) < 0.0005:
		return "0 %"
	case x < 0:
		return "-" + text
	}
	return "+" + text
}

func (u unit) text(x float64) string {
	switch u {
	case ofTime:
		return words.Seconds(x)
	case ofShare:
		return words.Percent(x)
	case ofBytes:
		return words.Size(words.Whole(x))
	}
	return words.Rate(x)
}

// change is a figure's change in words; of a share in points.
func (f *Figure) change() string {
	switch {
	case f.Change == nil:
		return none
	case f.unit == ofShare:
		return strings.TrimSuffix(signed(*f.Change), " %") + " pt"
	}
	return signed(*f.Change)
}

// side is a set in a cell: the median, and the interval where there are several runs.
func (f *Figure) side(s *Set) (median, interval string) {
	if s == nil {
		return none, ""
	}
	median = tight(f.unit.text(s.Median))
	if s.Runs > 1 {
		interval = tight(f.unit.text(s.Low)) + ".." + tight(f.unit.text(s.High))
	}
	return median, interval
}

func tight(s string) string { return strings.ReplaceAll(s, " ", "") }

// name is what a figure is called in sentences.
func (f *Figure) name() string {
	if f.Stage == "" {
		return f.label
	}
	return quote(f.Stage) + " " + f.label
}

// headline is the conclusion in a sentence or two.
func (c *Comparison) headline() string {
	var said []string
	for _, f := range c.Figures {
		if !f.Alarm() {
			continue
		}
		text := fmt.Sprintf("%s is %s: %s -> %s (%s)", f.name(), f.Standing, f.unit.text(f.A.Median), f.unit.text(f.B.Median), f.change())
		if len(f.Causes) == 0 {
			text += ", with no cause stated"
		}
		said = append(said, text)
	}
	stands := func(s Standing) bool {
		return slices.ContainsFunc(c.Figures, func(f *Figure) bool { return f.Standing == s })
	}
	enough := min(len(c.a), len(c.b)) >= Runs
	switch {
	case len(said) > 0:
		return plural(len(said), "alarm") + ". " + strings.Join(said, "; ") + "."
	case enough && stands(Differs):
		return "No alarm, but figures that raise none differ: see the table."
	case enough:
		return "No alarm: what differs is within noise, or less than 5 %."
	case stands(Differs), stands(Noise):
		return "There are differences; whether they are noise cannot be told from so few runs."
	}
	return "No difference of more than 5 %."
}

// sides says what is compared.
func (c *Comparison) sides() string {
	text := ""
	for _, s := range []struct {
		name string
		Side
	}{{"A", c.A}, {"B", c.B}} {
		files := s.Files
		if len(files) > 3 {
			files = append(slices.Clone(files[:2]), "...", files[len(files)-1])
		}
		found := "names no bottleneck"
		if s.Bottleneck != "" {
			found = "names " + quote(s.Bottleneck)
		}
		if n := len(s.Files); n > 1 {
			found += fmt.Sprintf(" in %d of them", s.Named)
		}
		text += words.Wrap(fmt.Sprintf("%s: %s of %s, the verdict %s: %s", s.name, plural(len(s.Files), "run"), quote(s.Pipeline),
			found, words.Plain(strings.Join(files, ", "))), "", "   ", words.Width)
	}
	return text
}

// table is the figures, those of the whole run or those of the stages.
func (c *Comparison) table(stages bool) *words.Grid {
	g := &words.Grid{Left: []bool{true}}
	first := "whole run"
	if stages {
		g.Left, first = []bool{true, true}, "stage"
	}
	head := []string{first, "A", "B", "change", "A from..to", "B from..to", ""}
	if stages {
		head = slices.Insert(head, 1, "")
	}
	g.Add(head...)
	before := ""
	for _, f := range c.Figures {
		if stages != (f.Stage != "") {
			continue
		}
		a, ia := f.side(f.A)
		b, ib := f.side(f.B)
		row := []string{f.label, a, b, f.change(), ia, ib, f.mark()}
		if stages {
			id := ""
			if f.Stage != before {
				id, before = words.Clip(words.Plain(f.Stage), 20), f.Stage
			}
			row = slices.Insert(row, 0, id)
		}
		g.Add(row...)
	}
	if len(g.Rows) == 1 {
		g.Rows = nil
	}
	if max(len(c.a), len(c.b)) < 2 { // no intervals
		for i, row := range g.Rows {
			g.Rows[i] = slices.Delete(row, len(row)-3, len(row)-1)
		}
	}
	return g
}

// mark is the last column: what a reader must not miss.
func (f *Figure) mark() string {
	switch {
	case f.Alarm() && len(f.Causes) == 0:
		return string(f.Standing) + " !"
	case f.Standing == Same:
		return ""
	}
	return string(f.Standing)
}

// differences is what differs beside the figures.
func (c *Comparison) differences() []string {
	var lines []string
	for _, d := range c.Differences {
		line := fmt.Sprintf("%s: %s -> %s", words.Plain(d.Path), words.Clip(words.Plain(d.A), 60), words.Clip(words.Plain(d.B), 60))
		switch d.Stated {
		case "":
			line = "! " + line + " (nothing in the reports says why)"
		case "override", "decision", "workers":
			line += " (by " + d.Stated + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// explained lists the causes that may be behind the alarms.
func (c *Comparison) explained() []string {
	var lines []string
	for _, f := range c.Figures {
		switch {
		case !f.Alarm():
		case len(f.Causes) == 0:
			lines = append(lines, fmt.Sprintf("! %s: no cause stated; settings and environment are the same, so look at code, data and machine",
				f.name()))
		default:
			seen := slices.Clone(f.Causes)
			slices.Sort(seen)
			lines = append(lines, fmt.Sprintf("%s: perhaps by %s", f.name(), words.Plain(strings.Join(slices.Compact(seen), ", "))))
		}
	}
	return lines
}

// data says whether the samples were the same.
func (c *Comparison) data() string {
	d := c.Digest
	switch {
	case d.Same == nil:
		return "Digest: not computed on both sides, so nothing is known about whether the samples were the same."
	case *d.Same:
		return "Digest: the same samples, " + words.Plain(d.A[0]) + "."
	}
	text := fmt.Sprintf("Digest: other samples, %s -> %s", words.Plain(strings.Join(d.A, " or ")), words.Plain(strings.Join(d.B, " or ")))
	if !d.Stated {
		return "! " + text + ", though the specs are the same: other data, or other code."
	}
	return text + "; the specs or the lengths differ."
}

// about says what the columns are.
func (c *Comparison) about() string {
	if min(len(c.a), len(c.b)) < 2 {
		return "A share's change is in points (pt)."
	}
	sure := 1.0
	for _, f := range c.Figures {
		if f.A != nil && f.B != nil {
			sure = min(sure, f.A.Sure, f.B.Sure)
		}
	}
	text := fmt.Sprintf("A and B are medians; from..to holds the true median with a chance of %s, whatever the distribution. ", words.Percent(sure))
	return text + "A share's change is in points (pt). ! marks what has no stated cause."
}

// Text is the comparison for people: at most 100 columns, plain ASCII but for the names in it. It begins with the
// conclusion.
func (c *Comparison) Text() string {
	var b strings.Builder
	b.WriteString(words.Wrap(c.headline(), "", "", words.Width) + "\n" + c.sides() + "\n")
	for _, stages := range []bool{false, true} {
		if g := c.table(stages); len(g.Rows) > 0 {
			b.WriteString(g.Render("") + "\n")
		}
	}
	b.WriteString(words.Wrap(c.about(), "", "", words.Width))
	c.section(&b, "Alarms and what may be behind them:", c.explained())
	c.section(&b, "What differs in settings and environment:", c.differences())
	if len(c.Differences) == 0 {
		b.WriteString("\nSettings and environment are the same.\n")
	}
	b.WriteString("\n" + words.Wrap(c.data(), "", "  ", words.Width))
	c.section(&b, "Notes:", c.Notes)
	return b.String()
}

func (c *Comparison) section(b *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + head + "\n")
	for _, l := range lines {
		b.WriteString(words.Wrap(words.Plain(l), "  - ", "    ", words.Width))
	}
}

// Markdown is the comparison for a pull request.
func (c *Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A against B\n\n**%s**\n\n", words.Escape(c.headline()))
	for _, l := range strings.Split(strings.TrimSpace(strings.ReplaceAll(c.sides(), "\n   ", " ")), "\n") {
		b.WriteString("- " + words.Escape(l) + "\n")
	}
	for _, stages := range []bool{false, true} {
		g := c.table(stages)
		for i := range g.Rows {
			for k := range g.Rows[i] {
				g.Rows[i][k] = words.Escape(g.Rows[i][k])
			}
		}
		if len(g.Rows) > 0 {
			b.WriteString("\n" + g.Markdown())
		}
	}
	b.WriteString("\n" + words.Escape(c.about()) + "\n")
	for _, x := range []struct {
		head  string
		lines []string
	}{{"Alarms and what may be behind them", c.explained()}, {"What differs in settings and environment", c.differences()},
		{"Samples", []string{c.data()}}, {"Notes", c.Notes}} {
		if len(x.lines) > 0 {
			b.WriteString("\n## " + x.head + "\n\n")
		}
		for _, l := range x.lines {
			b.WriteString("- " + words.Escape(words.Plain(l)) + "\n")
		}
	}
	return b.String()
}
