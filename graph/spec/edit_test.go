package spec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/spec"
)

func TestEditChangesKeysAndNothingElse(t *testing.T) {
	got, err := spec.Edit([]byte(`# keep this
pipeline: x
stages:
  - {id: read, slow: {count: 9}, workers: 4}   # and this
  - id: "decode"
    decode_image: {}
    workers: auto
  - id: crop  # a comment
    center_crop: {size: 3}
  - {id: pack, collate: {size: 2}}
`), []spec.Change{
		{Stage: "read", Key: "workers", Value: "16", Note: "was 4"},
		{Stage: "read", Key: "buffer", Value: "32", Note: "was auto"},
		{Stage: "decode", Key: "workers", Value: "2", Note: "was auto"},
		{Stage: "decode", Key: "window", Value: "64"},
		{Stage: "crop", Key: "buffer", Value: "8", Note: "was auto"},
		{Stage: "pack", Key: "workers", Value: "3"},
	})
	require.NoError(t, err)
	assert.Equal(t, `# keep this
pipeline: x
stages:
  - {id: read, buffer: 32, slow: {count: 9}, workers: 16}   # and this  # was 4; was auto
  - id: "decode"
    window: 64
    decode_image: {}
    workers: 2  # was auto
  - id: crop  # a comment
    buffer: 8  # was auto
    center_crop: {size: 3}
  - {id: pack, workers: 3, collate: {size: 2}}
`, string(got))
}

func TestEditRefusesWhatItCannotChange(t *testing.T) {
	one := []spec.Change{{Stage: "a", Key: "workers", Value: "2"}}
	for text, want := range map[string]string{
		"":                                      "empty",
		"x: 1":                                  "no list of stages",
		"stages: []":                            `no stage "a"`,
		"stages: [{id: a, workers: &n 4}]":      "not one word",
		"stages: [{id: a, workers: [4]}]":       "not one word",
		"stages: [{id: a, workers: \"\\x34\"}]": "not written as one plain word",
		"stages: {":                             "",
	} {
		_, err := spec.Edit([]byte(text), one)
		require.ErrorContains(t, err, want, text)
	}
}
