package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

func (a *app) kinds(args []string) int {
	f := newFlags("kinds")
	schema := f.Bool("schema", false, "")
	names, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case *schema && len(names) > 0:
		return a.usage("kinds", "--schema is of all kinds together")
	case *schema:
		text, err := spec.Schema(a.catalog)
		if err != nil {
			return a.fail(err)
		}
		_, _ = a.out.Write(text)
		return exitDone
	case len(names) == 0:
		listKinds(a.out, a.catalog)
		return exitDone
	case len(names) > 1:
		return a.usage("kinds", "one kind at a time")
	}
	k, ok := find(a.catalog, names[0])
	if !ok {
		msg := fmt.Sprintf("unknown kind %q", names[0])
		if near := registry.Near(names[0], allNames(a.catalog)); near != "" {
			msg += fmt.Sprintf("; did you mean %q?", near)
		}
		return a.usage("kinds", msg)
	}
	describeKind(a.out, k)
	return exitDone
}

func find(c *registry.Catalog, name string) (registry.Kind, bool) {
	if k, ok := c.Kind(name); ok {
		return k, true
	}
	return c.Sampler(name)
}

func allNames(c *registry.Catalog) []string {
	names := c.Names()
	for _, k := range c.Samplers() {
		names = append(names, k.Name)
	}
	return names
}

// group is the kinds of one role.
type group struct {
	title string
	kinds []registry.Kind
}

func groups(c *registry.Catalog) []group {
	g := []group{{title: "sources"}, {title: "stages"}, {title: "sinks"},
		{title: "samplers", kinds: c.Samplers()}}
	var joints []registry.Kind
	for _, k := range c.Kinds() {
		switch k.Role {
		case registry.RoleMerge:
			joints = append(joints, k)
		case registry.RoleSource:
			g[0].kinds = append(g[0].kinds, k)
		case registry.RoleStage:
			g[1].kinds = append(g[1].kinds, k)
		case registry.RoleSink:
			g[2].kinds = append(g[2].kinds, k)
		}
	}
	g[1].kinds = append(g[1].kinds, joints...)
	return g
}

func listKinds(w io.Writer, c *registry.Catalog) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, g := range groups(c) {
		if i > 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintln(t, g.title)
		for _, k := range g.kinds {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", k.Name, flow(k), k.Summary)
		}
	}
	_ = t.Flush()
	fmt.Fprint(w, "\npenstock kinds KIND shows a kind's fields; penstock help spec how a spec is written.\n")
}

// flow says what goes in and comes out: "samples -> batches".
func flow(k registry.Kind) string {
	if k.Role == registry.RoleMerge {
		return "any -> the same"
	}
	var parts []string
	for _, e := range k.Entries {
		switch {
		case k.Role == registry.RoleSampler:
			return ""
		case e.In == "":
			parts = append(parts, "-> "+e.Out)
		case e.Out == "":
			parts = append(parts, e.In+" ->")
		default:
			parts = append(parts, e.In+" -> "+e.Out)
		}
	}
	return strings.Join(parts, ", ")
}

func describeKind(w io.Writer, k registry.Kind) {
	fmt.Fprintf(w, "%s: a %s", k.Name, roleWord(k))
	if f := flow(k); f != "" {
		fmt.Fprintf(w, ", %s", f)
	}
	fmt.Fprintf(w, "\n\n  %s\n", k.Summary)
	for _, l := range traits(k) {
		fmt.Fprintf(w, "  %s\n", l)
	}
	if len(k.Entries) > 0 && len(k.Entries[0].Fields) > 0 {
		fmt.Fprint(w, "\nfields\n")
		for _, f := range k.Entries[0].Fields {
			fmt.Fprintf(w, "  %s: %s\n      %s\n", f.Name, typeLine(f), f.Doc)
		}
	}
	fmt.Fprintf(w, "\nexample\n  %s\n", exampleLine(k))
}

// roleWord is what a kind is.
func roleWord(k registry.Kind) string {
	if k.Role == registry.RoleMerge {
		return "stage of several inputs"
	}
	return string(k.Role)
}

// traits are what a reader wants to know beside the fields.
func traits(k registry.Kind) []string {
	var l []string
	if len(k.Entries) == 0 {
		return l
	}
	if e := k.Entries[0]; k.Role != registry.RoleSampler {
		if k.Role == registry.RoleMerge {
			l = append(l, "It has no workers: one goroutine passes items on, within each epoch.")
		} else {
			l = append(l, map[string]string{"cpu": "Load: cpu, its workers compute.", "wait": "Load: wait, its workers wait for something else than the processor."}[string(e.Load)])
		}
		if e.Random {
			l = append(l, "Random: its output depends on the pipeline's seed.")
		}
	}
	return l
}

func typeLine(f registry.Field) string {
	parts := []string{string(f.Type)}
	if f.Type == registry.TypeChoice {
		parts[0] += " " + strings.Join(f.Choices, ", ")
	}
	parts = append(parts, f.Limits()...)
	if f.Required() {
		parts = append(parts, "required")
	} else {
		parts = append(parts, "default "+f.Default)
	}
	return strings.Join(parts, "; ")
}

func exampleLine(k registry.Kind) string {
	if k.Role == registry.RoleSampler {
		return "- {id: read, folder: {root: data}, " + k.Example + "}"
	}
	id := "work"
	switch {
	case k.Role == registry.RoleMerge:
		return "- {id: both, " + k.Example + ", from: [a, b]}"
	case k.Role == registry.RoleSource:
		id = "read"
	case k.Role == registry.RoleSink:
		id = "train"
	}
	return fmt.Sprintf("- {id: %s, %s}", id, k.Example)
}
