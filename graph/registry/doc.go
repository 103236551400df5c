// Package registry holds kinds: the stages that can be named in a spec. A kind is a config struct with one Bind method
// that names each of its fields once; decoding, defaults, checks, documentation and the JSON Schema all come from that.
//
//	var kinds registry.Set // one per room, in kinds.go
//
//	var _ = kinds.Add(registry.Stage[Blur](registry.Meta{
//		Name: "blur", Summary: "Blurs pictures.", Example: `blur: {radius: 2}`,
//	}, (*Blur).Bind))
//
//	func (c *Blur) Bind(f *registry.Fields) {
//		f.Int(&c.Radius, "radius", 3, "in pixels", registry.Min(1), registry.Max(99))
//	}
//	func (c Blur) Check() error { return registry.Check(&c, (*Blur).Bind) }
//
// The zero value of a field means its default, so a legal zero must be the default; [NewCatalog] refuses a numeric
// field that breaks this rule.
//
// The package knows no YAML: values come in as [Value], with positions that it hands back untouched. An [Entry] joins a
// decoded config to an upstream port through the same generic functions of package graph that a Go program calls; the
// one type assertion is made there, when the pipeline is declared. A [Set] is filled while packages are initialised and
// is not safe for use by several goroutines; a [Catalog] never changes and is.
package registry
