package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Sources is a list of sources of samples, each written as the kind of a stage is: {range: {count: 10}}. It is required.
// Such a source may hold sources too. least is how many there must be.
func (f *Fields) Sources(p *[]graph.Source[*item.Sample], key, doc string, least int) {
	rules := []Rule{Required(), {kind: length, lo: least}}
	d := Field{Name: key, Type: TypeSources, Doc: doc, Rules: rules, unit: plainUnit, empty: true}
	d.zero = func() bool { return len(*p) == 0 }
	d.fill = func() {}
	d.check = func() *fault { return inLength(rules, len(*p), "sources") }
	d.nested = func(v Value, dir string, c *Catalog) (problems []Problem) {
		if *p, problems = c.sources(key, v, dir); len(problems) > 0 {
			return problems
		}
		if e := d.check(); e != nil {
			problems = append(problems, e.at(v.At).problem(key))
		}
		return problems
	}
	f.list = append(f.list, d)
}

// sources reads a list of sources. Problems name the place in the list and the kind.
func (c *Catalog) sources(key string, v Value, dir string) (list []graph.Source[*item.Sample], problems []Problem) {
	if v.Form != List {
		return nil, []Problem{wrongType("a list of sources", v, "write "+key+": [{KIND: {FIELDS}}, {KIND: {FIELDS}}]").at(v.At).problem(key)}
	}
	for i, it := range v.Items {
		s, found := c.source(it, dir)
		for _, p := range found {
			p.Field, p.Msg = key, fmt.Sprintf("%s[%d]: %s", key, i, p.Msg)
			problems = append(problems, p)
		}
		if s != nil {
			list = append(list, s)
		}
	}
	return list, problems
}

// source reads {KIND: {FIELDS}}. What was surely meant stands in for an unknown kind, so that its fields are checked too.
func (c *Catalog) source(v Value, dir string) (graph.Source[*item.Sample], []Problem) {
	m, problems := c.pick(v)
	if m == nil {
		return nil, problems
	}
	k, ok := c.Kind(m.Key)
	names := c.sourceNames()
	switch {
	case !ok:
		problems = append(problems, unknownKind(m, names))
		if k, ok = c.Kind(Near(m.Key, names)); !ok {
			return nil, problems
		}
	case k.Role != RoleSource:
		return nil, append(problems, Problem{At: m.At, Code: "field_value", Msg: fmt.Sprintf("%s is a %s and not a source", k.Name, k.Role),
			Hint: "the sources are " + strings.Join(names, ", ")})
	}
	if b := m.Value; b.Form != Map && !b.Null() {
		return nil, append(problems, Problem{At: b.At, Code: "field_type", Msg: k.Name + ": wanted a map of its fields, got " + b.describe(),
			Hint: "write " + k.Name + ": {}"})
	}
	config, found := k.Entries[0].Decode(m.Value.Members, dir)
	for _, p := range found {
		if p.At == nil {
			p.At = m.At
		}
		p.Msg = k.Name + ": " + p.Msg
		problems = append(problems, p)
	}
	s, ok := config.(graph.Source[*item.Sample])
	if !ok {
		problems = append(problems, Problem{At: m.At, Code: "port_type", Msg: fmt.Sprintf("wanted a source of samples, but %s gives %s", k.Name, k.Entries[0].Out)})
	}
	return s, problems
}

func unknownKind(m *Member, names []string) Problem {
	p := Problem{At: m.At, Code: "unknown_kind", Msg: "unknown kind " + quote(m.Key), Hint: meant(m.Key, names)}
	if p.Hint == "" {
		p.Hint = "the sources are " + strings.Join(names, ", ")
	}
	return p
}

// pick finds the member that is the kind. The keys of a stage belong to the stage as a whole.
func (c *Catalog) pick(v Value) (kind *Member, problems []Problem) {
	if v.Form != Map || len(v.Members) == 0 {
		return nil, []Problem{{At: v.At, Code: "field_type", Msg: "wanted a source such as {range: {count: 10}}, got " + v.describe()}}
	}
	for i := range v.Members {
		switch m := &v.Members[i]; {
		case slices.Contains(StageKeys[:], m.Key):
			problems = append(problems, Problem{At: m.At, Code: "unknown_key", Msg: "unknown key " + quote(m.Key),
				Hint: m.Key + " is a key of the stage, which reads all its sources"})
		case kind != nil:
			problems = append(problems, Problem{At: m.At, Code: "several_kinds", Msg: fmt.Sprintf("two kinds, %s and %s", quote(kind.Key), quote(m.Key)),
				Hint: "write each source as an element of its own"})
		default:
			kind = m
		}
	}
	if kind == nil && len(problems) == 0 {
		problems = []Problem{{At: v.At, Code: "no_kind", Msg: "the source has no kind"}}
	}
	return kind, problems
}

func (c *Catalog) sourceNames() (names []string) {
	for _, k := range c.kinds {
		if k.Role == RoleSource && k.Entries[0].Out == TypeName[*item.Sample]() {
			names = append(names, k.Name)
		}
	}
	return names
}
