package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/tune"
)

// dear decodes slowly what is the same in each epoch, and is random from mixed on.
const dear = `# mine
pipeline: dear
seed: 7
epochs: 3
stages:
  - {id: read,   slow: {count: 32, delay: 1ms}, sampler: shuffled, workers: 4}
  - {id: decode, delay: {time: 4ms}, workers: 1}   # dear

  # random from here
  - {id: mixed,  shuffle: {size: 8}}
  - {id: pack,   collate: {size: 4}}
  - {id: train,  discard: {}}
`

// labOf is a lab for short measurements.
func labOf(t *testing.T, text string, set ...string) *lab {
	l, code := testApp(t, os.Stdout, os.Stderr).openLab(write(t, "p.yaml", text), set, "", 0.2)
	require.Equal(t, exitDone, code)
	t.Cleanup(l.close)
	return l
}

// written is the tuned spec of some settings that were kept.
func written(l *lab, set ...tune.Setting) string {
	r := &tune.Result{Settings: set, Was: map[string]string{"decode.workers": "1", "decode.cache": "off"},
		Decisions: []tune.Decision{{Knob: "decode.cache", Kept: true, Before: 250, After: 3000}}}
	return l.tunedSpec(r, l.dir)
}

// digestOf is what a run of a spec delivers.
func digestOf(t *testing.T, text string) (digest string, hits int64) {
	report := filepath.Join(t.TempDir(), "r.json")
	r := penstock(t, "run", write(t, "p.yaml", text), "--report", report)
	require.Equal(t, exitDone, r.code, r.err)
	data, err := os.ReadFile(report)
	require.NoError(t, err)
	var doc struct {
		Digest string
		Totals struct{ Digest string }
		Cache  []struct{ Hits int64 }
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	for _, c := range doc.Cache {
		hits += c.Hits
	}
	return doc.Digest + doc.Totals.Digest, hits
}

func TestATunedSpecHasTheCacheInItsPlaceAndDeliversTheSame(t *testing.T) {
	got := written(labOf(t, dear), tune.Setting{Stage: "decode", Key: "workers", Value: "2"}, tune.Setting{Stage: "decode", Key: "cache", Value: "1MiB"})
	want := strings.Replace(dear, `workers: 1}   # dear
`, `workers: 2}   # dear  # workers was 1
  - {id: keep, memory_cache: {limit: 1MiB}}  # added: 250/s without it, 3000/s with it from the second epoch on
`, 1)
	assert.Equal(t, "# Tuned by penstock tune: - before, - after.\n"+want, got)
	r := &tune.Result{Settings: []tune.Setting{{Stage: "read", Key: "cache", Value: "1MiB"}}}
	assert.Contains(t, labOf(t, dear).tunedSpec(r, t.TempDir()), "{limit: 1MiB}}  # added: keeps what read makes, from the second epoch on\n", "one of a matrix")
	lint := penstock(t, "lint", write(t, "p.yaml", got))
	assert.Equal(t, exitDone, lint.code, lint.err)
	plain, _ := digestOf(t, dear)
	tuned, hits := digestOf(t, got)
	assert.NotEmpty(t, plain)
	assert.Equal(t, plain, tuned)
	assert.Equal(t, int64(64), hits, "two of three epochs")
}

func TestTheGraphSaysWhereACacheMayStandAndTheModelWhichPlaceIsWorthMost(t *testing.T) {
	l := labOf(t, dear)
	k, why, err := l.cacheKnob(nil)
	require.NoError(t, err)
	require.Empty(t, why)
	assert.Equal(t, "decode", k.Stage)
	assert.Equal(t, "cache", k.Key)
	require.Len(t, k.Values, 2)
	assert.Equal(t, "off", k.Values[0])
	assert.Regexp(t, `^\d+(B|KiB)$`, k.Values[1], "32 samples of 64 numbers: 8 KiB and a little")
	assert.Contains(t, k.Note, "behind decode "+k.Values[1]+" hold all there is")
	for behind, want := range map[string]string{"mixed": "it stands behind \"mixed\", which is random", "pack": "takes"} {
		p, no, err := l.probe(nil, behind)
		require.NoError(t, err)
		assert.Nil(t, p)
		assert.Contains(t, no, want)
	}
	x, err := l.try([]tune.Setting{{Stage: "decode", Key: "cache", Value: k.Values[1]}})
	require.NoError(t, err)
	require.Len(t, x.Snapshot.Caches, 1)
	require.NotNil(t, x.Snapshot.Caches[0].HitShare)
	assert.InDelta(t, 1, *x.Snapshot.Caches[0].HitShare, 1e-9, "the limit holds everything")
	assert.Positive(t, x.Rate)
	_, _, err = l.cacheKnob([]tune.Setting{{Stage: "decode", Key: "cache", Value: k.Values[1]}})
	require.NoError(t, err, "a second one finds no place")
}

func TestWhereNoCacheIsTriedOneLineSaysWhy(t *testing.T) {
	k, why, err := labOf(t, strings.Replace(dear, "epochs: 3", "epochs: 1", 1)).cacheKnob(nil)
	require.NoError(t, err)
	assert.Empty(t, k.Values)
	assert.Contains(t, why, "the spec runs one epoch")
	assert.NotContains(t, why, "\n")
	k, why, err = labOf(t, strings.Replace(dear, "  - {id: mixed", "  - {id: mine, memory_cache: {}}\n  - {id: mixed", 1)).cacheKnob(nil)
	require.NoError(t, err)
	assert.Empty(t, k.Values)
	assert.Empty(t, why, "the limit of the one that it has is a knob")
}

func TestThePlaceIsThatOfTheModelWithinTheMemory(t *testing.T) {
	const g = 1 << 30
	files := place{behind: "read", set: 10 * g, limit: 10.2 * g, text: "10445MiB", all: true, now: 100, then: 400, fill: 5, limits: "decode"}
	pixels := place{behind: "decode", set: 100 * g, limit: 102 * g, text: "102GiB", all: true, now: 100, then: 405, fill: 5, limits: "train"}
	change := func(p place, f func(*place)) place { f(&p); return p }
	small := change(pixels, func(p *place) { p.limit, p.all, p.then = 20*g, false, 120 })
	for name, c := range map[string]struct {
		places []place
		behind string
		why    string
	}{
		"the last where both do":         {[]place{files, pixels}, "decode", "behind decode 102GiB hold all there is, 100.0 GiB"},
		"the smaller where memory ends":  {[]place{files, small}, "read", "behind read 10445MiB hold all there is, 10.0 GiB; behind decode the memory has room for 20.0 GiB beside the rest of the run, 20 % of 100.0 GiB"},
		"more of it where both are part": {[]place{change(files, func(p *place) { p.limit, p.all, p.then = 5*g, false, 120 }), small}, "read", "50 %"},
		"no memory":                      {[]place{change(small, func(p *place) { p.limit = g })}, "", "no cache was tried: behind decode the memory has room for 1.0 GiB beside the rest of the run, 1 % of 100.0 GiB"},
		"nothing to gain":                {[]place{change(pixels, func(p *place) { p.then = 100 })}, "", "brings nothing, for train limits"},
		"no time":                        {[]place{change(pixels, func(p *place) { p.fill = 3600 })}, "", "an epoch takes about 3600 s, and 20 s are the most for it"},
	} {
		best, why := choose(c.places, 20)
		assert.Contains(t, why, c.why, name)
		assert.NotContains(t, why, "\n", name)
		if c.behind == "" {
			assert.Nil(t, best, name)
			continue
		}
		require.NotNil(t, best, name)
		assert.Equal(t, c.behind, best.behind, name)
	}
}

func TestACacheCanBeNamedAsAKnob(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "out"), write(t, "p.yaml", dear)
	r := penstock(t, "tune", file, "--out", dir, "--seconds", "0.2", "--repeat", "1", "--knob", "decode.cache=1MiB")
	require.Equal(t, exitDone, r.code, r.err)
	for _, want := range []string{"+ cache behind decode, 1 MiB", "decode.cache off -> 1MiB", "RAM"} {
		assert.Contains(t, r.out, want)
	}
	tuned, err := os.ReadFile(filepath.Join(dir, "tuned.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(tuned), "  - {id: keep, memory_cache: {limit: 1MiB}}  # added: ")
	assert.Contains(t, string(tuned), "\n\n  # random from here\n")
	for want, knob := range map[string]string{
		"which is random":   "mixed.cache=1MiB",
		"limit":             "decode.cache=lots",
		"no stage \"none\"": "none.cache=1MiB",
		"is the last one":   "train.cache=1MiB",
	} {
		r := penstock(t, "tune", file, "--out", dir, "--knob", knob)
		assert.Equal(t, exitUsage, r.code, knob)
		assert.Contains(t, r.err, want)
	}
}
