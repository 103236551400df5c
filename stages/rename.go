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

var _ = kinds.Add(registry.Stage[Rename](registry.Meta{
	Name: "rename", Summary: "Gives fields other names.",
	Example: "rename: {fields: [image, label], to: [picture, class]}",
}, (*Rename).Bind))

// Rename gives the field Fields[i] the name To[i], all at once, so that two can be exchanged. Renamed fields come last,
// in the order of Fields. A new name that another field has, and a field that the sample lacks, are errors.
//
// Any number of workers; order does not matter. Pictures and tensors that are renamed are copied, into their place in the
// batch where collate follows: a batch has places by name, and the data may lie in that of the old name. Cost: that copy.
type Rename struct {
	Fields []string
	To     []string
}

// Bind names the fields.
func (r *Rename) Bind(f *registry.Fields) {
	f.Texts(&r.Fields, "fields", nil, "the fields to rename", registry.Required())
	f.Texts(&r.To, "to", nil, "their new names, in the same order", registry.Required())
}

// Check refuses settings that do not go together.
func (r Rename) Check() error {
	errs := []error{registry.Check(&r, (*Rename).Bind)}
	wrong := func(msg string, args ...any) {
		errs = append(errs, &graph.FieldError{Field: "to", Code: "field_value", Msg: fmt.Sprintf(msg, args...)})
	}
	if len(r.Fields) > 0 && len(r.To) > 0 && len(r.Fields) != len(r.To) {
		wrong("to must have a name for each of the %d fields, got %d", len(r.Fields), len(r.To))
	}
	for i, name := range r.To {
		switch {
		case name == "":
			wrong("to[%d]: a name must not be empty", i)
		case slices.Contains(r.To[:i], name):
			wrong("to[%d]: the name %q is given twice", i, name)
		}
	}
	for i, name := range r.Fields {
		if slices.Contains(r.Fields[:i], name) {
			wrong("fields[%d]: %q is renamed twice", i, name)
		}
	}
	return errors.Join(errs...)
}

// Schema has the new names.
func (r Rename) Schema(in item.Schema) (item.Schema, error) {
	out := in
	var moved []item.FieldSpec
	for i, name := range r.Fields {
		if err := needs(in, name); err != nil {
			return in, err
		}
		f, _ := in.Find(name)
		f.Name = r.To[min(i, len(r.To)-1)]
		moved = append(moved, f)
		out = out.Without(name)
	}
	for _, f := range moved {
		if _, taken := out.Find(f.Name); taken {
			return in, fmt.Errorf("rename: there is a field %q already", f.Name)
		}
		out = out.With(f)
	}
	return out, nil
}

// Open makes the transform.
func (r Rename) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	if err := r.Check(); err != nil {
		return graph.Transform[*item.Sample, *item.Sample]{}, err
	}
	// Where a new name is also an old one, the place of the new name may still hold what has the name now.
	exchanged := slices.ContainsFunc(r.To, func(n string) bool { return slices.Contains(r.Fields, n) })
	return graph.Transform[*item.Sample, *item.Sample]{Map: func(c *graph.Call, in *item.Sample) (*item.Sample, error) {
		for i, name := range r.Fields {
			if in.Get(name) == nil {
				return nil, lacks(in, name)
			}
			if in.Get(r.To[i]) != nil && !slices.Contains(r.Fields, r.To[i]) {
				return nil, fmt.Errorf("there is a field %q already", r.To[i])
			}
		}
		moved := make([]item.Value, 0, 8)
		for i, name := range r.Fields {
			moved = append(moved, carried(c, in.Get(name), r.To[i], !exchanged))
		}
		for _, name := range r.Fields {
			in.Drop(name)
		}
		for i, v := range moved {
			in.Set(r.To[i], v)
		}
		return in, nil
	}}, nil
}

// carried is a value that outlives its field: a copy of pictures and tensors, else another hold.
func carried(c *graph.Call, v *item.Value, name string, place bool) item.Value {
	shape, take := v.Shape(), func() *item.Buffer {
		if place {
			return c.Row(name, v.DType(), v.Shape())
		}
		return c.Buffer(len(v.Data()))
	}
	switch v.Kind() {
	case item.KindImage:
		b := take()
		copy(b.Data, v.Data())
		return item.Picture(b, shape.Dim(0), shape.Dim(1), shape.Dim(2))
	case item.KindTensor:
		b := take()
		copy(b.Data, v.Data())
		return item.Tensor(b, v.DType(), shape)
	}
	return held(v)
}

// held is a value with a hold of its own.
func held(v *item.Value) item.Value {
	if b := v.Buffer(); b != nil {
		b.Retain()
	}
	return *v
}
