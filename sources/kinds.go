package sources

import "github.com/penstock-go/penstock/graph/registry"

var kinds registry.Set

// Kinds lists the sources that a spec can name.
func Kinds() []registry.Entry { return append(kinds.Entries(), joints()...) }

// Names of the fields that sources make.
const (
	fieldImage    = "image"
	fieldLabel    = "label"
	fieldIndex    = "index"
	fieldFeatures = "features"
)
