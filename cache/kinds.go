package cache

import "github.com/penstock-go/penstock/graph/registry"

var kinds registry.Set

// Kinds lists the caches that a spec can name.
func Kinds() []registry.Entry { return kinds.Entries() }
