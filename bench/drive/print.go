package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// number prints a figure with about three digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 10_000:
		s := strconv.FormatFloat(v/1000, 'f', 0, 64)
		if len(s) > 3 {
			return s[:len(s)-3] + "," + s[len(s)-3:] + ",000"
		}
		return s + ",000"
	case a >= 1000:
		s := strconv.FormatFloat(v, 'f', 0, 64)
		return s[:len(s)-3] + "," + s[len(s)-3:]
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.1 || a == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func (s spread) String() string {
	if s.Min == s.Max {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", number(s.Median), number(s.Min), number(s.Max))
}

func or(v float64, none string) string {
	if v == 0 {
		return none
	}
	return number(v)
}

func (r *result) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range r.Lines {
		fmt.Fprintf(t, "   %s\t%v %s\tcpu %s us\tpss %s MB\tfirst %s ms\n", l.Side, l.Value, l.Unit, or(l.CPU, "-"), or(l.PSS, "-"), or(l.First, "-"))
	}
	for _, x := range r.Ratios {
		limits := ""
		if x.Must > 0 {
			limits = fmt.Sprintf("must %s, aim %s: %s", number(x.Must), number(x.Aim), x.word())
		}
		fmt.Fprintf(t, "   ratio: %s, %s to %s\t%v\t%s\n", x.What, x.A, x.B, x.Value, limits)
	}
	t.Flush()
	for _, c := range r.Checks {
		word := "ok"
		if !c.OK {
			word = "NOT OK"
		}
		fmt.Fprintf(w, "   %s: %s: %s\n", word, c.What, c.Found)
	}
	fmt.Fprintf(w, "   other programs took up to %.0f %% of the cores during a pass\n", 100*r.Foreign)
}
