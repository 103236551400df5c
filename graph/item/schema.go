package item

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where the bytes of a field lie.
type Place uint8

// The places.
const (
	Host Place = iota
	Pinned
	Device
)

// String is the word used in specs and reports.
func (p Place) String() string { return [...]string{"host", "pinned", "device"}[p] }

// FieldSpec describes one field on an edge. A length of -1 in the shape means that it varies. Typed says whether dtype
// and shape are known; a field of kind [KindNone] may be of any kind.
type FieldSpec struct {
	Name  string
	Kind  Kind
	Typed bool
	DType DType
	Shape Shape
}

// String is the form used in drawings: "image: tensor float32 3×224×224".
func (f FieldSpec) String() string {
	s := f.Name + ": "
	if f.Kind == KindNone {
		return s + "any"
	}
	s += f.Kind.String()
	switch {
	case !f.Typed:
	case f.Kind == KindTensor:
		s += " " + f.DType.String() + " " + f.Shape.String()
	case f.Kind == KindImage:
		s += " " + f.Shape.String()
	}
	return s
}

// Schema says what fields travel on an edge. A closed schema lists all of them, an open one those that are known: then
// needs are checked when items come. It is a value; methods return changed copies.
type Schema struct {
	Fields []FieldSpec
	Open   bool
	Batch  bool // the fields are those of batches; shapes are those of one row
	Place  Place
}

// Find looks a field up.
func (s Schema) Find(name string) (FieldSpec, bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return FieldSpec{}, false
}

// With adds a field or replaces the one of that name.
func (s Schema) With(f FieldSpec) Schema {
	s.Fields = slices.Clone(s.Fields)
	for i := range s.Fields {
		if s.Fields[i].Name == f.Name {
			s.Fields[i] = f
			return s
		}
	}
	s.Fields = append(s.Fields, f)
	return s
}

// Without leaves a field out.
func (s Schema) Without(name string) Schema {
	s.Fields = slices.DeleteFunc(slices.Clone(s.Fields), func(f FieldSpec) bool { return f.Name == name })
	return s
}

// Needs checks that a field of one of the kinds is there. insert names the stage that makes such a field, for the
// message. In an open schema a field that is not listed passes.
func (s Schema) Needs(name string, insert string, kinds ...Kind) error {
	f, ok := s.Find(name)
	switch {
	case !ok && s.Open, ok && f.Kind == KindNone, ok && slices.Contains(kinds, f.Kind):
		return nil
	case !ok:
		return &SchemaError{Field: name, Found: "no such field (there is " + s.String() + ")", Wanted: words(kinds), Insert: insert}
	}
	return &SchemaError{Field: name, Found: strings.TrimPrefix(f.String(), name+": "), Wanted: words(kinds), Insert: insert}
}

func words(kinds []Kind) string {
	w := make([]string, len(kinds))
	for i, k := range kinds {
		w[i] = k.String()
	}
	return strings.Join(w, " or ")
}

// String lists the fields: "image: bytes, label: int"; an open schema ends in "...".
func (s Schema) String() string {
	parts := make([]string, 0, len(s.Fields)+1)
	for _, f := range s.Fields {
		parts = append(parts, f.String())
	}
	if s.Open {
		parts = append(parts, "...")
	}
	if len(parts) == 0 {
		return "no fields"
	}
	return strings.Join(parts, ", ")
}

// SchemaError says that an edge does not carry what a stage needs, and which stage would mend it.
type SchemaError struct {
	Field, Found, Wanted, Insert string
}

// Error is "field "image": wanted image, found bytes; put decode_image before it".
func (e *SchemaError) Error() string {
	s := fmt.Sprintf("field %q: wanted %s, found %s", e.Field, e.Wanted, e.Found)
	if e.Insert != "" {
		s += fmt.Sprintf("; put %s before it", e.Insert)
	}
	return s
}
