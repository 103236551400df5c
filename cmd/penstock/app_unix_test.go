//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWrongSpecGivesTwoAndReadsNothing(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	file := write(t, "x.yaml", "pipeline: x\nsuffle: true\nstages:\n  - {id: read, folder: {root: "+pipe+"}}\n  - {id: end, discard: {}}\n")
	for _, args := range [][]string{{"run", file}, {"inspect", file, "--at", "read"}} {
		r := penstock(t, args...) // opening the pipe would hang for ever
		assert.Equal(t, exitUsage, r.code)
		assert.Empty(t, r.out)
		assert.Equal(t, file+`:2:1: unknown key "suffle" [unknown_key] (hint: write sampler: shuffled at a source)`+"\n", r.err)
	}
	r := penstock(t, "lint", file)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.out, "unknown_key")
	assert.Empty(t, r.err)
}
