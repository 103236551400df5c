package sources

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

func excluded(t *testing.T, text string) []string {
	t.Helper()
	x, err := parseExclusion(strings.NewReader(text))
	require.NoError(t, err)
	return slices.Sorted(maps.Keys(x.keys))
}

func TestAListOfKeysHasOneALine(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 nil,
		"\n\n":                             nil,
		"a/b.jpg":                          {"a/b.jpg"},
		"a/b.jpg\nc.jpg\n":                 {"a/b.jpg", "c.jpg"},
		"\xef\xbb\xbfa.jpg\r\n./b.jpg\r\n": {"a.jpg", "b.jpg"},
		"a\n\n a \n#b\n\t\n":               {"\t", " a ", "#b", "a"},
		"./{\"key\":\"x\"}\n{y}\n":         {`{"key":"x"}`, "{y}"},
		"a\n{\"key\":\"x\"}\n":             {"a", `{"key":"x"}`},
		"\xff\xfe":                         {"\xff\xfe"},
	} {
		assert.Equal(t, want, excluded(t, text), "%q", text)
	}
	for text, want := range map[string]string{
		"a\nb\x00c\n": "line 2: it holds a zero byte, which no key has; wanted a list of keys or a quarantine file",
		"a\n" + strings.Repeat("x", maxExcludeLine+2): "line 2: it has more than 1048576 bytes",
	} {
		_, err := parseExclusion(strings.NewReader(text))
		assert.EqualError(t, err, want)
	}
}

func TestAQuarantineFileHasOneObjectALine(t *testing.T) {
	for text, want := range map[string][]string{
		`{"key":"a/b.jpg","stage":"decode","offset":null}`:                 {"a/b.jpg"},
		"\n {\"stage\":\"x\",\"key\":\"a\\nb\"}\n\n{\"key\":\"./c \"}\r\n": {"./c ", "a\nb"},
		`{"key":"�","key_bytes":"/w=="}`:                                   {"\xff"},
		"{\"key\":\"a\"}\n{\"key\":\"b":                                    {"a"},
		`{"ke`:                                                             nil,
	} {
		assert.Equal(t, want, excluded(t, text), "%q", text)
	}
	x, err := parseExclusion(strings.NewReader("{\"key\":\"a\"}\n{\"key\":\"b"))
	require.NoError(t, err)
	assert.Contains(t, x.line("r"), "its last line is cut short")
	for text, want := range map[string]string{
		"{\"key\":\"a\"}\nb.jpg\n":     "line 2: not a line of a quarantine file: column 1: got 'b', wanted {",
		"{\"key\":\"a\"}\n{\"k\":1}\n": "line 2: not a line of a quarantine file: it has no key",
		"{\"key\":\"\"}\n":             "line 1: not a line of a quarantine file: it has no key",
		"{\"key\":5}\n":                "line 1: not a line of a quarantine file: column 8: got '5', wanted a string",
	} {
		_, err := parseExclusion(strings.NewReader(text))
		assert.EqualError(t, err, want)
	}
}

func TestFolderLeavesOutWhatAFileLists(t *testing.T) {
	root := tree(t, "a/1", "a/2", "b/1", "b/3", "c/1")
	list := filepath.Join(t.TempDir(), "bad.txt")
	require.NoError(t, os.WriteFile(list, []byte("a/2\nc/1\nb/2\n"), 0o666))
	var warned []string
	p := graph.New("x")
	src := graph.From(p, "read", Folder{Root: root, Exclude: list}, graph.Workers(1))
	out := graph.Output(src, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var keys []string
	var labels []int64
	for s, err := range out.All(run) {
		require.NoError(t, err)
		keys, labels = append(keys, s.Key()), append(labels, s.Get("label").Int())
	}
	require.NoError(t, run.Wait())
	warned = run.Snapshot().Warnings
	assert.Equal(t, []string{"a/1", "b/1", "b/3"}, keys)
	assert.Equal(t, []int64{0, 1, 1}, labels, "a class keeps its label, also where nothing of it is left")
	assert.Contains(t, strings.Join(warned, "\n"), "left out 2 files that "+`"`+list+`"`+" lists; 1 of its keys name no file here")
}

func TestAnExclusionThatCannotBeReadEndsTheStart(t *testing.T) {
	root := tree(t, "a/1")
	start := func(list string) error {
		p := graph.New("x")
		graph.Output(graph.From(p, "read", Folder{Root: root, Exclude: list}), "out")
		_, err := p.Start(t.Context())
		return err
	}
	assert.ErrorContains(t, start(filepath.Join(root, "none")), `stage "read": open: exclude: open `)
	assert.ErrorContains(t, start(root), "is no plain file")
	all := filepath.Join(t.TempDir(), "all")
	require.NoError(t, os.WriteFile(all, []byte("a/1"), 0o666))
	err := start(all)
	assert.ErrorIs(t, err, graph.ErrEmpty)
	assert.ErrorContains(t, err, "left out 1 files")
	if runtime.GOOS == "windows" {
		return
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	makePipe(t, pipe)
	assert.ErrorContains(t, start(pipe), "is no plain file")
}

func FuzzExclusion(f *testing.F) {
	for _, s := range []string{"a\nb\n", "{\"key\":\"a\"}\n{\"key", "\xef\xbb\xbf./{}\r\n", "{\"key\":\"\\u0000\\ud800\"}", " \n{", "{\"key_bytes\":\"/w==\"}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := parseExclusion(bytes.NewReader(data))
		if err != nil {
			return
		}
		// Each key, written out as a quarantine file, comes back.
		var again bytes.Buffer
		for k := range x.keys {
			line, err := json.Marshal(map[string]any{"key": k, "key_bytes": []byte(k)})
			require.NoError(t, err)
			again.Write(append(line, '\n'))
		}
		y, err := parseExclusion(&again)
		require.NoError(t, err)
		require.Equal(t, slices.Sorted(maps.Keys(x.keys)), slices.Sorted(maps.Keys(y.keys)))
	})
}
