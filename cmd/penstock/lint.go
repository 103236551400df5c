package main

import (
	"fmt"

	"github.com/penstock-go/penstock/graph/spec"
)

func (a *app) lint(args []string) int {
	f := newFlags("lint")
	var set texts
	f.Var(&set, "set", "")
	files, code, done := a.begin(f, args)
	if done {
		return code
	}
	if len(files) == 0 {
		return a.usage("lint", "the name of a spec is missing")
	}
	code = exitDone
	for _, file := range files {
		s, d := spec.Load(file, a.in, a.catalog, spec.Options{Set: set})
		for _, x := range d {
			fmt.Fprintln(a.out, x)
		}
		switch {
		case s == nil:
			code = exitUsage
		case len(d) == 0:
			fmt.Fprintf(a.out, "%s: no problems\n", file)
		}
	}
	return code
}
