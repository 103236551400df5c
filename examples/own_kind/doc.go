// Package ownkind holds a stage of one's own, as it would be added to this repository: one file and its test, and
// nothing else is edited. testdata/dim.go is put into the folder stages (here by an overlay, so that the repository stays
// as it is). From then on
//
//	penstock kinds dim                  lists its fields, limits and example
//	penstock lint pipeline.yaml         checks them, and that pictures come in
//	penstock run pipeline.yaml          runs it
//	penstock kinds --schema             has it, for editors
//	go generate ./cmd/penstock          writes docs/reference/dim.md
//	go test ./stages -run Dim           puts it through the suite that every stage must pass
//
// A program outside this repository keeps its kinds in a [registry.Set] of its own and makes a catalog of them and of
// those here: registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds(), own.Entries())...).
//
// [registry.Set]: https://pkg.go.dev/github.com/penstock-go/penstock/graph/registry#Set
package ownkind
