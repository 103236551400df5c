package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/report/compare"
)

func (a *app) compare(args []string) int {
	var failIf, outs texts
	f := newFlags("compare")
	f.Var(&failIf, "fail-if", "")
	f.Var(&outs, "report", "")
	form := f.String("format", "text", "")
	rest, code, done := a.begin(f, args)
	if done {
		return code
	}
	gates, err := compareOptions(failIf, outs, *form)
	if err != nil {
		return a.usage("compare", err.Error())
	}
	left, right, err := twoSides(rest)
	if err != nil {
		return a.usage("compare", err.Error())
	}
	ra, err := a.readSide(left)
	if err != nil {
		return a.usage("compare", err.Error())
	}
	rb, err := a.readSide(right)
	if err != nil {
		return a.usage("compare", err.Error())
	}
	c, err := compare.Of(ra, rb)
	if err != nil {
		return a.usage("compare", err.Error())
	}
	results, err := checkGates(c, gates)
	if err != nil {
		return a.usage("compare", nearPath(err).Error())
	}
	return a.compared(c, results, *form, outs)
}

// compared prints what was found and gives the exit code.
func (a *app) compared(c *compare.Comparison, results []compare.Result, form string, outs []string) int {
	text, err := comparison(c, form)
	if err != nil {
		return a.fail(err)
	}
	fmt.Fprint(a.out, text)
	for _, file := range outs {
		text, err := comparison(c, strings.TrimPrefix(filepath.Ext(file), "."))
		if err == nil {
			err = writeWhole(file, []byte(text))
		}
		if err != nil {
			return a.fail(fmt.Errorf("report %q: %w", file, err))
		}
	}
	code := exitDone
	for _, r := range results {
		fmt.Fprintf(a.err, "penstock: gate %s\n", r.Text)
		if r.Failed {
			code = exitGate
		}
	}
	return code
}

func compareOptions(failIf, outs []string, form string) ([]compare.Gate, error) {
	forms := []string{"text", "markdown", "json"}
	if !slices.Contains(forms, form) {
		return nil, fmt.Errorf("--format: wanted %s, got %q", strings.Join(forms, ", "), form)
	}
	var gates []compare.Gate
	for _, text := range failIf {
		g, err := compare.ParseGate(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if: %w", err)
		}
		gates = append(gates, g)
	}
	for _, file := range outs {
		if ext := filepath.Ext(file); ext != ".json" && ext != ".txt" && ext != ".md" {
			return nil, fmt.Errorf("--report %q: the ending picks the form; wanted .json, .txt or .md, got %q", file, ext)
		}
		if err := checkTarget("--report", file); err != nil {
			return nil, err
		}
	}
	return gates, nil
}

// twoSides splits the arguments: A B, or several a side with the word "vs" between them.
func twoSides(args []string) (left, right []string, err error) {
	if at := slices.Index(args, "vs"); at >= 0 {
		left, right = args[:at], args[at+1:]
		if len(left) == 0 || len(right) == 0 || slices.Contains(right, "vs") {
			return nil, nil, errors.New(`wanted reports on both sides of one "vs"`)
		}
		return left, right, nil
	}
	if len(args) != 2 {
		return nil, nil, fmt.Errorf(`wanted two reports or folders of reports, got %d; put "vs" between several a side: base/*.json vs new/*.json`, len(args))
	}
	return args[:1], args[1:], nil
}

// readSide reads the reports of one side: files, and folders with all files in them that end in .json.
func (a *app) readSide(names []string) ([]*compare.Report, error) {
	var all []*compare.Report
	for _, name := range names {
		st, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			r, err := readReport(name)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
			continue
		}
		found, err := filepath.Glob(filepath.Join(escapeGlob(name), "*.json"))
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, file := range found {
			r, err := readReport(file)
			if errors.Is(err, compare.ErrNoReport) {
				fmt.Fprintf(a.err, "penstock: left out: %v\n", err)
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		if len(all) == before {
			return nil, fmt.Errorf("there is no report in folder %q; wanted files that end in .json", name)
		}
	}
	return all, nil
}

// escapeGlob makes a name match itself only.
func escapeGlob(name string) string {
	if os.PathSeparator == '\\' { // a backslash cannot escape there
		return name
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

func readReport(file string) (*compare.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := reportText(f)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", file, err)
	}
	return compare.Read(file, text)
}

func checkGates(c *compare.Comparison, gates []compare.Gate) ([]compare.Result, error) {
	var all []compare.Result
	for _, g := range gates {
		r, err := c.Check(g)
		if err != nil {
			return nil, fmt.Errorf("--fail-if: %w", err)
		}
		all = append(all, r)
	}
	return all, nil
}

// nearPath adds the name that was probably meant.
func nearPath(err error) error {
	var wrong *compare.PathError
	if errors.As(err, &wrong) {
		if near := registry.Near(wrong.Word, wrong.Have); near != "" {
			return fmt.Errorf("%w; did you mean %q?", err, near)
		}
	}
	return err
}

func comparison(c *compare.Comparison, form string) (string, error) {
	switch form {
	case "json":
		text, err := c.JSON()
		return string(text), err
	case "markdown", "md":
		return c.Markdown(), nil
	}
	return c.Text(), nil
}

const compareHelp = `
Sets two reports in JSON side by side, or two sets of them: rates, waits, service
of each stage, what differs in settings and environment, whether the samples were
the same. A and B are files or folders of reports. Several a side:

  penstock compare base/ new/
  penstock compare base/*.json vs new/*.json

With at least five runs a side, taken alternately, a figure whose intervals are
disjoint and whose medians differ by more than 5 % is an alarm. One without a
cause in settings or environment is marked with "!".

  --fail-if GATE   ends with exit code 3 if it holds. May be given several times.
                   A gate is PATH OP NUMBER: a dotted path into report.json, with
                   stages by id; one of < <= > >= == !=; a number that B's median
                   is held against, or with % the change of B against A.
                     'totals.samples_per_second < -5%'
                     'stages.decode.service.mean > 10%'
                     'sink.wait_ratio > 0.2'
                     'alarms > 0'
                   With several runs on both sides a gate with % fails only if the
                   runs tell A and B apart.
  --format FORM    text (the default), markdown or json
  --report FILE    writes it to a file as well, which ends in .txt, .md or .json
`
