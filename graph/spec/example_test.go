package spec_test

import (
	"fmt"

	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

func ExampleParse() {
	kinds, err := registry.NewCatalog(
		registry.Source[pictures](registry.Meta{Name: "pictures", Summary: "Pictures.", Example: "pictures: {root: data}"},
			(*pictures).Bind),
		registry.Stage[collate](registry.Meta{Name: "collate", Summary: "Batches.", Example: "collate: {size: 64}"},
			(*collate).Bind),
		registry.Sink[accelerator](registry.Meta{Name: "accelerator", Summary: "Steps.", Example: "accelerator: {step: 30ms}"},
			(*accelerator).Bind),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	text := `pipeline: flowers
stages:
  - {id: read,    pictures: {root: data/train}, wrokers: 4}
  - {id: collate, collate: {size: 64}}
  - {id: train,   accelerator: {step: 30}}
`
	_, diagnostics := spec.Parse("train.yaml", []byte(text), kinds, spec.Options{Set: []string{"collate.size=0"}})
	for _, d := range diagnostics {
		fmt.Println(d)
	}
	// Output:
	// train.yaml:3:49: stage "read": unknown key "wrokers" [unknown_key] (hint: did you mean "workers"?)
	// train.yaml:5:39: stage "train": step: wanted a time with a unit such as 30ms or 30s, got 30 [field_type]
	// --set collate.size=0: stage "collate": size must be at least 1, got 0 [field_range]
}
