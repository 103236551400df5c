package spec

import (
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// outside finds paths that lead out of the folder that a spec may name. Values that are no paths are left to Decode.
func (c *builder) outside(e registry.Entry, fields []registry.Member) (problems []registry.Problem) {
	if c.root == "" {
		return nil
	}
	for _, f := range e.Fields {
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
