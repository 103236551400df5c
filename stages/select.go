package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[Select](registry.Meta{
	Name: "select", Summary: "Keeps some fields of each sample and gives the memory of the others back.",
	Example: "select: {fields: [image, label]}",
}, (*Select).Bind))

// Select keeps the Fields that are named, in the order in which the sample has them, or all but those of Without. A field
// that the sample lacks is an error in both cases.
//
// Any number of workers; order does not matter. Nothing is copied. Cost: some nanoseconds a field.
type Select struct {
	Fields  []string
	Without []string
}

// Bind names the fields.
func (s *Select) Bind(f *registry.Fields) {
	f.Texts(&s.Fields, "fields", nil, "the fields to keep")
	f.Texts(&s.Without, "without", nil, "the fields to leave out, instead of fields")
}

// Check refuses settings that do not go together.
func (s Select) Check() error {
	errs := []error{registry.Check(&s, (*Select).Bind)}
	switch {
	case len(s.Fields) == 0 && len(s.Without) == 0:
		errs = append(errs, &graph.FieldError{Field: "fields", Code: "field_missing", Msg: "fields is missing, or without"})
	case len(s.Fields) > 0 && len(s.Without) > 0:
		errs = append(errs, &graph.FieldError{Field: "without", Code: "field_value", Msg: "without and fields: give one of them"})
	}
	return errors.Join(errs...)
}

func (s *Select) named() []string { return append(slices.Clip(s.Fields), s.Without...) }

func (s *Select) keeps(name string) bool {
	if len(s.Fields) > 0 {
		return slices.Contains(s.Fields, name)
	}
	return !slices.Contains(s.Without, name)
}

// Schema is that of the fields that stay. What an open schema does not list is left out if fields are named.
func (s Select) Schema(in item.Schema) (item.Schema, error) {
	for _, name := range s.named() {
		if err := needs(in, name); err != nil {
			return in, err
		}
	}
	out := in
	for _, f := range in.Fields {
		if !s.keeps(f.Name) {
			out = out.Without(f.Name)
		}
	}
	if len(s.Fields) > 0 && in.Open {
		for _, name := range s.Fields {
			if _, ok := out.Find(name); !ok {
				out = out.With(item.FieldSpec{Name: name})
			}
		}
	}
	out.Open = in.Open && len(s.Fields) == 0
	return out, nil
}

// needs asks for a field of any kind.
func needs(in item.Schema, name string) error {
	return in.Needs(name, "", item.KindInt, item.KindFloat, item.KindText, item.KindBytes, item.KindImage, item.KindTensor)
}

// Open makes the transform.
func (s Select) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	named := s.named()
	return graph.Transform[*item.Sample, *item.Sample]{Map: func(_ *graph.Call, in *item.Sample) (*item.Sample, error) {
		for _, name := range named {
			if in.Get(name) == nil {
				return nil, lacks(in, name)
			}
		}
		for i := in.Len() - 1; i >= 0; i-- {
			if name, _ := in.Field(i); !s.keeps(name) {
				in.Drop(name)
			}
		}
		return in, nil
	}}, nil
}

// lacks says that a field is missing, and which ones there are.
func lacks(in *item.Sample, name string) error {
	names := make([]string, in.Len())
	for i := range names {
		names[i], _ = in.Field(i)
	}
	return fmt.Errorf("field %q is missing; the sample has %q", name, names)
}
