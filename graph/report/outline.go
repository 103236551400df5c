package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// Drawings lists the forms that [Draw] knows.
func Drawings() []string { return []string{"text", "mermaid", "dot", "svg"} }

// Draw draws a declaration: "text" for a terminal, "mermaid" for Markdown pages, "dot" for Graphviz, and "svg", a
// picture that needs nothing else and suits light and dark pages. The same outline gives the same bytes.
func Draw(o graph.Outline, form string) (string, error) {
	switch form {
	case "text":
		return drawText(o), nil
	case "mermaid":
		return drawMermaid(o), nil
	case "dot":
		return drawDOT(o), nil
	case "svg":
		return drawSVG(o), nil
	}
	return "", fmt.Errorf("a drawing is one of %s, got %q", strings.Join(Drawings(), ", "), form)
}

// title is what stands above a drawing.
func title(o graph.Outline) string {
	words := make([]string, len(o.Settings))
	for i, s := range o.Settings {
		words[i] = s.Key + " " + s.Value
	}
	return strings.Join(words, ", ")
}

// lines describe a stage: kind and load, settings, options. Each is at most width characters.
func lines(s graph.OutlineStage, width int) []string {
	head := s.Kind
	if s.Load != "" {
		head += ", " + string(s.Load)
	}
	if s.Random {
		head += ", random"
	}
	if s.Emulated {
		head += ", emulated"
	}
	out := []string{clipped(head, width)}
	for _, list := range [][]graph.Setting{s.Config, s.Options} {
		out = append(out, wrapped(list, width)...)
	}
	return out
}

// wrapped writes settings side by side, in as many lines as they need.
func wrapped(list []graph.Setting, width int) (out []string) {
	line := ""
	for _, s := range list {
		word := s.Value
		if s.Key != "" {
			word = s.Key + ": " + s.Value
		}
		word = clipped(word, width)
		switch {
		case line == "":
			line = word
		case len([]rune(line))+2+len([]rune(word)) <= width:
			line += ", " + word
		default:
			out = append(out, line)
			line = word
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

// clipped cuts a text to a number of characters, and takes what a terminal might act on out.
func clipped(s string, width int) string {
	r := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s))
	if len(r) <= width {
		return string(r)
	}
	return string(r[:width-3]) + "..."
}

// fields lists what an edge carries, a line each; what is beyond most is counted.
func fields(s graph.OutlineStage, most, width int) (out []string) {
	all := s.Schema.Fields
	for i, f := range all {
		if i == most-1 && len(all) > most {
			out = append(out, fmt.Sprintf("and %d more fields", len(all)-i))
			break
		}
		out = append(out, clipped(f.String(), width))
	}
	switch {
	case s.Schema.Open && len(all) == 0:
		out = append(out, "fields not stated")
	case s.Schema.Open:
		out[len(out)-1] += ", ..."
	}
	if s.Schema.Batch && len(out) > 0 {
		out = append([]string{"batches, a row:"}, out...)
		if p := s.Schema.Place.String(); p != "host" {
			out[0] = "batches (" + p + "), a row:"
		}
	}
	return out
}

// flow orders the stages so that each comes after all that lead to it, a branch at a time. What leads nowhere comes
// last.
func flow(o graph.Outline) []graph.OutlineStage {
	var out []graph.OutlineStage
	seen := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		s, ok := o.Stage(id)
		if !ok || seen[id] {
			return
		}
		seen[id] = true
		for _, in := range s.From {
			visit(in)
		}
		out = append(out, s)
	}
	for _, s := range o.Stages {
		if takers(o, s.ID) == nil {
			visit(s.ID)
		}
	}
	for _, s := range o.Stages { // none is left out, whatever is wrong with the graph
		visit(s.ID)
	}
	return out
}

func takers(o graph.Outline, id string) (ids []string) {
	for _, s := range o.Stages {
		if slices.Contains(s.From, id) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// drawText writes the chain from top to bottom; a branch ends with the name of what it leads to.
func drawText(o graph.Outline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline %s: %s\n\n", clipped(o.Pipeline, 60), title(o))
	order := flow(o)
	wide := 0
	for _, s := range order {
		wide = max(wide, len(s.ID))
	}
	margin := strings.Repeat(" ", wide)
	for i, s := range order {
		for k, l := range lines(s, 100-wide-4) {
			name := margin
			if k == 0 {
				name = s.ID + margin[len(s.ID):]
			}
			fmt.Fprintf(&b, "%s  %s\n", name, l)
		}
		to := takers(o, s.ID)
		if len(to) == 0 {
			continue
		}
		for _, f := range fields(s, 6, 90) {
			fmt.Fprintf(&b, "  |  %s\n", f)
		}
		last := i+1 == len(order) || !slices.Contains(order[i+1].From, s.ID)
		if len(to) == 1 && !last && len(order[i+1].From) == 1 {
			b.WriteString("  v\n")
		} else {
			fmt.Fprintf(&b, "  +-> %s\n\n", strings.Join(to, ", "))
		}
	}
	return b.String()
}

var mermaidEscapes = strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "#", "#35;", "`", "#96;", "|", "#124;")

// drawMermaid gives each node a number for its name, for some words mean something to Mermaid.
func drawMermaid(o graph.Outline) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	number := map[string]int{}
	order := flow(o)
	for i, s := range order {
		number[s.ID] = i
		text := []string{"<b>" + s.ID + "</b>"}
		for _, l := range lines(s, 60) {
			text = append(text, mermaidEscapes.Replace(l))
		}
		left, right := `["`, `"]`
		if s.Role == "source" || s.Role == "sink" {
			left, right = `(["`, `"])`
		}
		fmt.Fprintf(&b, "  s%d%s%s%s\n", i, left, strings.Join(text, "<br/>"), right)
	}
	for _, s := range order {
		for _, in := range s.From {
			from, ok := o.Stage(in)
			if !ok {
				continue
			}
			label := ""
			if f := fields(from, 6, 60); len(f) > 0 {
				for i := range f {
					f[i] = mermaidEscapes.Replace(f[i])
				}
				label = `|"` + strings.Join(f, "<br/>") + `"|`
			}
			fmt.Fprintf(&b, "  s%d -->%s s%d\n", number[in], label, number[s.ID])
		}
	}
	return b.String()
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func drawDOT(o graph.Outline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph \"%s\" {\n", dotEscapes.Replace(clipped(o.Pipeline, 100)))
	fmt.Fprintf(&b, "  label=\"%s: %s\"; labelloc=t; rankdir=TB;\n", dotEscapes.Replace(clipped(o.Pipeline, 100)), dotEscapes.Replace(title(o)))
	b.WriteString("  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9];\n")
	order := flow(o)
	for _, s := range order {
		text := []string{s.ID}
		for _, l := range lines(s, 60) {
			text = append(text, dotEscapes.Replace(l))
		}
		fmt.Fprintf(&b, "  \"%s\" [label=\"%s\"];\n", s.ID, strings.Join(text, `\n`))
	}
	for _, s := range order {
		for _, in := range s.From {
			from, _ := o.Stage(in)
			label := ""
			if f := fields(from, 6, 60); len(f) > 0 {
				label = fmt.Sprintf(` [label="%s\l"]`, dotEscapes.Replace(strings.Join(f, "\n")))
				label = strings.ReplaceAll(label, "\n", `\l`)
			}
			fmt.Fprintf(&b, "  \"%s\" -> \"%s\"%s;\n", in, s.ID, label)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
