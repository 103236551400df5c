package main

import (
	"slices"

	"github.com/penstock-go/penstock/cache"
	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// newCatalog names every kind that the runner knows. No other place does.
func newCatalog() (*registry.Catalog, error) {
	return registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), cache.Kinds(), sinks.Kinds(), cuda.Kinds(backends()...))...)
}
