package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pictures makes a folder of good pictures and of files that are none, and a spec over it.
func pictures(t *testing.T, good int, bad ...string) (spec, root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "data")
	r := penstock(t, "synth", "images", root, "--count", fmt.Sprint(good), "--classes=2", "--width", "32", "--height", "24")
	require.Equal(t, exitDone, r.code, r.err)
	for _, name := range bad {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("\xff\xd8\xff\xe0 no picture"), 0o644))
	}
	return write(t, "x.yaml", `pipeline: x
stages:
  - {id: read, folder: {root: `+root+`}}
  - {id: decode, decode_image: {}, on_error: skip, workers: 3}
  - {id: end, discard: {}}
`), root
}

func lines(t *testing.T, file string) (all []quarantineLine) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	for l := range strings.Lines(string(b)) {
		var q quarantineLine
		require.NoError(t, json.Unmarshal([]byte(l), &q), l)
		all = append(all, q)
	}
	return all
}

func TestSkippedItemsAreToldAndWrittenDownAndCanBeLeftOut(t *testing.T) {
	odd := []string{"class_00/cut.jpg", "class_01/two\nlines é.jpg", "class_01/ <x>&.jpg"}
	if runtime.GOOS == "linux" {
		odd = append(odd, "class_01/\xff\xfe.jpg")
	}
	file, root := pictures(t, 8, odd...)
	q := filepath.Join(t.TempDir(), "bad.jsonl")
	r := penstock(t, "run", file, "--quarantine", q)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.err, `penstock: skipped: stage "decode": class_00/cut.jpg: jpeg: `)
	assert.Contains(t, r.err, `class_01/two\nlines é.jpg: jpeg`, "one line an item, whatever its name")
	assert.Contains(t, r.err, "lists the skipped items")
	all := lines(t, q)
	require.Len(t, all, len(odd))
	keys := map[string]quarantineLine{}
	for _, l := range all {
		key := l.Key
		if len(l.Bytes) > 0 {
			key = string(l.Bytes)
		}
		keys[key] = l
	}
	for _, key := range odd {
		l, ok := keys[key]
		require.True(t, ok, "%q", key)
		assert.Equal(t, "decode", l.Stage)
		assert.Contains(t, l.Error, "jpeg: ")
		assert.Equal(t, 1, l.Attempt)
		require.NotNil(t, l.Offset)
		assert.Equal(t, int64(0), l.Epoch)
	}
	text, err := os.ReadFile(q)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<x>&")

	left := filepath.Join(filepath.Dir(file), "left.jsonl")
	r = penstock(t, "run", file, "--set", "decode.on_error=fail", "--set", "read.exclude="+q, "--quarantine", left)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "8 samples")
	assert.Contains(t, r.out, fmt.Sprintf("left out %d files", len(odd)))
	assert.Empty(t, lines(t, left))

	r = penstock(t, "run", file, "--set", "decode.on_error=fail")
	require.Equal(t, exitFailed, r.code)
	require.NoError(t, os.Remove(filepath.Join(root, odd[0])))
	r = penstock(t, "run", file, "--set", "decode.on_error=fail", "--set", "decode.workers=1")
	require.Equal(t, exitFailed, r.code)
	assert.Equal(t, 1, strings.Count(r.err, "\n"), "an error is one line, whatever the item's name")
}

func TestOnlyTheFirstSkipsAreToldOneByOne(t *testing.T) {
	var bad []string
	for i := range 30 {
		bad = append(bad, fmt.Sprintf("class_00/bad%02d.jpg", i))
	}
	file, _ := pictures(t, 200, bad...)
	q := filepath.Join(t.TempDir(), "q")
	r := penstock(t, "run", file, "--quarantine", q)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Equal(t, tellMost, strings.Count(r.err, "penstock: skipped: "))
	assert.Contains(t, r.err, "more skipped items are only counted")
	assert.Contains(t, r.err, "penstock: skipped 30 items in all\n")
	assert.Len(t, lines(t, q), 30)
}

func TestTheQuarantineIsCompleteWhenTheRunFails(t *testing.T) {
	file, _ := pictures(t, 8, "class_00/a.jpg", "class_00/b.jpg", "class_01/c.jpg")
	q := filepath.Join(t.TempDir(), "q")
	js := filepath.Join(t.TempDir(), "x.json")
	r := penstock(t, "run", file, "--quarantine", q, "--set", "decode.on_error={skip: {max_count: 2}}", "--report", js)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "3 items skipped, max_count is 2")
	all := lines(t, q)
	require.Len(t, all, 3)
	assert.Equal(t, strings.Count(r.err, "penstock: skipped: "), len(all))
}

func TestAQuarantineFileIsAddedToAndNothingElseIsOverwritten(t *testing.T) {
	file, _ := pictures(t, 4, "class_00/a.jpg")
	q := filepath.Join(t.TempDir(), "q")
	for i := range 2 {
		require.Equal(t, exitDone, penstock(t, "run", file, "--quarantine", q).code)
		assert.Len(t, lines(t, q), i+1)
	}
	for _, tail := range []string{`{"key":"half`, `{"key":"whole"}`} {
		f, err := os.OpenFile(q, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(tail)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, exitDone, penstock(t, "run", file, "--quarantine", q).code)
	}
	assert.Len(t, lines(t, q), 5)
	r := penstock(t, "run", file, "--quarantine", file)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "holds something else than skipped items")
	r = penstock(t, "run", file, "--quarantine", filepath.Dir(q))
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "is a folder")
}

func TestAQuarantineThatCannotBeWrittenIsAnError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	file, _ := pictures(t, 4, "class_00/a.jpg")
	r := penstock(t, "run", file, "--quarantine", "/dev/full")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, `--quarantine "/dev/full" is not complete`)
}

func TestTheQuarantineIsCompleteWhenTheRunIsInterrupted(t *testing.T) {
	file, _ := pictures(t, 4, "class_00/a.jpg", "class_01/b.jpg")
	q := filepath.Join(t.TempDir(), "q")
	var stdout bytes.Buffer
	signals := make(chan os.Signal, 1)
	stderr := &trigger{word: "penstock: skipped: ", f: func() { signals <- syscall.SIGTERM }}
	a := testApp(t, &stdout, stderr)
	a.signals = signals
	code := a.main([]string{"run", file, "--quarantine", q, "--set", "epochs=forever"})
	assert.Equal(t, exitTerminated, code)
	all := lines(t, q)
	assert.NotEmpty(t, all)
}

// trigger calls f once, when a word has been written.
type trigger struct {
	bytes.Buffer
	word string
	f    func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if w.f != nil && strings.Contains(string(p), w.word) {
		w.f()
		w.f = nil
	}
	return w.Buffer.Write(p)
}
