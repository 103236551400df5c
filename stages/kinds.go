package stages

import (
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var kinds registry.Set

// Kinds lists the stages that a spec can name.
func Kinds() []registry.Entry { return kinds.Entries() }

// fieldImage is the field in which pictures travel, encoded, decoded and normalized.
const fieldImage = "image"

// imageSchema replaces the picture's field by one of this kind and shape.
func imageSchema(in item.Schema, k item.Kind, d item.DType, shape item.Shape) item.Schema {
	return in.With(item.FieldSpec{Name: fieldImage, Kind: k, Typed: true, DType: d, Shape: shape})
}
