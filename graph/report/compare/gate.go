package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// alarms is the path that stands for the number of alarms of the whole comparison.
const alarms = "alarms"

// Gate is a bound that a comparison must not break: PATH OP NUMBER, or PATH OP NUMBER%.
type Gate struct {
	Text    string
	Path    string // into report.json, stages by id; or "alarms"
	Op      string // <, <=, >, >=, == or !=
	Number  float64
	Percent bool // of the change of B against A; else of B itself
}

// operators, longer ones first.
var operators = [...]string{"<=", ">=", "==", "!=", "<", ">"}

// ParseGate reads a gate. It fails when tells what must not be: "totals.samples_per_second < -5%".
func ParseGate(text string) (Gate, error) {
	g := Gate{Text: strings.TrimSpace(text)}
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return g, fmt.Errorf("gate %q has no comparison; wanted PATH OP NUMBER[%%], as in %q", text, "totals.samples_per_second < -5%")
	}
	for _, op := range operators {
		if strings.HasPrefix(text[at:], op) {
			g.Op = op
			break
		}
	}
	if g.Op == "" {
		return g, fmt.Errorf("gate %q: unknown comparison at %q; wanted one of %s", text, text[at:], strings.Join(operators[:], ", "))
	}
	g.Path = strings.TrimSpace(text[:at])
	if g.Path == "" {
		return g, fmt.Errorf("gate %q: wanted a path before %q, as in %q", text, g.Op, "stages.decode.service.mean > 10%")
	}
	num := strings.TrimSpace(text[at+len(g.Op):])
	num, g.Percent = strings.CutSuffix(num, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
	if err != nil || v != v || v-v != 0 {
		return g, fmt.Errorf("gate %q: wanted a number after %q, got %q", text, g.Op, num)
	}
	g.Number = v
	if g.Path == alarms && g.Percent {
		return g, fmt.Errorf("gate %q: the number of alarms has no percentage", text)
	}
	return g, nil
}

// Result is what became of a gate.
type Result struct {
	Gate   Gate
	A, B   *Set     // nil for "alarms"
	Change *float64 // nil without %
	Failed bool
	Text   string // one line
}

// Check evaluates a gate: on the median of B, or with % on the change of the medians. With several runs on both sides a
// gate with % fails only where the intervals are disjoint as well. It is an error when the path leads nowhere
// ([PathError]), to no number, or to one that some run does not have: a gate that cannot be judged must not pass.
func (c *Comparison) Check(g Gate) (Result, error) {
	r := Result{Gate: g}
	if g.Path == alarms {
		r.Failed = holds(float64(c.Alarms), g.Op, g.Number)
		r.Text = fmt.Sprintf("%s: %d", g.Text, c.Alarms)
		return r.said(), nil
	}
	var err error
	if r.B, err = every(c.b, g.Path); err != nil {
		return r, err
	}
	if !g.Percent {
		r.Failed = holds(r.B.Median, g.Op, g.Number)
		r.Text = fmt.Sprintf("%s: %s", g.Text, plainNumber(r.B.Median))
		return r.said(), nil
	}
	if r.A, err = every(c.a, g.Path); err != nil {
		return r, err
	}
	if r.A.Median == 0 {
		return r, fmt.Errorf("gate %q: A is 0, so there is no percentage; give a number without %%", g.Text)
	}
	change := (r.B.Median - r.A.Median) / r.A.Median
	r.Change, r.Failed = &change, holds(percentOf(change), g.Op, g.Number)
	r.Text = fmt.Sprintf("%s: %s -> %s, %s", g.Text, plainNumber(r.A.Median), plainNumber(r.B.Median), signed(change))
	if r.Failed && min(r.A.Runs, r.B.Runs) > 1 && !disjoint(r.A, r.B) {
		r.Failed = false
		r.Text += ", but the runs do not tell A and B apart"
	}
	return r.said(), nil
}

func (r Result) said() Result {
	if r.Failed {
		r.Text = "failed  " + r.Text
	} else {
		r.Text = "passed  " + r.Text
	}
	return r
}

func holds(x float64, op string, y float64) bool {
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case ">=":
		return x >= y
	case "==":
		return x == y
	}
	return x != y
}

// every is the figure in all runs of a side.
func every(side []*Report, path string) (*Set, error) {
	var all []float64
	for _, r := range side {
		x, err := r.at(path)
		if err != nil {
			return nil, err
		}
		v, ok := number(x)
		switch {
		case x == nil:
			return nil, fmt.Errorf("path %q is null in %q: there is no such figure", path, r.Name)
		case !ok:
			return nil, fmt.Errorf("path %q is no number in %q; it holds %s", path, r.Name, holding(x))
		}
		all = append(all, v)
	}
	return NewSet(all), nil
}

func holding(x any) string {
	switch x := x.(type) {
	case map[string]any:
		return strings.Join(keys(x), ", ")
	case []any:
		var ids []string
		for i, e := range x {
			if id := idOf(e); id != "" {
				ids = append(ids, id)
			} else {
				ids = append(ids, strconv.Itoa(i))
			}
		}
		return "the list " + strings.Join(ids, ", ")
	}
	return strconv.Quote(textOf(x))
}

func plainNumber(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

// percentOf is a change in percent, without the last digits, which are the arithmetic's.
func percentOf(change float64) float64 { return math.Round(change*1e11) / 1e9 }
