package spec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/penstock-go/penstock/graph/registry"
)

// The limits of a spec.
const (
	MaxBytes  = 1 << 20 // of the text
	MaxValues = 100_000 // keys and values, aliases counted as often as they are used
	MaxDepth  = 32      // maps and lists within each other
	MaxStages = 1_000
)

// parser turns YAML nodes into values. It stops at the first value beyond the limits.
type parser struct {
	*collector
	getenv func(string) (string, bool) // nil: ${NAME} stays as it is
	values int
	full   bool
}

// parse reads the text's one document. ok is false if there is nothing to go on with.
func (p *parser) parse(text []byte) (v registry.Value, ok bool) {
	if len(text) > MaxBytes {
		p.add(nil, "", "too_large", fmt.Sprintf("a spec may have %s, this one has more", registry.FormatSize(MaxBytes)), "")
		return v, false
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		p.add(nil, "", "syntax", err.Error(), "")
		return v, false
	}
	var doc, next yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		p.add(place{line: 1, col: 1}, "", "no_stages", "the spec is empty", "a spec begins with: pipeline: NAME")
		return v, false
	case err != nil:
		p.syntax(err, text)
		return v, false
	}
	switch err := loader.Load(&next); {
	case errors.Is(err, io.EOF):
	case err != nil:
		p.syntax(err, text)
	default:
		p.add(place{line: next.Line, col: next.Column}, "", "several_documents", "a spec is one YAML document, here begins another", "")
	}
	v = p.value(doc.Content[0], 0)
	return v, !p.full
}

// syntax reports what the YAML library could not read. It stops at the first such place, so this one is alone.
func (p *parser) syntax(err error, text []byte) {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		p.add(place{line: 1, col: 1}, "", "syntax", err.Error(), "")
		return
	}
	at := place{line: max(le.Mark.Line, 1), col: max(le.Mark.Column, 1)}
	msg := le.Message
	if le.ContextMsg != "" {
		msg += " (" + le.ContextMsg + ")"
	}
	hint := ""
	if line := lineOf(text, at.line); strings.Contains(line, "${") && strings.Contains(le.ContextMsg, "flow") {
		hint = `inside { } and [ ] put a variable in quotes: "${NAME}"`
	} else if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
		hint = "indent with spaces, not with tabs"
	}
	p.add(at, "", "syntax", msg, hint)
}

func lineOf(text []byte, n int) string {
	for i, l := range bytes.Split(text, []byte("\n")) {
		if i+1 == n {
			return string(l)
		}
	}
	return ""
}

// value converts a node. Problems of form are reported here, so later steps need not look at YAML again.
func (p *parser) value(n *yaml.Node, depth int) registry.Value {
	v := registry.Value{At: place{line: n.Line, col: n.Column}}
	p.values++
	if p.full {
		return v
	}
	if p.values > MaxValues || depth > MaxDepth {
		p.full = true
		msg, hint := fmt.Sprintf("a spec may have %d values", MaxValues), "aliases count as often as they are used"
		if depth > MaxDepth {
			msg, hint = fmt.Sprintf("a spec may have %d maps and lists within each other", MaxDepth), ""
		}
		p.add(v.At, "", "too_large", msg, hint)
		return v
	}
	if n.Kind != yaml.AliasNode && n.Style&yaml.TaggedStyle != 0 {
		p.add(v.At, "", "yaml_feature", fmt.Sprintf("the tag %q is not read", n.Tag), "leave it out; a field's type is known from its kind")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return p.value(n.Alias, depth+1)
	case yaml.MappingNode:
		v.Form = registry.Map
		v.Members = p.members(n, depth)
	case yaml.SequenceNode:
		v.Form = registry.List
		for _, c := range n.Content {
			v.Items = append(v.Items, p.value(c, depth+1))
		}
	default:
		p.scalar(n, &v)
	}
	return v
}

func (p *parser) members(n *yaml.Node, depth int) []registry.Member {
	var out []registry.Member
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !p.full; i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		at := place{line: n.Content[i].Line, col: n.Content[i].Column}
		switch {
		case k.Kind != yaml.ScalarNode:
			p.add(at, "", "yaml_feature", "a key must be a word", "")
			continue
		case k.Tag == "!!merge":
			p.add(at, "", "yaml_feature", "merge keys (<<) are not read", "name an anchor where the whole value stands: key: *name")
			continue
		}
		if line, again := first[k.Value]; again {
			p.add(at, "", "duplicate_key", fmt.Sprintf("key %q is already given in line %d", k.Value, line), "")
			continue
		}
		first[k.Value] = at.line
		out = append(out, registry.Member{Key: k.Value, At: at, Value: p.value(n.Content[i+1], depth+1)})
	}
	return out
}

func (p *parser) scalar(n *yaml.Node, v *registry.Value) {
	v.Text = n.Value
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		v.Form = registry.Quoted
	}
	if p.getenv != nil && strings.Contains(v.Text, "$") {
		p.expand(v)
	}
}

// expand puts the environment's values in place of ${NAME} and ${NAME:-default}; $${ stands for a literal ${. A value
// with such a part has no type of its own: "${WORKERS}" in quotes is a number if the variable is.
func (p *parser) expand(v *registry.Value) {
	var b strings.Builder
	rest := v.Text
	for {
		i := strings.Index(rest, "${")
		if i < 0 {
			break
		}
		if i > 0 && rest[i-1] == '$' {
			b.WriteString(rest[:i-1] + "${")
			rest = rest[i+2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if end < 0 {
			p.add(v.At, "", "variable", fmt.Sprintf("%q has no end", "${"), "write ${NAME} or ${NAME:-default}; $${ is a plain ${")
			break
		}
		b.WriteString(rest[:i] + p.variable(v, rest[i+2:i+end]))
		rest = rest[i+end+1:]
		v.Form = registry.Free
	}
	v.Text = b.String() + rest
}

func (p *parser) variable(v *registry.Value, inner string) string {
	name, def, hasDefault := strings.Cut(inner, ":-")
	if !variableName(name) {
		p.add(v.At, "", "variable", fmt.Sprintf("%q is not the name of a variable", name),
			"write ${NAME} or ${NAME:-default}; $${ is a plain ${")
		return ""
	}
	val, set := p.getenv(name)
	if hasDefault {
		return cmp.Or(val, def) // as a shell does: an empty variable counts as not set
	}
	if !set {
		p.add(v.At, "", "variable", fmt.Sprintf("the variable %s is not set", name), fmt.Sprintf("set it or write ${%s:-default}", name))
	}
	return val
}

func variableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
