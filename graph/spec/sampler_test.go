package spec_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

// drawn is a sampler with fields; it is never asked for places.
type drawn struct {
	Count   int
	Weights string
}

func (d *drawn) Bind(f *registry.Fields) {
	f.Int(&d.Count, "count", 0, "draws an epoch", registry.Required(), registry.Min(1))
	f.Path(&d.Weights, "weights", "", "a file")
}

func (d drawn) Check() error { return registry.Check(&d, (*drawn).Bind) }

func withDrawn(t testing.TB) *registry.Catalog {
	c, err := registry.NewCatalog(
		registry.Source[pictures](registry.Meta{Name: "pictures", Summary: "A kind.", Example: "pictures: {root: x}"}, (*pictures).Bind),
		registry.Sampler[shuffled](registry.Meta{Name: "shuffled", Summary: "A kind.", Example: "sampler: shuffled"}, nil),
		registry.Sampler[drawnSampler](registry.Meta{Name: "drawn", Summary: "A kind.", Example: "sampler: {drawn: 5}"},
			func(d *drawnSampler, f *registry.Fields) { d.Bind(f) }),
		registry.Sink[discard[*item.Sample]](registry.Meta{Name: "discard", Summary: "A kind.", Example: "discard: {}"}, (*discard[*item.Sample]).Bind),
	)
	require.NoError(t, err)
	return c
}

type drawnSampler struct {
	shuffled
	drawn
}

func (drawnSampler) Kind() string { return "drawn" }

func TestASamplerTakesFieldsOrItsFirstField(t *testing.T) {
	for text, want := range map[string]string{
		"{drawn: 7}": "Count:7 Weights:", "{drawn: {count: 7, weights: w.txt}}": "Count:7 Weights:dir/w.txt", "{shuffled: {}}": "shuffled",
		"{shuffled: }": "shuffled",
	} {
		s, d := spec.Parse("x.yaml", []byte("pipeline: x\nstages:\n  - {id: read, pictures: {root: data}, sampler: "+text+"}\n  - {id: end, discard: {}}\n"), withDrawn(t),
			spec.Options{Dir: "dir"})
		require.Empty(t, d)
		assert.Contains(t, s.Pipeline.Describe(), want)
	}
	for text, want := range map[string]string{
		"{drawn: x}":                        `3:57: stage "read": sampler drawn: count: wanted a whole number in decimal digits, got x [field_type]`,
		"{drawn: 0}":                        `3:57: stage "read": sampler drawn: count must be at least 1, got 0 [field_range]`,
		"{drawn: {}}":                       `3:50: stage "read": sampler drawn: count is missing [field_missing]`,
		"drawn":                             `3:49: stage "read": sampler drawn: count is missing [field_missing]`,
		"{drawn: {cont: 3}}":                `3:58: stage "read": sampler drawn: unknown key "cont" [unknown_key] (hint: did you mean "count"?)`,
		"{shuffled: 3}":                     `sampler shuffled takes nothing, got 3 [field_type] (hint: write sampler: shuffled)`,
		"{shuffled: {}, drawn: 3}":          `sampler: wanted the name of a sampler, got a map [field_type]`,
		"[shuffled]":                        `sampler: wanted the name of a sampler, got a list [field_type]`,
		"{shufled: {}}":                     `unknown sampler "shufled" [field_value] (hint: did you mean "shuffled"?)`,
		"{drawn: {count: 3, weights: [a]}}": `sampler drawn: weights: wanted text, got a list [field_type]`,
	} {
		_, d := spec.Parse("x.yaml", []byte("pipeline: x\nstages:\n  - {id: read, pictures: {root: data}, sampler: "+text+"}\n  - {id: end, discard: {}}\n"), withDrawn(t), spec.Options{})
		assert.Contains(t, d.Error(), want, text)
	}
}

func TestTheSchemaOfSamplersTakesTheirForms(t *testing.T) {
	text, err := spec.Schema(withDrawn(t))
	require.NoError(t, err)
	var tree struct {
		Properties struct {
			Stages struct {
				Items struct {
					Properties struct {
						Sampler struct {
							AnyOf []struct {
								Enum       []string
								Properties map[string]struct{ AnyOf []any }
							}
						}
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &tree))
	forms := tree.Properties.Stages.Items.Properties.Sampler.AnyOf
	require.Len(t, forms, 2)
	assert.Equal(t, []string{"shuffled"}, forms[0].Enum, "the other needs a field")
	assert.Len(t, forms[1].Properties["drawn"].AnyOf, 2)
	assert.Contains(t, forms[1].Properties, "shuffled")
}
