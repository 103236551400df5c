//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

const outOfOrder = `pipeline: resumable
seed: 3
epochs: 2
stages:
  - {id: read, range: {count: 101}, sampler: shuffled}
  - {id: wait, delay: {time: {uniform: {min: 1us, max: 1ms}}}, workers: 8, order: completion}
  - {id: pack, collate: {size: 4}}
  - {id: end,  record: {file: taken}}
`

// A run in completion order that is broken off again and again takes every sample, and again only what lies above the mark.
func TestARunInCompletionOrderGoesOnFromItsState(t *testing.T) {
	dir := t.TempDir()
	file, state, report, taken := filepath.Join(dir, "x.yaml"), filepath.Join(dir, "s.json"), filepath.Join(dir, "r.md"), filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(file, []byte(outOfOrder), 0o644))
	run := func(more ...string) (stderr string) {
		var stdout, errs bytes.Buffer
		a := testApp(t, &stdout, &errs)
		var err error
		a.catalog, err = recording()
		require.NoError(t, err)
		code := a.main(append([]string{"run", file, "--state", state, "--every", "1", "--report", report}, more...))
		require.Equal(t, exitDone, code, errs.String())
		return errs.String()
	}
	assert.Contains(t, run("--batches", "3"), "penstock: states of this run are inexact, for a stage has order: completion")
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), "the state is inexact: the stage")
	samples := map[string]int{}
	lines := 0
	for i := 0; ; i++ {
		s, err := graph.LoadState(state)
		require.NoError(t, err)
		require.True(t, s.Inexact)
		stderr := run("--batches", "7", "--resume")
		assert.Contains(t, stderr, "the state is inexact: places of the sources that come again although they were done with: ")
		now := recorded(t, taken)
		if len(now) == lines {
			break
		}
		lines = len(now)
		require.Less(t, i, 100)
	}
	for _, l := range recorded(t, taken) {
		words := strings.Fields(l)
		for _, key := range words[1:] {
			samples[words[0]+" "+key]++
		}
	}
	assert.Len(t, samples, 2*101, "nothing is lost")
}
