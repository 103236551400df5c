package main

import (
	"fmt"

	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
)

func (a *app) graph(args []string) int {
	f := newFlags("graph")
	var set texts
	form := f.String("format", "text", "")
	f.Var(&set, "set", "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case len(rest) != 1:
		return a.usage("graph", fmt.Sprintf("wanted one spec, got %d", len(rest)))
	}
	s, d := spec.Load(rest[0], a.in, a.catalog, spec.Options{Set: set})
	for _, x := range d {
		fmt.Fprintln(a.err, x)
	}
	if s == nil {
		return exitUsage
	}
	text, err := report.Draw(s.Pipeline.Outline(), *form)
	if err != nil {
		return a.usage("graph", "--format: "+err.Error())
	}
	fmt.Fprint(a.out, text)
	return exitDone
}

const graphHelp = `
Draws the stages, what is set of each, and what travels between them; opens
nothing but the spec. The drawing goes to standard output.

  --format FORM       text, the default; mermaid, for Markdown pages; dot, for
                      Graphviz; svg, a picture for light and dark pages
` + setHelp
