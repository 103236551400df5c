package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
)

func joined(t *testing.T, body string, o spec.Options) (*spec.Spec, spec.Diagnostics) {
	t.Helper()
	c, err := newCatalog()
	require.NoError(t, err)
	return spec.Parse("x.yaml", []byte("pipeline: x\nstages:\n  - {id: read, "+body+"}\n  - {id: end, discard: {}}\n"), c, o)
}

func TestSourcesOfSourcesAreDeclaredAsAGoProgramDeclaresThem(t *testing.T) {
	for body, src := range map[string]graph.Source[*item.Sample]{
		"concat: {sources: [{range: {count: 3}}, {folder: {root: a}}]}":                      sources.Concat[*item.Sample](sources.Range{Count: 3}, sources.Folder{Root: "dir/a"}),
		"concat: {sources: [{concat: {sources: [{range: }]}}, {range: {}}]}":                 sources.Concat[*item.Sample](sources.Concat[*item.Sample](sources.Range{}), sources.Range{}),
		"zip: {sources: [{range: {count: 8}}, {synthetic_images: {count: 8}}]}":              sources.Zip(sources.Range{Count: 8}, sources.SyntheticImages{Count: 8}),
		"zip: {sources: [{range: {count: 8}}, {concat: {sources: [{folder: {root: /b}}]}}]}": sources.Zip(sources.Range{Count: 8}, sources.Concat[*item.Sample](sources.Folder{Root: "/b"})),
	} {
		s, found := joined(t, body, spec.Options{Dir: "dir"})
		require.Empty(t, found, body)
		p := graph.New("x")
		graph.Into(graph.From(p, "read", src), "end", sinks.Discard[*item.Sample]{})
		assert.Equal(t, p.Describe(), s.Pipeline.Describe())
	}
	s, found := joined(t, "concat: {sources: [{range: {count: 3}}]}", spec.Options{Set: []string{"read.sources=[{range: {count: 4}}, {range: {count: 5}}]"}})
	require.Empty(t, found)
	assert.Contains(t, s.Pipeline.Describe(), "concat [range{Count:4} range{Count:5}]")
}

func TestWhatIsWrongWithSourcesOfSourcesHasItsPlace(t *testing.T) {
	for body, want := range map[string]string{
		"concat: {sources: [{range: {count: 3}}, {range: {count: -1}}]}": `3:72: stage "read": sources[1]: range: count must be at least 1, got -1 [field_range]`,
		"concat: {sources: [{range: {cuont: 3}}]}":                       `3:44: stage "read": sources[0]: range: unknown key "cuont" [unknown_key] (hint: did you mean "count"?)`,
		"concat: {sources: [{rnage: {count: 0}}]}": `3:36: stage "read": sources[0]: unknown kind "rnage" [unknown_kind] (hint: did you mean "range"?)
x.yaml:3:51: stage "read": sources[0]: range: count must be at least 1, got 0 [field_range]`,
		"concat: {sources: [{folder: {}}]}":                                        `3:36: stage "read": sources[0]: folder: root is missing [field_missing]`,
		"concat: {sources: [{collate: {size: 3}}]}":                                `3:36: stage "read": sources[0]: collate is a stage and not a source [field_value] (hint: the sources are concat, `,
		"concat: {sources: [{range: {}, workers: 3}]}":                             `3:47: stage "read": sources[0]: unknown key "workers" [unknown_key] (hint: workers is a key of the stage, which reads all its sources)`,
		"concat: {sources: [{range: {}, folder: {root: a}}]}":                      `3:47: stage "read": sources[0]: two kinds, "range" and "folder" [several_kinds]`,
		"concat: {sources: [{range: 5}]}":                                          `3:43: stage "read": sources[0]: range: wanted a map of its fields, got 5 [field_type] (hint: write range: {})`,
		"concat: {sources: [range]}":                                               `3:35: stage "read": sources[0]: wanted a source such as {range: {count: 10}}, got range [field_type]`,
		"concat: {sources: {range: {}}}":                                           `3:34: stage "read": sources: wanted a list of sources, got a map [field_type]`,
		"concat: {sources: []}":                                                    `3:34: stage "read": sources must be at least 1 long, got 0 sources [field_range]`,
		"concat: {}":                                                               `3:16: stage "read": sources is missing [field_missing]`,
		"zip: {sources: [{range: {}}]}":                                            `3:31: stage "read": sources must be at least 2 long, got 1 sources [field_range]`,
		"zip: {sources: [{range: {}}, {range: {}}]}":                               `zip: source 1 has a field "index", which one before it has too [schema]`,
		"zip: {sources: [{range: {}}, {concat: {sources: [{slow: {count: x}}]}}]}": `3:80: stage "read": sources[1]: concat: sources[0]: slow: count: wanted a whole number in decimal digits, got x [field_type]`,
	} {
		_, found := joined(t, body, spec.Options{})
		assert.Contains(t, found.Error(), want, body)
		assert.LessOrEqual(t, found.Errors(), 2, "%s: nothing is said twice: %v", body, found)
	}
}

func TestZippedSourcesOfUnequalLengthsAreRefusedWithBoth(t *testing.T) {
	s, found := joined(t, "zip: {sources: [{range: {count: 6}}, {synthetic_images: {count: 5, width: 16, height: 16}}]}", spec.Options{})
	require.Empty(t, found)
	_, err := s.Pipeline.Start(t.Context())
	assert.ErrorContains(t, err, "zip: source 0 has 6 items and source 1 has 5; they must be equal")
}

func TestPathsOfSourcesWithinSourcesStayInTheRoot(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "a"), 0o755))
	_, found := joined(t, "concat: {sources: [{folder: {root: a}}, {concat: {sources: [{folder: {root: ../b}}]}}]}", spec.Options{Dir: root, Root: root})
	require.Equal(t, 1, found.Errors(), "%v", found)
	assert.Contains(t, found.Error(), "sources[1]: concat: sources[0]: folder: root: ")
	assert.Contains(t, found.Error(), "[outside_root]")
}
