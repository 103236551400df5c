package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// Cases that were reported against other programs, and that no other test holds as they were reported.

// A stream behind a shuffle, left in the middle of a block and taken up by a runner that knows the file alone, is the
// rest of the unbroken one; the file stays small.
func TestAShuffleGoesOnInTheMiddleOfABlock(t *testing.T) {
	file := write(t, "x.yaml", `pipeline: x
seed: 3
epochs: 2
stages:
  - {id: read, range: {count: 100}, sampler: shuffled}
  - {id: mixed, shuffle: {size: 16}}
  - {id: pack, collate: {size: 1}}
  - {id: end,  discard: {}}
`)
	want := digest(t, file)
	for _, after := range []int{1, 15, 16, 23, 99, 100, 123} {
		state := filepath.Join(t.TempDir(), "s.json")
		r := penstock(t, "run", file, "--state", state, "--batches", fmt.Sprint(after), "--set", "pack.workers=3")
		require.Equal(t, exitDone, r.code, r.err)
		info, err := os.Stat(state)
		require.NoError(t, err)
		assert.Less(t, info.Size(), int64(4096))
		assert.Equal(t, want, digest(t, file, "--state", state, "--resume"), "after %d", after)
	}
}

// A stage that fails for every item ends the run at the failure beyond the limit, and no other stage is blamed.
func TestAtTheLimitOfSkipsOnlyTheStageThatFailedIsNamed(t *testing.T) {
	root := t.TempDir()
	for i := range 10 {
		require.NoError(t, os.WriteFile(filepath.Join(root, fmt.Sprintf("%d.jpg", i)), []byte("no picture"), 0o644))
	}
	js := filepath.Join(t.TempDir(), "x.json")
	r := penstock(t, "run", write(t, "x.yaml", `pipeline: x
stages:
  - {id: read, folder: {root: `+root+`}}
  - {id: decode, decode_image: {}, on_error: {skip: {max_count: 2}}, workers: 4}
  - {id: small, resize: {size: 8}}
  - {id: pack, collate: {size: 2}}
  - {id: end, discard: {}}
`), "--report", js)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, `stage "decode": 2.jpg`)
	assert.Contains(t, r.err, "3 items skipped, max_count is 2")
	for _, other := range []string{"read", "small", "pack", "end"} {
		assert.NotContains(t, r.err, fmt.Sprintf("stage %q", other))
	}
	for _, s := range stagesIn(t, js) {
		assert.True(t, s.ID == "decode" || s.Failed+s.Skipped == 0, "%+v", s)
	}
}

type stageIn struct {
	ID              string
	Failed, Skipped int64
}

func stagesIn(t *testing.T, file string) []stageIn {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct{ Stages []stageIn }
	require.NoError(t, json.Unmarshal(b, &doc))
	require.NotEmpty(t, doc.Stages)
	return doc.Stages
}

// One giant among small files is refused by its size, before it is read; the others come.
func TestAGiantAmongSmallFilesIsRefusedBeforeItIsRead(t *testing.T) {
	root := t.TempDir()
	for i := range 99 {
		require.NoError(t, os.WriteFile(filepath.Join(root, fmt.Sprintf("%02d", i)), make([]byte, 10_000), 0o644))
	}
	giant, err := os.Create(filepath.Join(root, "50_giant"))
	require.NoError(t, err)
	require.NoError(t, giant.Truncate(2<<30)) // takes no room on disk
	require.NoError(t, giant.Close())
	spec := write(t, "x.yaml", `pipeline: x
stages:
  - {id: read, folder: {root: `+root+`, max_bytes: 64MiB}, on_error: skip}
  - {id: end, discard: {}}
`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := penstock(t, "run", spec)
	runtime.ReadMemStats(&after)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "99 samples")
	assert.Contains(t, r.err, "50_giant: the file has 2147483648 bytes, more than max_bytes, 67108864")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20))
	r = penstock(t, "run", spec, "--set", "read.on_error=fail")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "50_giant")
}

// Reports and traces of runs that ended at once, early or by an error are whole, and hold no number that cannot be.
func TestReportsOfRunsThatEndedEarlyHoldNoNonsense(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.jpg", "b.jpg"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("no picture"), 0o644))
	}
	bad := `pipeline: bad
stages:
  - {id: read, folder: {root: ` + root + `}}
  - {id: decode, decode_image: {}}
  - {id: end, discard: {}}
`
	for name, c := range map[string]struct {
		spec    string
		args    []string
		code    int
		samples float64
		skipped float64
	}{
		"an early end":      {endless, []string{"--batches", "1"}, exitDone, 10, 0},
		"an error at once":  {bad, nil, exitFailed, 0, 0},
		"nothing delivered": {bad, []string{"--set", "decode.on_error=skip"}, exitDone, 0, 2},
		"one goroutine":     {endless, []string{"--batches", "1", "--sync"}, exitDone, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			js, trace := filepath.Join(dir, "r.json"), filepath.Join(dir, "t.json")
			args := []string{"run", write(t, "x.yaml", c.spec), "--report", js}
			if name != "one goroutine" {
				args = append(args, "--trace", trace)
			}
			r := penstock(t, append(args, c.args...)...)
			require.Equal(t, c.code, r.code, r.err)
			for _, word := range []string{"NaN", "Inf"} {
				assert.NotContains(t, r.out, word)
			}
			b, err := os.ReadFile(js)
			require.NoError(t, err)
			var doc map[string]any
			require.NoError(t, json.Unmarshal(b, &doc))
			noNegative(t, "", doc)
			totals := doc["totals"].(map[string]any)
			assert.Equal(t, c.samples, totals["samples"])
			assert.Equal(t, c.skipped, totals["skipped"])
			assert.Equal(t, true, totals["balanced"])
			if name != "one goroutine" {
				traceIn(t, trace)
			}
		})
	}
}

// noNegative demands that no number of a report is below 0.
func noNegative(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			noNegative(t, path+"."+k, x)
		}
	case []any:
		for i, x := range v {
			noNegative(t, fmt.Sprintf("%s[%d]", path, i), x)
		}
	case float64:
		assert.GreaterOrEqual(t, v, 0.0, path)
	}
}

// Another setting above a cache is another stream: nothing that was kept before is served.
func TestACacheServesNothingThatOtherSettingsMade(t *testing.T) {
	file, _ := pictures(t, 8)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	with := write(t, "with.yaml", strings.Replace(string(text), "  - {id: end", "  - {id: small, resize: {size: 8}}\n  - {id: keep, memory_cache: {}}\n  - {id: end", 1))
	without := write(t, "without.yaml", strings.Replace(string(text), "  - {id: end", "  - {id: small, resize: {size: 8}}\n  - {id: end", 1))
	seen := map[string]bool{}
	for _, size := range []string{"8", "9", "8"} {
		set := []string{"--set", "epochs=3", "--set", "small.size=" + size}
		d := digest(t, append(set, with)...)
		assert.Equal(t, digest(t, append(set, without)...), d, "size %s", size)
		seen[d] = true
	}
	assert.Len(t, seen, 2, "the two sizes differ")
}

// A spec whose graph is wrong in many ways is refused with all of them at once, and nothing is opened.
func TestEveryFaultOfAGraphIsToldAtOnceAndNothingIsOpened(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "must_stay_closed")
	file := write(t, "x.yaml", `pipeline: x
stages:
  - {id: read, folder: {root: `+missing+`}}
  - {id: a, delay: {time: 1ms}, from: b}
  - {id: b, delay: {time: 1ms}}
  - {id: lost, delay: {time: 1ms}, from: raed}
  - {id: pack, collate: {size: 2}, from: read}
  - {id: decode, decode_image: {}}
  - {id: end, discard: {}}
  - {id: end, discard: {}, from: pack}
`)
	r := penstock(t, "lint", file)
	assert.Equal(t, exitUsage, r.code)
	for _, code := range []string{"[cycle]", "[unknown_from]", "[duplicate_id]", "[port_type]", "[two_sinks]"} {
		assert.Contains(t, r.out, code)
	}
	assert.NotContains(t, r.out, "no such file")
	ran := penstock(t, "run", file)
	assert.Equal(t, exitUsage, ran.code)
	for line := range strings.Lines(r.out) {
		if strings.HasPrefix(line, file+":") {
			assert.Contains(t, ran.err, line)
		}
	}
}

// The state is of what was delivered, not of what was read ahead of it.
func TestStatesDoNotDependOnHowFarIsReadAhead(t *testing.T) {
	file := write(t, "x.yaml", resumable)
	var first graph.State
	for i, buffer := range []string{"1", "8", "64"} {
		path := filepath.Join(t.TempDir(), "s.json")
		r := penstock(t, "run", file, "--state", path, "--batches", "2", "--set", "read.buffer="+buffer, "--set", "pack.buffer="+buffer)
		require.Equal(t, exitDone, r.code, r.err)
		s, err := graph.LoadState(path)
		require.NoError(t, err)
		if i == 0 {
			first = s
		}
		assert.Equal(t, first, s, "buffer %s", buffer)
	}
}
