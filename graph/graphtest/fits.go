package graphtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/item"
)

// Fits demands that a sample or batch has the fields of a schema, of these kinds, types and shapes, and no others where
// the schema is closed.
func Fits(t testing.TB, s item.Schema, v any) {
	t.Helper()
	switch x := v.(type) {
	case *item.Sample:
		require.False(t, s.Batch, "the schema is one of batches")
		for i := range x.Len() {
			name, f := x.Field(i)
			spec, ok := s.Find(name)
			require.True(t, ok || s.Open, "field %q is not in the schema: %v", name, s)
			if ok {
				fits(t, spec, f.Kind(), f.DType(), f.Shape())
			}
		}
		for _, spec := range s.Fields {
			require.NotNil(t, x.Get(spec.Name), "field %q of the schema is missing", spec.Name)
		}
	case *item.Batch:
		require.True(t, s.Batch, "the schema is not one of batches")
		require.Equal(t, s.Place, x.Place)
		for i := range x.Columns {
			c := &x.Columns[i]
			spec, ok := s.Find(c.Name)
			require.True(t, ok || s.Open, "field %q is not in the schema: %v", c.Name, s)
			if !ok {
				continue
			}
			row := item.Shape{}
			if c.Shape.Rank() > 0 {
				require.Equal(t, x.Len(), c.Shape.Dim(0), "column %q", c.Name)
				row = item.MakeShape(c.Shape.Dims()[1:]...)
			}
			fits(t, spec, c.Kind, c.DType, row)
		}
		for _, spec := range s.Fields {
			require.NotNil(t, x.Column(spec.Name), "field %q of the schema is missing", spec.Name)
		}
	}
}

func fits(t testing.TB, spec item.FieldSpec, k item.Kind, d item.DType, s item.Shape) {
	t.Helper()
	if spec.Kind == item.KindNone {
		return
	}
	require.Equal(t, spec.Kind, k, "kind of field %q", spec.Name)
	if !spec.Typed || k == item.KindText || k == item.KindBytes {
		return
	}
	require.Equal(t, spec.DType, d, "dtype of field %q", spec.Name)
	require.True(t, s.Matches(spec.Shape), "field %q has shape %v, the schema says %v", spec.Name, s, spec.Shape)
}
