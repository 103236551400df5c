package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/spec"
)

var keep = spec.Insertion{After: "decode", ID: "keep", Kind: "memory_cache", Fields: "limit: 4GiB", Note: "added"}

func TestInsertPutsAStageBehindAnotherAndChangesNothingElse(t *testing.T) {
	const flow, block, list = "  - {id: keep, memory_cache: {limit: 4GiB}}  # added\n", "  - id: keep  # added\n    memory_cache: {limit: 4GiB}\n",
		"{id: keep, memory_cache: {limit: 4GiB}}, "
	for name, text := range map[string]string{ // [] is where it comes, <> what is changed by it
		"one a line":          "pipeline: x\nstages:\n  - {id: read, range: {}}\n\n  - {id: decode, decode_image: {}}   # mine\n[flow]\n  # of crop\n  - {id: crop}\n  - {id: end}\n",
		"keys below":          "pipeline: x\nstages:\n  - id: \"decode\"\n    decode_image:\n      mode: rgb  # the end\n[block]  # of crop\n  - id: crop\n    from: <decode>\n  - id: end\n",
		"no indent":           "stages:\n- id: decode\n[bare]- id: end\n",
		"lines of the system": "stages:\r\n  - {id: decode}\r\n[crlf]  - {id: end}\r\n",
		"a list":              "stages: [{id: decode}, [list]{id: end, from: <'decode'>}] # [note]\n",
		"read elsewhere":      "stages:\n  - {id: decode}\n[flow]  - {id: b}\n  - {id: m, merge: {}, from: [b, <decode>]}\n  - {id: end}\n",
		"with an anchor":      "stages:\n  - {id: decode}\n[flow]  - &a {id: end}\n",
		"over several lines":  "stages:\n  - {id: decode, x: {\n      a: 1 }\n    }\n[flow]  - {id: end}\n",
	} {
		bare, crlf := "- id: keep  # added\n  memory_cache: {limit: 4GiB}\n", strings.ReplaceAll(flow, "\n", "\r\n")
		old := strings.NewReplacer("[flow]", "", "[block]", "", "[bare]", "", "[crlf]", "", "[list]", "", " # [note]", "", "<", "", ">", "").Replace(text)
		want := strings.NewReplacer("[flow]\n", flow+"\n", "[flow]", flow, "[block]", block, "[bare]", bare, "[crlf]", crlf, "[list]", list, " # [note]", "  # added",
			"<decode>", "keep", "<'decode'>", "keep").Replace(text)
		got, err := spec.Insert([]byte(old), keep)
		require.NoError(t, err, name)
		assert.Equal(t, want, string(got), name)
	}
}

func TestInsertRefusesWhatItCannotWrite(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "empty",
		"x: 1":                   "no list of stages",
		"stages: []":             `no stage "decode"`,
		"stages: [{id: decode}]": "is the last one",
		"stages:\n  - id: decode\n  -\n    id: end\n":                   "in a line of its own",
		"stages:\n  - id: decode\n  - {id: end, from: &a decode}\n":     "not one word",
		"stages:\n  - id: decode\n    x: |\n      # b\n  - {id: end}\n": "something else",
		"stages: {": "",
	} {
		_, err := spec.Insert([]byte(text), keep)
		require.ErrorContains(t, err, want, text)
	}
}
