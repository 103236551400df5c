package spec

import (
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// outside finds paths that lead out of the folder that a spec may name. Values that are no paths are left to Decode.
func (c *builder) outside(e registry.Entry, fields []registry.Member) (problems []registry.Problem) {
	if c.root == "" {
		return nil
	}
	for _, f := range e.Fields {
		if f.Type == registry.TypeSources {
			problems = append(problems, c.partsOutside(f.Name, fields)...)
			continue
		}
		if f.Type != registry.TypePath && f.Type != registry.TypePaths {
			continue
		}
		for _, m := range fields {
			if m.Key != f.Name {
				continue
			}
			values := []registry.Value{m.Value}
			if m.Value.Form == registry.List {
				values = m.Value.Items
			}
			for _, v := range values {
				path, p := registry.ReadPath(v, f.Name, c.dir)
				if p != nil || path == "" {
					continue
				}
				if err := graph.Inside(c.root, path); err != nil {
					problems = append(problems, registry.Problem{At: v.At, Field: f.Name, Code: "outside_root", Msg: f.Name + ": " + err.Error()})
				}
			}
		}
	}
	return problems
}

// partsOutside looks at the sources within a source.
func (c *builder) partsOutside(field string, fields []registry.Member) (problems []registry.Problem) {
	for _, m := range fields {
		if m.Key != field {
			continue
		}
		for i, part := range m.Value.Items {
			for _, kind := range part.Members {
				k, ok := c.catalog.Kind(kind.Key)
				if !ok {
					continue
				}
				for _, p := range c.outside(k.Entries[0], kind.Value.Members) {
					p.Field, p.Msg = field, fmt.Sprintf("%s[%d]: %s: %s", field, i, k.Name, p.Msg)
					problems = append(problems, p)
				}
			}
		}
	}
	return problems
}
