package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

func twin(t *testing.T, set ...string) *graph.Pipeline {
	t.Helper()
	c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds())...)
	require.NoError(t, err)
	s, found := spec.Load("pipeline.yaml", nil, c, spec.Options{Set: set})
	require.Empty(t, found)
	return s.Pipeline
}

func snapshot(t *testing.T, p *graph.Pipeline) graph.Snapshot {
	t.Helper()
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	return r.Snapshot()
}

func TestTheGoProgramDeclaresThePipelineOfTheSpec(t *testing.T) {
	assert.Equal(t, twin(t).Describe(), declare(sources.Folder{Root: "data", Synth: 400}).Describe())
}

// digest is that of 40 pictures in 3 epochs, on every processor, by the assembly and without it. It changes when the
// pixels of a stage do, or what the digest is made of; then say so in CHANGELOG.md.
const digest = "7c73ce3a3c17fdd3"

func TestBothGiveTheSameSamples(t *testing.T) {
	root := filepath.Join(t.TempDir(), "pictures")
	a := snapshot(t, declare(sources.Folder{Root: root, Synth: 40}))
	b := snapshot(t, twin(t, "read.root="+root, "read.synth=40", "train.step=1ms"))
	assert.Equal(t, int64(120), a.Totals.Samples)
	assert.Equal(t, int64(6), a.Totals.Batches)
	assert.True(t, a.Totals.Balanced && b.Totals.Balanced)
	require.NotNil(t, a.Digest)
	require.NotNil(t, b.Digest)
	assert.Equal(t, *a.Digest, *b.Digest)
	assert.Equal(t, digest, *a.Digest, "the samples of seed 7 have changed, or differ on this machine")
	assert.Contains(t, strings.Join(a.Warnings, "\n"), "made 40 pictures")
	assert.Contains(t, strings.Join(a.Warnings, "\n"), strconv.Quote(root), "it says where it has put them")
	assert.NotContains(t, strings.Join(b.Warnings, "\n"), "made")
}

func TestAFolderThatIsNotThereIsAnErrorThatNamesIt(t *testing.T) {
	err := run(context.Background(), sources.Folder{Root: "no_such_folder"})
	assert.ErrorContains(t, err, `stage "read"`)
	assert.ErrorContains(t, err, "no_such_folder")
}
