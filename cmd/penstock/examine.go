package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune/doctor"
)

// examineOptions are those of an examination of a spec.
type examineOptions struct {
	set     texts
	seconds float64
	root    string
	format  string
}

func (o *examineOptions) check() error {
	switch {
	case !(o.seconds > 0 && o.seconds < 1e6):
		return fmt.Errorf("--seconds must be more than 0 and less than 1e6, got %g", o.seconds)
	case o.format != "text" && o.format != "json":
		return fmt.Errorf("--format: wanted text or json, got %q", o.format)
	}
	return checkRoot(o.root)
}

// examine walks the decision tree for a spec.
func (a *app) examine(file string, o examineOptions) int {
	if err := o.check(); err != nil {
		return a.usage("doctor", err.Error())
	}
	l, code := a.openLab(file, o.set, o.root, o.seconds/doctor.Runs)
	if l == nil {
		return code
	}
	defer l.close()
	runs := 0
	x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) {
		runs++
		fmt.Fprintf(a.err, "penstock: run %d of at most %d, each of at most %.3g s: %s\n", runs, doctor.Runs, l.seconds, withSet(set))
		return l.asItIs(set)
	}, doctor.Options{Time: time.Duration(o.seconds * float64(time.Second)), Memory: max(0, graph.Host(".").Memory)})
	if code := l.guard.code(); code != exitDone {
		return code
	}
	if err != nil {
		return a.fail(err)
	}
	if o.format == "json" {
		text, err := json.MarshalIndent(x, "", "  ")
		if err != nil {
			return a.fail(err)
		}
		fmt.Fprintf(a.out, "%s\n", text)
		return exitDone
	}
	fmt.Fprint(a.out, x.Text())
	return exitDone
}

func withSet(set []string) string {
	if len(set) == 0 {
		return "as it is"
	}
	return "--set " + strings.Join(set, " --set ")
}

// asItIs is what a variant came to; its run is over.
func (l *lab) asItIs(set []string) (graph.Snapshot, error) {
	t, err := l.fused(set...)
	t.Snapshot.Running = false
	return t.Snapshot, err
}
