package sources

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordsAreReadAsJSONIs(t *testing.T) {
	for line, key := range map[string]string{
		`{"key":"a/b.jpg"}`:                                    "a/b.jpg",
		` { "key" : "a" , "n" : [1,-2.5e+3,{}] } `:             "a",
		`{"key":"\u00e4\ud83d\ude00\n\"\\\/"}`:                 "ä😀\n\"\\/",
		`{"key":"\ud83d\u0041"}`:                               "\ufffdA",
		"{\"key\":\"x\xffy\",\"key_bytes\":\"eP95\"}":          "x\xffy",
		`{"key":"a","key_bytes":null,"error":"\t[}","z":true}`: "a",
	} {
		got, err := recordKey([]byte(line))
		require.NoError(t, err, line)
		require.Equal(t, key, got, line)
	}
	for line, want := range map[string]string{
		`{}`:                  "it has no key",
		`{"key":null}`:        "it has no key",
		`{"key":1}`:           `column 8: got '1', wanted a string`,
		`{"key":"a"} x`:       "wanted the end of the line",
		`{"key":"a`:           "it ends at column 10",
		`{"key":"a","x":01}`:  "wanted } or ,",
		`{"key":"\x"}`:        "wanted one of",
		`{"key":"a","b":tru}`: "wanted a value",
		`{"key_bytes":"?"}`:   "illegal base64",
		"{\"key\":\"a\tb\"}":  "no control character",
	} {
		_, err := recordKey([]byte(line))
		require.ErrorContains(t, err, want, line)
	}
}

// What encoding/json takes for an object with these members is taken, with the same key, and nothing else is. Left out:
// names that differ in case only, which it takes too, and depth.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"key":"a\u00e4\ud83d\ude00","key_bytes":"eA==","n":[1e5,-0.1,null,{"x":"\/"}]}`))
	f.Add([]byte(`{"key":"a","key":null,"key_bytes":"e\nA=="}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := recordKey(line)
		var r map[string]json.RawMessage
		want := json.Unmarshal(line, &r)
		var key *string
		var raw []byte
		if want == nil {
			if k, ok := r["key"]; ok {
				want = json.Unmarshal(k, &key)
			}
			if k, ok := r["key_bytes"]; ok {
				want = errors.Join(want, json.Unmarshal(k, &raw))
			}
		}
		if err == nil {
			require.NoError(t, want)
			if len(raw) == 0 && key != nil {
				raw = []byte(*key)
			}
			require.Equal(t, string(raw), got)
		} else if want == nil {
			require.True(t, len(raw) == 0 && (key == nil || *key == "") || len(line) > maxJSONDepth, "%v", err)
		}
	})
}
