package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/spec"
)

func TestTuneWritesASpecThatIsFaster(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "out"), write(t, "p.yaml", slowDecode)
	r := penstock(t, "tune", file, "--out", dir, "--seconds", "0.4", "--repeat", "1", "--knob", "decode.workers=1,4", "--knob", "pack.size=4,8",
		"--knob", "read.buffer=8")
	require.Equal(t, exitDone, r.code, r.err)
	for _, want := range []string{"+ decode.workers=4", "pack.size: knee at", "decisions"} {
		assert.Contains(t, r.out, want)
	}
	tuned, err := os.ReadFile(filepath.Join(dir, "tuned.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(tuned), "{id: decode, delay: {time: 10ms}, workers: 4}  # workers was 1\n")
	assert.Contains(t, string(tuned), "collate: {size: 4}")
	assert.Equal(t, exitDone, penstock(t, "lint", filepath.Join(dir, "tuned.yaml")).code)
	var doc struct {
		Settings []string
		Ablation []struct{ Setting string }
		Curves   []struct {
			Knob   string
			Points []struct {
				RSS int64 `json:"peak_rss_bytes"`
			}
		}
		Decisions []struct{ Kept bool }
	}
	text, err := os.ReadFile(filepath.Join(dir, "tune.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	require.NotEmpty(t, doc.Settings)
	assert.Equal(t, []string{"decode.workers=4"}, doc.Settings[:1])
	require.Len(t, doc.Curves, 3)
	assert.Equal(t, "read.buffer", doc.Curves[2].Knob)
	assert.Len(t, doc.Curves[2].Points, 2, "auto and 8")
	assert.Positive(t, doc.Curves[0].Points[0].RSS)
	assert.True(t, doc.Decisions[0].Kept)
	svg, err := os.ReadFile(filepath.Join(dir, "curves.svg"))
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(svg), "<desc>"))
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err = d.Token(); err != nil {
			break
		}
	}
	assert.Equal(t, io.EOF, err, "it is well-formed")
	assert.FileExists(t, filepath.Join(dir, "tune.md"))
}

func TestTuneMeasuresAMatrixAndKnowsPinAndCaches(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "out"), write(t, "p.yaml", slowDecode)
	r := penstock(t, "tune", file, "--out", dir, "--seconds", "0.3", "--repeat", "1", "--matrix", "--knob", "decode.workers=4", "--knob", "read.buffer=8,64")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "decode.workers=1 read.buffer=auto", "as it is stands among them")
	assert.Contains(t, r.out, "decode.workers=4 read.buffer=64")
	var doc struct {
		Matrix []struct {
			Value string
			Rate  float64 `json:"samples_per_second"`
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "tune.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Len(t, doc.Matrix, 6)
	assert.Greater(t, doc.Matrix[3].Rate, 2*doc.Matrix[0].Rate)

	c, err := newCatalog()
	require.NoError(t, err)
	s, found := spec.Parse("x.yaml", []byte(`pipeline: x
stages:
  - {id: read, synthetic_images: {count: 4, width: 16, height: 16}}
  - {id: decode, decode_image: {}}
  - {id: keep, memory_cache: {limit: 4KiB}}
  - {id: pack, collate: {size: 2}}
  - {id: pin, pin: {}}
  - {id: copy, device_copy: {device: "emu:pcie5x16"}}
  - {id: train, accelerator: {}}
`), c, spec.Options{})
	require.Empty(t, found)
	var knobs []string
	for _, st := range s.Pipeline.Outline().Stages {
		for _, k := range moreOf(st) {
			knobs = append(knobs, k.Name()+"="+strings.Join(k.Values, ",")+" now "+k.Now)
			for _, v := range k.Values {
				_, found := spec.Parse("x.yaml", []byte(s.Text), c, spec.Options{Set: []string{k.Name() + "=" + v}})
				assert.Empty(t, found)
			}
		}
	}
	assert.Equal(t, []string{"keep.limit=1B,4096B,8192B now 4096B", "pin.off=true,false now false"}, knobs)
}

func TestATunedSpecSaysWhereItsPathsAreFrom(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitDone, penstock(t, "synth", "images", filepath.Join(dir, "data"), "--count", "12").code)
	file := filepath.Join(dir, "p.yaml")
	require.NoError(t, os.WriteFile(file, []byte("pipeline: files\nstages:\n  - {id: read, folder: {root: data}}\n  - {id: end, discard: {}}\n"), 0o600))
	r := penstock(t, "tune", file, "--out", filepath.Join(dir, "out"), "--seconds", "0.05", "--repeat", "1", "--knob", "read.workers=1,2")
	require.Equal(t, exitDone, r.code, r.err)
	tuned, err := os.ReadFile(filepath.Join(dir, "out", "tuned.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(tuned), "# Its paths are relative to "+dir)
}

func TestTuneRefusesWrongCommandLines(t *testing.T) {
	file, dir := write(t, "p.yaml", slowDecode), t.TempDir()
	for want, args := range map[string][]string{
		"--out DIR is missing":       {file},
		"wanted one spec":            {"--out", dir},
		"--repeat must be":           {file, "--out", dir, "--repeat", "0"},
		"--seconds must be":          {file, "--out", dir, "--seconds", "-1"},
		"is no folder":               {file, "--out", file},
		`no stage "x"`:               {file, "--out", dir, "--knob", "x.workers=1"},
		"wanted ID.KEY=VALUE":        {file, "--out", dir, "--knob", "decode"},
		"--matrix needs at least":    {file, "--out", dir, "--matrix", "--knob", "decode.workers=1,2"},
		"more than 64 combinations":  {file, "--out", dir, "--matrix", "--knob", "decode.workers=1,2,3,4,5,6,7,8,9", "--knob", "pack.size=1,2,3,4,5,6,7,8,9"},
		"unknown_key":                {file, "--out", dir, "--knob", "decode.colour=1"},
		"workers must be at least 1": {file, "--out", dir, "--knob", "decode.workers=0"},
	} {
		r := penstock(t, append([]string{"tune"}, args...)...)
		assert.Equal(t, exitUsage, r.code, want)
		assert.Contains(t, r.err, want)
	}
}

func TestASignalEndsMeasuringAtOnce(t *testing.T) {
	file := write(t, "p.yaml", slowDecode)
	for _, args := range [][]string{{"profile", file, "--seconds", "60"}, {"tune", file, "--seconds", "60", "--out", filepath.Join(t.TempDir(), "none")}} {
		var stdout, stderr bytes.Buffer
		a := testApp(t, &stdout, &stderr)
		signals := make(chan os.Signal, 1)
		signals <- os.Interrupt
		a.signals = signals
		began := time.Now()
		assert.Equal(t, exitInterrupt, a.main(args), stderr.String())
		assert.Less(t, time.Since(began), 50*time.Second)
		assert.Empty(t, stdout.String())
		assert.NoDirExists(t, args[len(args)-1])
	}
}
