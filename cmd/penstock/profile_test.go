package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

const slowDecode = `pipeline: slow_decode
stages:
  - {id: read,   slow: {count: 64, delay: 1ms}, workers: 2}
  - {id: decode, delay: {time: 10ms}, workers: 1}
  - {id: pack,   collate: {size: 4}, workers: 1}
  - {id: train,  accelerator: {step: 10ms}}
`

func TestProfileFindsTheCeilingsOfAPlantedPipeline(t *testing.T) {
	dir := t.TempDir()
	file, report := filepath.Join(dir, "c.json"), filepath.Join(dir, "r.json")
	r := penstock(t, "profile", write(t, "p.yaml", slowDecode), "--seconds", "0.6", "--json", file, "--report", report)
	require.Equal(t, exitDone, r.code, r.err)
	for _, want := range []string{"preparing limits", "decode alone", "the source reads no files", "to keep the sink busy takes", "- over time, by quarters: resident "} {
		assert.Contains(t, r.out, want)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var c struct {
		Whole, Replay, Prep float64
		Cold                *float64 `json:"read_cold"`
		Stages              []struct {
			ID    string
			Alone *float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &c))
	alone := map[string]float64{}
	for _, s := range c.Stages {
		if s.Alone != nil {
			alone[s.ID] = *s.Alone
		}
	}
	assert.Nil(t, c.Cold)
	assert.NotContains(t, alone, "read")
	// Decode makes 100 a second at most, and the sink takes 400; other programs make both less.
	assert.Less(t, alone["decode"], 102.0)
	assert.Less(t, c.Whole, 102.0)
	assert.Less(t, c.Prep, 102.0)
	assert.Greater(t, c.Replay, 1.5*c.Whole)
	assert.Greater(t, alone["pack"], 1.5*alone["decode"])
	assert.NotContains(t, r.out, "So far", "nothing runs any more")
	assert.FileExists(t, report)
	assert.Equal(t, exitDone, penstock(t, "whatif", report).code)
}

func TestProfileReadsColdFilesWhereThereAreSome(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, exitDone, penstock(t, "synth", "images", filepath.Join(dir, "data"), "--count", "40").code)
	r := penstock(t, "profile", write(t, "p.yaml", `pipeline: files
stages:
  - {id: read, folder: {root: `+filepath.Join(dir, "data")+`}}
  - {id: decode, decode_image: {}}
  - {id: crop, center_crop: {size: 32}}
  - {id: pack, collate: {size: 8}}
  - {id: end, discard: {}}
`), "--seconds", "0.3")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "crop alone")
	assert.NotContains(t, r.out, "could not be recorded")
}

func TestProfileOfMergedSourcesMeasuresWhatHasOneInput(t *testing.T) {
	r := penstock(t, "profile", write(t, "p.yaml", `pipeline: merged
stages:
  - {id: a, slow: {count: 40, delay: 1ms}}
  - {id: few, filter: {field: label, op: lt, value: 5}}
  - {id: b, slow: {count: 40, delay: 2ms}}
  - {id: both, merge: {}, from: [few, b]}
  - {id: pack, collate: {size: 4}}
  - {id: end, accelerator: {step: 2ms}}
`), "--seconds", "0.2")
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "there are 2 sources")
	assert.Contains(t, r.out, "it has several inputs")
	assert.Contains(t, r.out, "few alone")
}

func TestProfileRefusesWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}, {"nowhere.yaml"}, {"x.yaml", "--seconds", "0"}, {"x.yaml", "--report", "x.png"}, {"x.yaml", "--json", "no/such/folder.json"}} {
		assert.Equal(t, exitUsage, penstock(t, append([]string{"profile"}, args...)...).code, args)
	}
}

func TestReplayedItemsAreTheRecordedOnes(t *testing.T) {
	l, code := testApp(t, os.Stdout, os.Stderr).openLab(write(t, "p.yaml", slowDecode), nil, "", 0.3)
	require.Equal(t, exitDone, code)
	defer l.close()
	for _, at := range []string{"read", "decode"} { // the digest of a replay is that of what was recorded
		recorded, err := l.record(at)
		require.NoError(t, err)
		feed := recorded.endless
		first := func(feed feeds) *item.Batch {
			o := l.options(nil)
			o.Upto, o.Feed = "pack", feed
			s, err := l.load(o)
			require.NoError(t, err)
			in, _ := registry.PortOf[*item.Batch](s.Port)
			out := graph.Output(in, "out")
			run, err := s.Pipeline.Start(t.Context())
			require.NoError(t, err)
			var b *item.Batch
			for x, err := range out.All(run) {
				require.NoError(t, err)
				b = copyBatch(x)
				break
			}
			require.NoError(t, run.Wait())
			return b
		}
		want, got := first(nil), first(feed)
		assert.Equal(t, want.Columns, got.Columns)
		assert.Equal(t, want.Rows[1].Key, got.Rows[1].Key)
	}
	_, err := l.load(spec.Options{Feed: feeds{"nowhere": nil}})
	assert.ErrorContains(t, err, `there is no stage "nowhere"`)
}
