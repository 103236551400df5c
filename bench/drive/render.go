package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The part of docs/benchmarks.md that is made from bench/results.
const beginMark, endMark = "<!-- made by bench/run.sh --render: begin -->", "<!-- made by bench/run.sh --render: end -->"

// renderAll writes the page's part and the plots into docs.
func renderAll(results, docs string) error {
	all, err := readResults(results)
	if err != nil {
		return err
	}
	page := filepath.Join(docs, "benchmarks.md")
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := splice(string(old), render(all))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if err := os.MkdirAll(filepath.Join(docs, "plots"), 0o755); err != nil {
		return err
	}
	for name, svg := range plots(all) {
		if err := os.WriteFile(filepath.Join(docs, "plots", name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

func splice(old, made string) (string, error) {
	before, rest, ok := strings.Cut(old, beginMark)
	_, after, ok2 := strings.Cut(rest, endMark)
	if !ok || !ok2 {
		return "", fmt.Errorf("the lines %q and %q are not there", beginMark, endMark)
	}
	return before + beginMark + "\n\n" + made + "\n" + endMark + after, nil
}

// render is the page's part: what was reached, then each workload with its figures, checks and notes.
func render(all []*result) string {
	if len(all) == 0 {
		return "No results are kept yet.\n"
	}
	var s strings.Builder
	summary(&s, all)
	for _, r := range all {
		section(&s, r)
	}
	return s.String()
}

func summary(s *strings.Builder, all []*result) {
	fmt.Fprintf(s, "### Against the peers\n\n")
	fmt.Fprintf(s, "Medians of the pairs' ratios, with the smallest and the largest. For memory, time and processor time less is better.\n\n")
	fmt.Fprintf(s, "| workload | what | against | ratio | must | aim | |\n|---|---|---|---|---|---|---|\n")
	for _, r := range all {
		for _, x := range r.Ratios {
			if x.Must > 0 {
				at := "≥ "
				if x.Less {
					at = "≤ "
				}
				fmt.Fprintf(s, "| %s | %s | %s | **%s** (%s to %s) | %s%s | %s%s | %s |\n", r.Workload, x.What, x.B, number(x.Value.Median),
					number(x.Value.Min), number(x.Value.Max), at, number(x.Must), at, number(x.Aim), x.word())
			}
		}
	}
	if slow := slower(all); len(slow) > 0 {
		fmt.Fprintf(s, "\nWhere a peer is faster, or a figure is missed:\n\n- %s\n", strings.Join(slow, "\n- "))
	}
	if hasPlot(all) {
		fmt.Fprintf(s, "\n![Pictures a second of all sides](plots/rates.svg)\n")
	}
	if rest := without(all); len(rest) > 0 {
		fmt.Fprintf(s, "\nNo figures are kept of: %s.\n", strings.Join(rest, ", "))
	}
	s.WriteByte('\n')
}

// without lists the workloads that have no result.
func without(all []*result) (names []string) {
	for _, w := range workloads {
		if !slices.ContainsFunc(all, func(r *result) bool { return r.Workload == w.name }) {
			names = append(names, w.name)
		}
	}
	return names
}

// slower lists the ratios below 1 and the missed figures.
func slower(all []*result) (out []string) {
	for _, r := range all {
		for _, x := range r.Ratios {
			switch {
			case x.word() == "missed":
				out = append(out, fmt.Sprintf("%s, %s against %s: %s, wanted %s", r.Workload, x.What, x.B, number(x.Value.Median), number(x.Must)))
			case x.Must == 0 && x.Value.Median < 1 && !strings.HasPrefix(x.What, "processor time of one"):
				out = append(out, fmt.Sprintf("%s, %s, %s against %s: %s", r.Workload, x.What, x.A, x.B, number(x.Value.Median)))
			}
		}
	}
	return out
}

func section(s *strings.Builder, r *result) {
	fmt.Fprintf(s, "### %s\n\n%s. `%s`, %s, on %s. ", r.Workload, r.Title, r.Command, r.Date, r.Machine)
	fmt.Fprintf(s, "Other programs took up to %.0f %% of the cores during a pass.", math.Ceil(100*r.Foreign))
	if r.Data != "" {
		fmt.Fprintf(s, " Data: %s.", r.Data)
	}
	fmt.Fprintf(s, "\n\n| side | median (smallest to largest) | | passes | CPU µs each | PSS MB | first batch ms |\n|---|---|---|---|---|---|---|\n")
	for _, l := range r.Lines {
		fmt.Fprintf(s, "| %s | %v | %s | %d | %s | %s | %s |\n", l.Side, l.Value, l.Unit, l.Passes, or(l.CPU, ""), or(l.PSS, ""), or(l.First, ""))
	}
	if len(r.Ratios) > 0 {
		fmt.Fprintf(s, "\n| ratio | of | to | median (smallest to largest) | 95 %% interval of the median | pairs |\n|---|---|---|---|---|---|\n")
		for _, x := range r.Ratios {
			in := ""
			if x.High > 0 {
				in = fmt.Sprintf("%.3f to %.3f", x.Low, x.High)
			}
			fmt.Fprintf(s, "| %s | %s | %s | %v | %s | %d |\n", x.What, x.A, x.B, x.Value, in, len(x.Pairs))
		}
	}
	versions, seen := []string{}, map[string]bool{}
	for _, l := range r.Lines {
		if l.Version != "" && !seen[l.Version] {
			seen[l.Version] = true
			versions = append(versions, l.Version)
		}
	}
	if len(versions) > 0 {
		fmt.Fprintf(s, "\nVersions: %s.\n", strings.Join(versions, "; "))
	}
	if len(r.Checks) > 0 {
		fmt.Fprintf(s, "\n<details><summary>Checks that the outputs agree: %d of %d hold</summary>\n\n", len(r.Checks)-len(r.failed()), len(r.Checks))
		for _, c := range r.Checks {
			word := "holds"
			if !c.OK {
				word = "**does not hold**"
			}
			fmt.Fprintf(s, "- %s: %s (%s)\n", c.What, word, c.Found)
		}
		fmt.Fprintf(s, "\n</details>\n")
	}
	if len(r.Scan) > 0 {
		fmt.Fprintf(s, "\n<details><summary>Settings that were tried</summary>\n\n| setting | rate |\n|---|---|\n")
		for _, l := range r.Scan {
			fmt.Fprintf(s, "| %s | %s |\n", l.Side, number(l.Value.Median))
		}
		fmt.Fprintf(s, "\n</details>\n")
	}
	for _, m := range r.Missing {
		fmt.Fprintf(s, "\nCould not be had: %s.\n", m)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(s, "\n%s.\n", n)
	}
	s.WriteByte('\n')
}
