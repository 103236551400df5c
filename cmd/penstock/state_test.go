package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

const resumable = `pipeline: resumable
seed: 3
epochs: 2
stages:
  - {id: read, range: {count: 100}, sampler: shuffled}
  - {id: pack, collate: {size: 4}}
  - {id: end,  discard: {}}
`

func batchesOf(t *testing.T, r result) string {
	t.Helper()
	for l := range strings.Lines(r.out) {
		if rest, ok := strings.CutPrefix(l, "resumable: "); ok {
			return strings.SplitN(rest, ", ", 2)[0]
		}
	}
	t.Fatal(r.out, r.err)
	return ""
}

func TestARunGoesOnFromItsState(t *testing.T) {
	file := write(t, "x.yaml", resumable)
	want := digest(t, file)
	state, js := filepath.Join(t.TempDir(), "s.json"), filepath.Join(t.TempDir(), "r.json")
	r := penstock(t, "run", file, "--state", state, "--batches", "5", "--resume")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.err, "there is no state")
	s, err := graph.LoadState(state)
	require.NoError(t, err)
	assert.Equal(t, int64(5), s.Batches)

	for _, step := range []struct{ limit, got string }{{"1", "4 samples in 1 batch"}, {"30", "120 samples in 30 batches"}} {
		r = penstock(t, "run", file, "--state", state, "--resume", "--batches", step.limit, "--set", "pack.workers=3", "--every", "2")
		require.Equal(t, exitDone, r.code, r.err)
		assert.Equal(t, step.got, batchesOf(t, r))
	}
	assert.Contains(t, r.err, `going on after batch 6 of epoch 0`)
	r = penstock(t, "run", file, "--state", state, "--resume", "--report", js)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.err, `going on after batch 11 of epoch 1`)
	assert.Equal(t, "56 samples in 14 batches", batchesOf(t, r))
	b, err := os.ReadFile(js)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"digest": "`+want+`"`, "the digest is that of the whole stream")

	r = penstock(t, "run", file, "--state", state, "--resume")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Equal(t, "0 samples", batchesOf(t, r), "it was through")
	entries, err := os.ReadDir(filepath.Dir(state))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing lies beside the state")
}

func TestAnInterruptWritesTheState(t *testing.T) {
	for _, signals := range [][]os.Signal{{os.Interrupt}, {os.Interrupt, os.Interrupt}, {syscall.SIGTERM}} {
		state := filepath.Join(t.TempDir(), "s.json")
		file := write(t, "endless.yaml", endless)
		var stdout bytes.Buffer
		ch := make(chan os.Signal, len(signals))
		stderr := &trigger{word: "samples/s", f: func() {
			for _, s := range signals {
				ch <- s
			}
		}}
		a := testApp(t, &stdout, stderr)
		a.signals, a.pulse = ch, 1e7
		code := a.main([]string{"run", file, "--state", state, "--every", "1000000"})
		assert.Contains(t, []int{exitInterrupt, exitTerminated}, code)
		s, err := graph.LoadState(state)
		require.NoError(t, err, stderr.String())
		assert.NotEmpty(t, s.Sources)
	}
}

func TestAStateOfSomethingElseIsRefused(t *testing.T) {
	file := write(t, "x.yaml", resumable)
	state := filepath.Join(t.TempDir(), "s.json")
	require.Equal(t, exitDone, penstock(t, "run", file, "--state", state, "--batches", "5").code)
	r := penstock(t, "run", file, "--state", state, "--resume", "--set", "seed=4", "--set", "read.count=90")
	assert.Equal(t, exitUsage, r.code)
	for _, want := range []string{"seed 3", "seed 4", "Count:90"} {
		assert.Contains(t, r.err, want)
	}
	r = penstock(t, "run", file, "--state", state, "--resume", "--force", "--set", "seed=4")
	assert.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "warning: resumed by force")
	assert.Equal(t, "180 samples in 45 batches", batchesOf(t, r))

	r = penstock(t, "run", file, "--state", file)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "not a state")
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, resumable, string(b), "what is no state is not written over")

	r = penstock(t, "run", file, "--state", state)
	assert.Equal(t, exitDone, r.code)
	assert.Contains(t, r.err, "it will be replaced")
}

func TestWhatHasNoStateSaysSoAtTheStart(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s.json")
	r := penstock(t, "run", write(t, "x.yaml", resumable), "--state", state, "--set", "read.order=completion", "--set", "read.workers=2",
		"--set", "rank=1", "--set", "world=2")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "penstock: --state: no state: the stage \"read\" has order: completion")
	assert.Contains(t, r.err, "set steps_per_epoch, or order: input")
	assert.Equal(t, 1, strings.Count(r.err, "no state: "))
	_, err := os.Stat(state)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestOptionsOfStatesBelongTogether(t *testing.T) {
	file := write(t, "x.yaml", resumable)
	for want, args := range map[string][]string{
		"--every needs --state FILE":        {"--every", "3"},
		"--resume needs --state FILE":       {"--resume"},
		"--force needs --resume":            {"--force"},
		"--every must be at least 1, got 0": {"--state", "s", "--every", "0"},
		"there is no folder":                {"--state", filepath.Join(file, "no", "s")},
	} {
		r := penstock(t, append([]string{"run", file}, args...)...)
		assert.Equal(t, exitUsage, r.code, args)
		assert.Contains(t, r.err, want)
	}
}
