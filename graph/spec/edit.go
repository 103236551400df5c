package spec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Change is a new value for a key that every stage has: workers, buffer, window, order.
type Change struct {
	Stage, Key, Value string
	Note              string // what is written behind it as a comment, in one line; "" is none
}

// Edit gives a spec's text with changed keys. Everything else stays as it is, byte for byte. It changes text, not
// meaning: the caller reads the result again to see that it says what was wanted. It fails where a value is not written
// as one plain word, as with an anchor.
func Edit(text []byte, changes []Change) ([]byte, error) {
	stages, err := stagesOf(text)
	if err != nil {
		return nil, err
	}
	e := &editor{lines: strings.SplitAfter(string(text), "\n")}
	for _, c := range changes {
		i := slices.IndexFunc(stages.Content, func(n *yaml.Node) bool { return isStage(n, c.Stage) })
		if i < 0 {
			return nil, fmt.Errorf("the spec has no stage %q", c.Stage)
		}
		if err := e.change(stages.Content[i], c); err != nil {
			return nil, fmt.Errorf("stage %q: %s: %w", c.Stage, c.Key, err)
		}
	}
	return e.apply(), nil
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// edit replaces length bytes of a line from an offset on.
type edit struct {
	line, at, length int
	text             string
}

type editor struct {
	lines []string
	edits []edit
	notes map[int][]string // by line
}

func (e *editor) change(stage *yaml.Node, c Change) error {
	if old := valueOf(stage, c.Key); old != nil {
		at, n, err := e.word(old)
		if err != nil {
			return err
		}
		e.edits = append(e.edits, edit{old.Line - 1, at, n, c.Value})
		e.note(old.Line-1, c.Note)
		return nil
	}
	id := valueOf(stage, "id")
	at, n, err := e.word(id)
	if err != nil {
		return err
	}
	if stage.Style&yaml.FlowStyle != 0 {
		e.edits = append(e.edits, edit{id.Line - 1, at + n, 0, fmt.Sprintf(", %s: %s", c.Key, c.Value)})
		e.note(id.Line-1, c.Note)
		return nil
	}
	line := fmt.Sprintf("%s%s: %s", strings.Repeat(" ", stage.Content[0].Column-1), c.Key, c.Value)
	if c.Note != "" {
		line += "  # " + c.Note
	}
	end := len(strings.TrimRight(e.lines[id.Line-1], "\r\n"))
	e.edits = append(e.edits, edit{id.Line - 1, end, 0, "\n" + line})
	return nil
}

// word finds where a scalar stands in its line.
func (e *editor) word(n *yaml.Node) (at, length int, err error) {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Line < 1 || n.Line > len(e.lines) {
		return 0, 0, fmt.Errorf("its value is not one word")
	}
	runes := []rune(e.lines[n.Line-1])
	if n.Column < 1 || n.Column > len(runes) {
		return 0, 0, fmt.Errorf("its value was not found")
	}
	at = len(string(runes[:n.Column-1]))
	for _, form := range []string{n.Value, `"` + n.Value + `"`, "'" + n.Value + "'"} {
		if strings.HasPrefix(e.lines[n.Line-1][at:], form) && form != "" {
			return at, len(form), nil
		}
	}
	return 0, 0, fmt.Errorf("its value is not written as one plain word")
}

func (e *editor) note(line int, text string) {
	if text == "" {
		return
	}
	if e.notes == nil {
		e.notes = map[int][]string{}
	}
	e.notes[line] = append(e.notes[line], text)
}

// apply makes the edits, from the end of each line to its beginning, and sets the notes behind.
func (e *editor) apply() []byte {
	for line, notes := range e.notes {
		end := len(strings.TrimRight(e.lines[line], "\r\n"))
		e.edits = append(e.edits, edit{line, end, 0, "  # " + strings.Join(notes, "; ")})
	}
	slices.SortStableFunc(e.edits, func(a, b edit) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return b.at - a.at
	})
	for _, x := range e.edits {
		l := e.lines[x.line]
		e.lines[x.line] = l[:x.at] + x.text + l[x.at+x.length:]
	}
	var b bytes.Buffer
	for _, l := range e.lines {
		b.WriteString(l)
	}
	return b.Bytes()
}
