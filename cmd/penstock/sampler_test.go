package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// samplerSpec has numbers beside it, which samplers read.
func samplerSpec(t *testing.T, numbers string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "numbers.txt"), []byte(numbers), 0o644))
	file := filepath.Join(dir, "x.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`pipeline: x
epochs: 3
stages:
  - {id: read, slow: {count: 6, delay: 1us, feature_dim: 2}, sampler: sequential}
  - {id: collate, collate: {size: 2}}
  - {id: end, discard: {}}
`), 0o644))
	return file
}

func TestSpecsNameEverySampler(t *testing.T) {
	file := samplerSpec(t, "3\n0\n1\n1\n2\n5\n")
	numbers := filepath.Join(filepath.Dir(file), "numbers.txt")
	for sampler, samples := range map[string]string{
		"{subset: [5, 0, 3]}":                                             "9 samples",
		"{subset: {skip: 2, take: 3, shuffled: true}}":                    "9 samples",
		"{replacement: 10}":                                               "30 samples",
		"{replacement: {}}":                                               "18 samples",
		"{weighted: {weights: " + numbers + ", count: 7}}":                "21 samples",
		"{class_balanced: 4}":                                             "18 samples",
		"{windows: {length: 3, stride: 2, shuffled: true}}":               "6 samples",
		"{curriculum: {scores: " + numbers + ", start: 0.5, grow: 0.25}}": "14 samples", // 3, then 4.5 rounded to 5, then 6
	} {
		r := penstock(t, "run", file, "--set", "read.sampler="+sampler)
		require.Equal(t, exitDone, r.code, "%s: %s", sampler, r.err)
		assert.Contains(t, r.out, samples, sampler)
		digest := regexp.MustCompile(`Digest of all samples: [0-9a-f]{16}`)
		again := penstock(t, "run", file, "--sync", "--set", "read.sampler="+sampler)
		assert.Equal(t, digest.FindString(r.out), digest.FindString(again.out), sampler)
	}
}

func TestSamplersThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct{ numbers, sampler, want string }{
		{"1\n0\nNaN\n1\n1\n1\n", "{weighted: numbers.txt}", "the weight of sample 2 is NaN"},
		{"1\n0\n-0.5\n1\n1\n1\n", "{weighted: numbers.txt}", "the weight of sample 2 is -0.5"},
		{"0\n0\n0\n0\n0\n0\n", "{weighted: numbers.txt}", "the weights of all 6 samples, 0 to 5, are 0"},
		{"1\n", "{weighted: numbers.txt}", "numbers.txt: 1 numbers for the 6 samples"},
		{"1\nx\n", "{curriculum: numbers.txt}", `numbers.txt:2: wanted a number, got "x"`},
		{"7\n", "{subset: {file: numbers.txt}}", "entry 0 of the list is 7"},
		{"", "{subset: {}}", `subset: it is not said which samples: give indices, a file, or skip and take [field_value]`},
		{"", "{class_balanced: {}}", "sampler class_balanced: batch is missing [field_missing]"},
		{"", "{windows: 9}", "the source has 6 samples, fewer than one run of 9"},
		{"", "{weighted: {count: 3}}", "sampler weighted: weights is missing [field_missing]"},
	} {
		file := samplerSpec(t, c.numbers)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		text = regexp.MustCompile(`sampler: sequential`).ReplaceAll(text, []byte("sampler: "+c.sampler))
		require.NoError(t, os.WriteFile(file, text, 0o644))
		r := penstock(t, "run", file)
		assert.NotEqual(t, exitDone, r.code, c.sampler)
		assert.Contains(t, r.err, c.want)
	}
}

// A changed weight gives another stream, so a state that was taken before does not fit.
func TestAStateIsRefusedWhenTheWeightsHaveChanged(t *testing.T) {
	file := samplerSpec(t, "1\n1\n1\n1\n1\n1\n")
	numbers, state := filepath.Join(filepath.Dir(file), "numbers.txt"), filepath.Join(t.TempDir(), "state.json")
	args := []string{"run", file, "--set", "read.sampler={weighted: " + numbers + "}", "--state", state, "--every", "1"}
	require.Equal(t, exitDone, penstock(t, append(args, "--batches", "4")...).code)
	require.NoError(t, os.WriteFile(numbers, []byte("1\n1\n1\n1\n1\n2\n"), 0o644))
	r := penstock(t, append(args, "--resume")...)
	assert.NotEqual(t, exitDone, r.code)
	assert.Contains(t, r.err, `the data of "read" are others`)
	require.NoError(t, os.WriteFile(numbers, []byte("1\n1\n1\n1\n1\n1\n"), 0o644))
	assert.Equal(t, exitDone, penstock(t, append(args, "--resume")...).code)
}
