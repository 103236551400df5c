package doctor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

func quote(s string) string { return strconv.Quote(s) }

// rate is a figure with three digits.
func rate(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func percent(x float64) string { return strconv.FormatFloat(x*100, 'f', 0, 64) + " %" }

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + one + "s"
}

// seconds is a time with three digits.
func seconds(x float64) string {
	switch {
	case x >= 1:
		return rate(x) + " s"
	case x >= 1e-3:
		return rate(x*1e3) + " ms"
	case x >= 1e-6:
		return rate(x*1e6) + " us"
	}
	return strconv.Itoa(int(math.Round(x*1e9))) + " ns"
}

// Text is the examination for people.
func (x *Examination) Text() string {
	var b strings.Builder
	for i, s := range x.Steps {
		fmt.Fprintf(&b, "%d. %s %s\n", i+1, upper(s.Ask), s.Answer)
		if s.Proof != "" {
			fmt.Fprintf(&b, "   %s\n", s.Proof)
		}
	}
	b.WriteString("\nactions\n")
	switch {
	case len(x.Actions) == 0 && x.Healthy:
		b.WriteString("  none: the sink sets the pace\n")
	case len(x.Actions) == 0:
		b.WriteString("  none was found\n")
	}
	for i, a := range x.Actions {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, a.Text)
		line := ""
		if a.Predicted > 0 {
			line = fmt.Sprintf("predicted %s samples/s, %+.0f %%", rate(a.Predicted), 100*a.Gain)
		}
		switch {
		case a.Measured != nil:
			line += fmt.Sprintf("; measured %s", rate(*a.Measured))
		case a.Predicted > 0:
			line += "; not tried"
		}
		if line != "" {
			fmt.Fprintf(&b, "     %s\n", line)
		}
		if len(a.Set) > 0 {
			fmt.Fprintf(&b, "     --set %s\n", strings.Join(a.Set, " --set "))
		}
	}
	for _, l := range x.Limits {
		fmt.Fprintf(&b, "note: %s\n", l)
	}
	return b.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
