package cache

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/registry"
)

func TestKindsAreSound(t *testing.T) {
	c, err := registry.NewCatalog(Kinds()...)
	require.NoError(t, err)
	for _, k := range c.Kinds() {
		assert.Regexp(t, `\.$`, k.Summary, k.Name)
		for _, e := range k.Entries {
			for _, f := range e.Fields {
				assert.NotEmpty(t, f.Doc, "%s.%s", k.Name, f.Name)
			}
		}
	}
}
