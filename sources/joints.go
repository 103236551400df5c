package sources

import (
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

// joints are the kinds made of other sources. They are not in the set of the room: a program that names neither them nor
// Kinds does not carry their code.
func joints() []registry.Entry {
	return []registry.Entry{
		registry.Source(registry.Meta{
			Name: "concat", Summary: "Is one source of several: the samples of the first, then those of the second, and so on.",
			Example: "concat: {sources: [{range: {count: 800}}, {range: {count: 200}}]}",
		}, (*concat[*item.Sample]).bind),
		registry.Source(registry.Meta{
			Name: "zip", Summary: "Joins the samples of several sources of equal length, index by index.",
			Example: "zip: {sources: [{range: {count: 100}}, {synthetic_images: {count: 100}}]}",
		}, (*zip).bind),
	}
}

func (c *concat[T]) bind(f *registry.Fields) {
	bindParts(f, &c.parts, "the sources in their order; samplers and ranks see one source", 1)
}

func (z *zip) bind(f *registry.Fields) {
	bindParts(f, &z.parts, "the sources, map-style and of equal length; no two may have a field of the same name", 2)
}

// bindParts is for parts of samples only: no others can be written down.
func bindParts[T any](f *registry.Fields, p *parts[T], doc string, least int) {
	if s, ok := any((*[]graph.Source[T])(p)).(*[]graph.Source[*item.Sample]); ok {
		f.Sources(s, "sources", doc, least)
	}
}
