package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reported runs a spec and keeps its report.
func reported(t *testing.T, file, spec string, set ...string) {
	t.Helper()
	args := []string{"run", spec, "--report", file}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	r := penstock(t, args...)
	require.Equal(t, exitDone, r.code, r.err)
}

func TestCompareReadsFilesAndFolders(t *testing.T) {
	dir := t.TempDir()
	spec := write(t, "small.yaml", small)
	for _, side := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, side), 0o755))
		for i := range 2 {
			reported(t, filepath.Join(dir, side, fmt.Sprint(i, ".json")), spec)
		}
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, os.WriteFile(filepath.Join(a, "state.json"), []byte(`{"epoch": 1}`), 0o644))
	r := penstock(t, "compare", a, b, "--format", "json")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.err, "left out: ")
	assert.Contains(t, r.err, "state.json\" is not a report")
	var c struct {
		A, B   struct{ Files []string }
		Digest struct{ Same *bool }
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &c))
	assert.Len(t, c.A.Files, 2)
	assert.Len(t, c.B.Files, 2)
	assert.True(t, *c.Digest.Same)
	one := func(side string, i int) string { return filepath.Join(dir, side, fmt.Sprint(i, ".json")) }
	r = penstock(t, "compare", one("a", 0), one("a", 1), "vs", one("b", 0), "--format=markdown")
	assert.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "- A: 2 runs of \"small\"")
	out := filepath.Join(dir, "c.md")
	r = penstock(t, "compare", one("a", 0), one("b", 0), "--report", out)
	assert.Equal(t, exitDone, r.code)
	assert.FileExists(t, out)
}

func TestAFailedGateGivesThree(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	spec := write(t, "small.yaml", small)
	reported(t, a, spec)
	reported(t, b, spec, "read.count=50")
	r := penstock(t, "compare", a, b, "--fail-if", "totals.samples < -10%", "--fail-if", "stages.read.items_out > 60")
	assert.Equal(t, exitGate, r.code)
	assert.Contains(t, r.err, "gate failed  totals.samples < -10%: 100 -> 50, -50 %")
	assert.Contains(t, r.err, "gate passed  stages.read.items_out > 60: 50")
	assert.Equal(t, exitDone, penstock(t, "compare", a, b, "--fail-if", "totals.failed > 0").code)
}

func TestWrongComparisonsGiveTwo(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a.json")
	reported(t, a, write(t, "small.yaml", small))
	other := write(t, "x.json", "{}")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"wanted two reports or folders of reports, got 1", []string{a}},
		{`both sides of one "vs"`, []string{"vs", a}},
		{"no such file", []string{a, filepath.Join(dir, "b.json")}},
		{"is not a report", []string{a, other}},
		{"there is no report in folder", []string{a, filepath.Dir(other)}},
		{`--format: wanted text, markdown, json, got "yaml"`, []string{a, a, "--format", "yaml"}},
		{`wanted .json, .txt or .md, got ".html"`, []string{a, a, "--report", "x.html"}},
		{"has no comparison", []string{a, a, "--fail-if", "totals.samples"}},
		{`did you mean "samples"?`, []string{a, a, "--fail-if", "totals.sampels < 3"}},
		{`did you mean "pack"?`, []string{a, a, "--fail-if", "stages.pakc.items_in < 3"}},
	} {
		r := penstock(t, append([]string{"compare"}, c.args...)...)
		assert.Equal(t, exitUsage, r.code, c.args)
		assert.Contains(t, r.err, c.want)
		assert.Empty(t, r.out)
	}
}

const timed = `pipeline: timed
seed: 7
stages:
  - {id: read, slow: {count: 64, delay: 10ms}, workers: 1}
  - {id: work, delay: {time: 6ms, mode: spin}, workers: 1}
  - {id: pack, collate: {size: 8}, workers: 1}
  - {id: end,  accelerator: {step: 20ms}}
`

// On the real clock, with PENSTOCK_SETS sets of five interleaved runs a side: no alarm on equal ones, a planted 10 % on
// the sleeping stage and 30 % on the computing one caught in all. It wants a machine that is quiet.
func TestSetsAreComparedOnTheRealClock(t *testing.T) {
	sets, _ := strconv.Atoi(os.Getenv("PENSTOCK_SETS"))
	if sets == 0 {
		t.Skip("takes minutes of a quiet machine: PENSTOCK_SETS=10")
	}
	spec := write(t, "timed.yaml", timed)
	for _, c := range []struct{ name, set, figure string }{
		{"equal", "", ""},
		{"sleeping", "read.delay=11ms", "stages.read.service.p50"},
		{"computing", "work.time=7800us", "stages.work.service.p50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range sets {
				alarms, text := setsOf(t, spec, c.set)
				if c.figure == "" {
					assert.Empty(t, alarms, text)
				} else {
					assert.Contains(t, alarms, c.figure, text)
				}
			}
		})
	}
}

// setsOf compares five runs a side, taken alternately, and lists the figures that are alarms.
func setsOf(t *testing.T, spec, set string) (alarms []string, text string) {
	dir := t.TempDir()
	for i := range 5 {
		reported(t, filepath.Join(dir, fmt.Sprint("a", i, ".json")), spec)
		if set == "" {
			reported(t, filepath.Join(dir, fmt.Sprint("b", i, ".json")), spec)
		} else {
			reported(t, filepath.Join(dir, fmt.Sprint("b", i, ".json")), spec, set)
		}
	}
	args := []string{"compare"}
	for _, side := range []string{"a", "vs", "b"} {
		if side == "vs" {
			args = append(args, side)
			continue
		}
		for i := range 5 {
			args = append(args, filepath.Join(dir, fmt.Sprint(side, i, ".json")))
		}
	}
	r := penstock(t, append(args, "--format=json")...)
	require.Equal(t, exitDone, r.code, r.err)
	var c struct {
		Figures []struct{ Path, Standing string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &c))
	for _, f := range c.Figures {
		if f.Standing == "worse" || f.Standing == "better" || f.Standing == "changed" {
			alarms = append(alarms, f.Path)
		}
	}
	return alarms, penstock(t, args...).out
}
