package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testApp(t testing.TB, stdout, stderr io.Writer) *app {
	a, err := newApp(strings.NewReader(""), stdout, stderr)
	require.NoError(t, err)
	a.pulse = time.Hour
	return a
}

// result is what a command leaves.
type result struct {
	code     int
	out, err string
}

func penstock(t testing.TB, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := testApp(t, &stdout, &stderr).main(args)
	return result{code, stdout.String(), stderr.String()}
}

func write(t testing.TB, name, text string) string {
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

const small = `pipeline: small
seed: 7
stages:
  - {id: read, range: {count: 100}, sampler: shuffled}
  - {id: pack, collate: {size: 8}}
  - {id: end,  discard: {}}
`

const endless = `pipeline: endless
epochs: forever
stages:
  - {id: read, range: {count: 100}}
  - {id: pack, collate: {size: 10}}
  - {id: end,  accelerator: {step: 1ms}}
`

func TestWrongCommandLinesGiveTwoAndSayWhatIsNear(t *testing.T) {
	file := write(t, "small.yaml", small)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rnu"}, `penstock: unknown command "rnu"; did you mean "run"?`},
		{[]string{"help", "rnu"}, `there is no help on "rnu"; did you mean "run"?`},
		{[]string{"run"}, "penstock: run: wanted one spec, got 0\nsee: penstock help run"},
		{[]string{"run", file, file}, "wanted one spec, got 2"},
		{[]string{"run", file, "--bathces", "3"}, "unknown option --bathces; did you mean --batches?"},
		{[]string{"run", file, "--nonsense"}, "unknown option --nonsense"},
		{[]string{"run", file, "--batches"}, "a value is missing after --batches"},
		{[]string{"run", file, "--batches", "many"}, `wrong value "many" for --batches`},
		{[]string{"run", file, "--batches", "0"}, "--batches must be at least 1, got 0"},
		{[]string{"run", file, "--seconds", "-1"}, "--seconds must be more than 0 and less than 1e9, got -1"},
		{[]string{"run", file, "--seconds", "NaN"}, "--seconds must be more than 0 and less than 1e9, got NaN"},
		{[]string{"run", file, "--watchdog=-1s"}, "--watchdog must be at least 0s, got -1s"},
		{[]string{"run", file, "--watchdog=fast"}, `wrong value "fast" for --watchdog`},
		{[]string{"run", file, "--warmup=-1"}, "--warmup must be at least 0, got -1"},
		{[]string{"run", file, "--trace", "x.html"}, `--trace "x.html": wanted a name that ends in .json, got ".html"`},
		{[]string{"run", file, "--trace", filepath.Join(file, "no", "x.json")}, "there is no folder"},
		{[]string{"run", file, "--listen", "8080"}, `--listen "8080": wanted HOST:PORT or :PORT`},
		{[]string{"run", file, "--listen", "127.0.0.1:99999"}, `--listen "127.0.0.1:99999": listen tcp`},
		{[]string{"run", file, "--report", "x.csv"}, `wanted .json, .html, .txt or .md, got ".csv"`},
		{[]string{"run", file, "--report", filepath.Join(file, "no", "x.md")}, "there is no folder"},
		{[]string{"lint"}, "the name of a spec is missing"},
		{[]string{"kinds", "collte"}, `unknown kind "collte"; did you mean "collate"?`},
		{[]string{"kinds", "a", "b"}, "one kind at a time"},
		{[]string{"kinds", "collate", "--schema"}, "--schema is of all kinds together"},
		{[]string{"inspect"}, "wanted one spec, got 0"},
		{[]string{"synth"}, "wanted: images DIR"},
		{[]string{"synth", "image", "x"}, `did you mean "images"?`},
		{[]string{"synth", "images", "x", "--count", "0"}, "--count must be from 1 to 10000000, got 0"},
	} {
		r := penstock(t, c.args...)
		assert.Equal(t, exitUsage, r.code, c.args)
		assert.Contains(t, r.err, c.want)
		assert.Empty(t, r.out)
	}
	r := penstock(t)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "penstock run")
}

func TestHelpGoesToStandardOutput(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"help", "spec"}, {"run", "--help"}, {"lint", "-h"}, {"help", "kinds"},
		{"inspect", "x.yaml", "--help"}, {"help", "synth"}, {"version"}} {
		r := penstock(t, args...)
		assert.Equal(t, exitDone, r.code, args)
		assert.NotEmpty(t, r.out)
		assert.Empty(t, r.err)
	}
}

func TestRunPrintsTheTableAndWritesReports(t *testing.T) {
	file := write(t, "small.yaml", small)
	dir := filepath.Dir(file)
	js, txt, md, html := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.TXT"), filepath.Join(dir, "c.md"), filepath.Join(dir, "d.html")
	r := penstock(t, "run", "--set", "pack.size=10", file, "--report", js, "--report", txt, "--report", md, "--report", html)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "100 samples in 10 batches")

	var doc struct {
		Version  int
		Pipeline string
		Spec     struct {
			Text      string
			Overrides []string
		}
		Totals struct {
			Samples, Batches int
			Balanced         bool
		}
	}
	b, err := os.ReadFile(js)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &doc))
	assert.Equal(t, 1, doc.Version)
	assert.Equal(t, small, doc.Spec.Text)
	assert.Equal(t, []string{"pack.size=10"}, doc.Spec.Overrides)
	assert.Equal(t, 100, doc.Totals.Samples)
	assert.True(t, doc.Totals.Balanced)
	b, err = os.ReadFile(txt)
	require.NoError(t, err)
	assert.Equal(t, r.out, string(b))
	b, err = os.ReadFile(md)
	require.NoError(t, err)
	assert.Contains(t, string(b), "small")
	b, err = os.ReadFile(js)
	require.NoError(t, err)
	assert.JSONEq(t, string(b), insidePage(t, html))
}

func digest(t *testing.T, args ...string) string {
	t.Helper()
	js := filepath.Join(t.TempDir(), "x.json")
	r := penstock(t, append([]string{"run", "--report", js}, args...)...)
	require.Equal(t, exitDone, r.code, r.err)
	b, err := os.ReadFile(js)
	require.NoError(t, err)
	var doc struct{ Digest *string }
	require.NoError(t, json.Unmarshal(b, &doc))
	if doc.Digest == nil {
		return ""
	}
	return *doc.Digest
}

func TestTheDigestDependsOnTheSeedAndNotOnTheWayOfRunning(t *testing.T) {
	file := write(t, "small.yaml", small)
	want := digest(t, file)
	require.NotEmpty(t, want)
	for _, args := range [][]string{{"--sync"}, {"--no-fuse"}, {"--set", "read.workers=8", "--set", "pack.size=16"}, {"--warmup", "3"}} {
		assert.Equal(t, want, digest(t, append(args, file)...), args)
	}
	assert.NotEqual(t, want, digest(t, file, "--set", "seed=8"))
	assert.Empty(t, digest(t, file, "--no-digest"))
}

func TestBatchesAndSecondsEndARun(t *testing.T) {
	file := write(t, "endless.yaml", endless)
	r := penstock(t, "run", file, "--batches", "7")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "70 samples in 7 batches")
	r = penstock(t, "run", file, "--batches", "7", "--sync")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "70 samples in 7 batches")
	r = penstock(t, "run", file, "--seconds", "0.05")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "batches")
}

func TestAnErrorOfTheRunGivesOneAndTheReport(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.jpg"), []byte("not a picture"), 0o644))
	file := write(t, "x.yaml", "pipeline: x\nstages:\n  - {id: read, folder: {root: "+dir+"}}\n  - {id: decode, decode_image: {}}\n  - {id: end, discard: {}}\n")
	r := penstock(t, "run", file)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, `stage "decode": bad.jpg`)
	assert.Contains(t, r.out, "decode")

	r = penstock(t, "run", file, "--set", "read.root=/no/such/folder")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, `stage "read"`)
	assert.Empty(t, r.out)
}

func TestAReportThatCannotBeWrittenGivesOne(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	link := filepath.Join(t.TempDir(), "full.json")
	require.NoError(t, os.Symlink("/dev/full", link))
	r := penstock(t, "run", write(t, "small.yaml", small), "--report", link)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "full.json")
}

func TestTheWatchdogTellsOfARunThatStandsStill(t *testing.T) {
	file := write(t, "x.yaml", strings.Replace(small, "- {id: pack", "- {id: wait, delay: {time: 300ms}}\n  - {id: pack", 1))
	r := penstock(t, "run", file, "--watchdog", "40ms", "--batches", "1", "--set", "wait.workers=8")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.err, "penstock: watchdog: pipeline \"small\": nothing has moved")
	assert.Contains(t, r.err, `stage "wait"`)
	r = penstock(t, "run", file, "--watchdog", "0s", "--batches", "1", "--set", "wait.workers=8")
	require.Equal(t, exitDone, r.code, r.err)
	assert.NotContains(t, r.err, "watchdog")
}

func TestLintTakesSeveralSpecsAndWarningsPass(t *testing.T) {
	good := write(t, "good.yaml", small)
	warns := write(t, "warns.yaml", strings.Replace(small, "discard: {}", "discard: {}", 1)+"")
	r := penstock(t, "lint", good, warns, "--set", "pack.workers=1", "--set", "pack.order=completion")
	assert.Equal(t, exitDone, r.code)
	assert.Equal(t, 2, strings.Count(r.out, "warning: "))
	r = penstock(t, "lint", good, "testdata/diagnostics/cycle.yaml")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.out, "good.yaml: no problems\n")
	assert.Contains(t, r.out, "cycle.yaml:4:")
}

func TestASpecCanComeFromStandardInput(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := testApp(t, &stdout, &stderr)
	a.in = strings.NewReader(small)
	require.Equal(t, exitDone, a.main([]string{"run", "-"}), stderr.String())
	assert.Contains(t, stdout.String(), "100 samples")
}

func interrupted(t *testing.T, args []string, signals ...os.Signal) result {
	var stdout, stderr bytes.Buffer
	a := testApp(t, &stdout, &stderr)
	ch := make(chan os.Signal, len(signals))
	a.signals = ch
	file := write(t, "endless.yaml", endless)
	done := make(chan int, 1)
	go func() { done <- a.main(append([]string{"run", file}, args...)) }()
	for _, s := range signals {
		ch <- s
	}
	select {
	case code := <-done:
		return result{code, stdout.String(), stderr.String()}
	case <-time.After(time.Minute):
		t.Fatal("the run does not end")
		return result{}
	}
}

func TestSignalsEndARunAndTheReportIsStillWritten(t *testing.T) {
	dir := t.TempDir()
	js, html := filepath.Join(dir, "x.json"), filepath.Join(dir, "x.html")
	for _, c := range []struct {
		signals []os.Signal
		code    int
	}{
		{[]os.Signal{os.Interrupt}, exitInterrupt},
		{[]os.Signal{os.Interrupt, os.Interrupt}, exitInterrupt},
		{[]os.Signal{syscall.SIGTERM}, exitTerminated},
		{[]os.Signal{os.Interrupt, syscall.SIGTERM}, exitTerminated},
	} {
		r := interrupted(t, []string{"--report", js, "--report", html}, c.signals...)
		assert.Equal(t, c.code, r.code, r.err)
		assert.Contains(t, r.err, "penstock: stopping")
		assert.NotContains(t, r.err, "canceled")
		if _, err := os.Stat(js); os.IsNotExist(err) {
			continue // the first signal came before the start
		}
		text, err := os.ReadFile(js)
		require.NoError(t, err)
		assert.JSONEq(t, string(text), insidePage(t, html))
		require.NoError(t, errors.Join(os.Remove(js), os.Remove(html)))
	}
}

// A run is ended in the middle: its reports are of all that was delivered until then.
func TestTheReportOfARunThatIsEndedBySignalsIsComplete(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		js, html, state := filepath.Join(dir, "x.json"), filepath.Join(dir, "x.html"), filepath.Join(dir, "state")
		var stdout, stderr bytes.Buffer
		a := testApp(t, &stdout, &stderr)
		ch := make(chan os.Signal, 1)
		a.signals = ch
		done := make(chan int, 1)
		file := write(t, "endless.yaml", endless)
		go func() {
			done <- a.main([]string{"run", file, "--report", js, "--report", html, "--state", state, "--every", "25"})
		}()
		require.Eventually(t, func() bool { _, err := os.Stat(state); return err == nil }, time.Minute, time.Millisecond)
		ch <- sig // 25 batches have been delivered
		<-done
		text, err := os.ReadFile(js)
		require.NoError(t, err, stderr.String())
		var doc struct {
			Totals   struct{ Batches int }
			Blame    []struct{ Seconds float64 }
			Sink     struct{ Wait_seconds float64 }
			Timeline struct {
				Waits []struct{ Seconds []float64 }
			}
		}
		require.NoError(t, json.Unmarshal(text, &doc))
		assert.GreaterOrEqual(t, doc.Totals.Batches, 25)
		blamed, lined := 0.0, 0.0
		for _, b := range doc.Blame {
			blamed += b.Seconds
		}
		for _, w := range doc.Timeline.Waits {
			for _, s := range w.Seconds {
				lined += s
			}
		}
		assert.InDelta(t, doc.Sink.Wait_seconds, blamed, 1e-6)
		assert.InDelta(t, doc.Sink.Wait_seconds, lined, 1e-6)
		assert.JSONEq(t, string(text), insidePage(t, html))
	}
}

// insidePage is the report that a page has inside.
func insidePage(t testing.TB, file string) string {
	t.Helper()
	html, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(html), `<script type="application/json" id="report">`)
	require.True(t, found)
	text, _, _ := strings.Cut(rest, "</script>")
	return text
}

func TestTheLiveLineIsPlainWhereThereIsNoTerminal(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		a := testApp(t, &stdout, &stderr)
		a.pulse, a.terminal = 20*time.Millisecond, terminal
		require.Equal(t, exitDone, a.main([]string{"run", write(t, "endless.yaml", endless), "--seconds", "0.2"}))
		assert.Contains(t, stderr.String(), "samples/s")
		assert.Equal(t, terminal, strings.Contains(stderr.String(), "\x1b[K"), stderr.String())
		assert.NotContains(t, stdout.String(), "\x1b")
	}
}

func TestInspectShowsTheFirstItem(t *testing.T) {
	file := write(t, "x.yaml", `pipeline: x
stages:
  - {id: read, synthetic_images: {count: 10, width: 64, height: 48, classes: 2}}
  - {id: decode, decode_image: {}}
  - {id: pack, collate: {size: 3}}
  - {id: train, accelerator: {}}
`)
	r := penstock(t, "inspect", file, "--at", "read")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, `stage "read" makes samples`)
	assert.Contains(t, r.out, "begins with ff d8 ff")
	r = penstock(t, "inspect", file, "--at", "decode")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "image 48×64×3")
	r = penstock(t, "inspect", file, "--at", "pack", "--set", "pack.size=4")
	require.Equal(t, exitDone, r.code, r.err)
	for _, want := range []string{"rows: 4", "place: host", "image uint8 4×48×64×3", "min 0, mean 0.5, max 1; first 0 1 0 1\n", "row 3: \"#3\", epoch 0, place 3\n  image  uint8 48×64×3  min "} {
		assert.Contains(t, r.out, want)
	}
	r = penstock(t, "inspect", file, "--at", "pack", "--set", "pack.size=10")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "and 2 more rows")
	r = penstock(t, "inspect", file, "--at", "train")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "[no_output]")
	r = penstock(t, "inspect", file, "--at", "nowhere")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "[unknown_stage]")
}

func TestSynthMakesADataSetThatRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	r := penstock(t, "synth", "images", dir, "--count", "12", "--classes=3", "--width", "40", "--height", "30", "--seed", "4")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "12 pictures in 3 classes")
	file := write(t, "x.yaml", "pipeline: x\nstages:\n  - {id: read, folder: {root: "+dir+"}}\n  - {id: decode, decode_image: {}}\n  - {id: end, discard: {}}\n")
	r = penstock(t, "run", file)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "12 samples")
	r = penstock(t, "synth", "images", dir)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "not empty")
}

func TestKindsListsAndDescribes(t *testing.T) {
	r := penstock(t, "kinds")
	require.Equal(t, exitDone, r.code)
	for _, want := range []string{"sources\n", "stages\n", "sinks\n", "samplers\n", "folder", "collate", "samples -> batches", "shuffled", "merge"} {
		assert.Contains(t, r.out, want)
	}
	r = penstock(t, "kinds", "collate")
	require.Equal(t, exitDone, r.code)
	assert.Contains(t, r.out, "size: whole number; at least 1; ")
	r = penstock(t, "kinds", "--schema")
	require.Equal(t, exitDone, r.code)
	var schema map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.out), &schema))
}

func TestTheContainersLimitIsTheLeastOfAllItsGroups(t *testing.T) {
	dir := t.TempDir()
	put := func(file, text string) {
		file = filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	put("self", "0::/a/b\n")
	put("fs/a/b/memory.max", "max\n")
	_, ok := containerLimit(filepath.Join(dir, "self"), filepath.Join(dir, "fs"))
	assert.False(t, ok)
	put("fs/a/memory.max", "1000000\n")
	put("fs/memory.max", "2000000\n")
	n, ok := containerLimit(filepath.Join(dir, "self"), filepath.Join(dir, "fs"))
	assert.True(t, ok)
	assert.Equal(t, int64(1000000), n)
	put("v1", "5:cpu:/x\n4:memory:/x\n")
	put("fs/memory/x/memory.limit_in_bytes", "9223372036854771712\n")
	_, ok = containerLimit(filepath.Join(dir, "v1"), filepath.Join(dir, "fs"))
	assert.False(t, ok)
	put("fs/memory/memory.limit_in_bytes", "77\n")
	n, _ = containerLimit(filepath.Join(dir, "v1"), filepath.Join(dir, "fs"))
	assert.Equal(t, int64(77), n)
	_, ok = containerLimit(filepath.Join(dir, "nothing"), dir)
	assert.False(t, ok)
}
