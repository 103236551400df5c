package spec

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Insertion is a stage to be put into a spec's text.
type Insertion struct {
	After  string // the id of the stage whose items it takes
	ID     string
	Kind   string
	Fields string // of the kind, as they stand between { and }: "limit: 4GiB"
	Note   string // what is written behind it as a comment, in one line; "" is none
}

// Insert gives a spec's text with one more stage behind another; who read from that one reads from the new one.
// Everything else stays as it is, byte for byte: the lines of the stages with their comments, and the comments between
// them. It fails where the stages are not written one after the other as a list, as with an anchor.
func Insert(text []byte, x Insertion) ([]byte, error) {
	stages, err := stagesOf(text)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(stages.Content, func(n *yaml.Node) bool { return isStage(n, x.After) })
	switch {
	case at < 0:
		return nil, fmt.Errorf("the spec has no stage %q", x.After)
	case at == len(stages.Content)-1:
		return nil, fmt.Errorf("the stage %q is the last one, and nothing can come behind it", x.After)
	}
	e := &editor{lines: strings.SplitAfter(string(text), "\n")}
	var names []*yaml.Node // where it is read from by its name
	for _, n := range stages.Content {
		names = append(names, namesIn(valueOf(n, "from"), x.After)...)
	}
	for _, n := range names {
		begin, length, err := e.word(n)
		if err != nil {
			return nil, fmt.Errorf("from: %w", err)
		}
		e.edits = append(e.edits, edit{n.Line - 1, begin, length, x.ID})
	}
	if err := e.insert(stages, at, x); err != nil {
		return nil, fmt.Errorf("behind the stage %q: %w", x.After, err)
	}
	done := e.apply()
	for _, n := range names {
		n.Value = x.ID
	}
	now, err := stagesOf(done)
	if err != nil || len(now.Content) != len(stages.Content)+1 || !isStage(now.Content[at+1], x.ID) {
		return nil, fmt.Errorf("behind the stage %q: the text would say something else", x.After)
	}
	if now.Content = slices.Delete(now.Content, at+1, at+2); !alike(now, stages) {
		return nil, fmt.Errorf("behind the stage %q: the text would say something else", x.After)
	}
	return done, nil
}

// stagesOf is the list of stages.
func stagesOf(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("the spec is empty")
	}
	stages := valueOf(doc.Content[0], "stages")
	if stages == nil || stages.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("the spec has no list of stages")
	}
	return stages, nil
}

func isStage(n *yaml.Node, id string) bool {
	v := valueOf(n, "id")
	return v != nil && v.Value == id
}

// namesIn are the words of a from that are a stage's id.
func namesIn(from *yaml.Node, id string) (all []*yaml.Node) {
	switch {
	case from == nil:
	case from.Kind == yaml.SequenceNode:
		for _, n := range from.Content {
			all = append(all, namesIn(n, id)...)
		}
	case from.Kind == yaml.ScalarNode && from.Value == id:
		all = append(all, from)
	}
	return all
}

// insert writes the stage behind the one at an index: in the line after its last one, and in its style.
func (e *editor) insert(stages *yaml.Node, at int, x Insertion) error {
	flow := fmt.Sprintf("{id: %s, %s: {%s}}", x.ID, x.Kind, x.Fields)
	next := stages.Content[at+1]
	if next.Line < 1 || next.Line > len(e.lines) {
		return fmt.Errorf("the stage after it was not found")
	}
	line := next.Line - 1
	runes := []rune(e.lines[line])
	if next.Column < 1 || next.Column > len(runes) {
		return fmt.Errorf("the stage after it was not found")
	}
	before := string(runes[:next.Column-1])
	if stages.Style&yaml.FlowStyle != 0 {
		e.edits = append(e.edits, edit{line, len(before), 0, flow + ", "})
		e.note(line, x.Note)
		return nil
	}
	indent, dash := strings.CutSuffix(strings.TrimRight(before, " "), "-")
	if !dash || strings.TrimLeft(indent, " ") != "" {
		return fmt.Errorf("the stage after it does not begin in a line of its own")
	}
	for line > 0 && besides(e.lines[line-1]) { // what stands before the next stage belongs to that one
		line--
	}
	note := ""
	if x.Note != "" {
		note = "  # " + x.Note
	}
	end := "\n"
	if strings.HasSuffix(e.lines[line-1], "\r\n") {
		end = "\r\n"
	}
	if stages.Content[at].Style&yaml.FlowStyle != 0 {
		e.edits = append(e.edits, edit{line, 0, 0, indent + "- " + flow + note + end})
		return nil
	}
	e.edits = append(e.edits, edit{line, 0, 0, fmt.Sprintf("%s- id: %s%s%s%s  %s: {%s}%s", indent, x.ID, note, end, indent, x.Kind, x.Fields, end)})
	return nil
}

// besides says that a line holds nothing, or a comment alone.
func besides(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// alike says that two nodes mean the same.
func alike(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.Tag == b.Tag && a.Anchor == b.Anchor && slices.EqualFunc(a.Content, b.Content, alike)
}
