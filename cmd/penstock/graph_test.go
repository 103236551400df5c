package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGraphDrawsASpec(t *testing.T) {
	file := filepath.Join(t.TempDir(), "draw.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`pipeline: pair
stages:
  - {id: a, range: {count: 5}, sampler: {replacement: 9}}
  - {id: b, slow: {count: 4}, workers: 3}
  - {id: few, filter: {field: label, op: lt, value: 5}}
  - {id: both, merge: {}, from: [a, few]}
  - {id: end, discard: {}}
`), 0o644))
	r := penstock(t, "graph", file, "--set", "b.workers=4")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Equal(t, `pipeline pair: seed 0, epochs 1

a     range, cpu
      count: 5
      sampler: {replacement: {count: 9}}
  |  index: int
  +-> both

b     slow, wait
      count: 4
      workers: 4
  |  features: tensor float32 64
  |  label: int
  v
few   filter, cpu
      field: label, op: lt, value: [5]
  |  features: tensor float32 64
  |  label: int
  +-> both

both  merge
  |  fields not stated
  v
end   discard, cpu
`, r.out)
	for form, begin := range map[string]string{"mermaid": "flowchart TD\n", "dot": "digraph \"pair\" {\n", "svg": "<svg xmlns="} {
		r = penstock(t, "graph", file, "--format", form)
		assert.Equal(t, exitDone, r.code)
		assert.Equal(t, begin, r.out[:len(begin)])
	}
	r = penstock(t, "graph", file, "--format=png")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, `a drawing is one of text, mermaid, dot, svg, got "png"`)
	assert.Equal(t, exitUsage, penstock(t, "graph").code)
	assert.Equal(t, exitUsage, penstock(t, "graph", "not there").code)
}
