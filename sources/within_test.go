package sources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// keysOf runs a source that may read only what lies in dir.
func keysOf(t *testing.T, dir string, src graph.Source[*item.Sample]) (keys []string, warnings string, err error) {
	t.Helper()
	p := graph.New("x", graph.Within(dir))
	out := graph.Output(graph.From(p, "read", src, graph.OnError(graph.Skip)), "out")
	run, err := p.Start(t.Context())
	if err != nil {
		return nil, "", err
	}
	for s, err := range out.All(run) {
		require.NoError(t, err)
		keys = append(keys, s.Key())
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	for _, n := range s.Skips {
		s.Warnings = append(s.Warnings, n.String())
	}
	return keys, strings.Join(s.Warnings, "\n"), nil
}

func TestNothingIsReadOutsideOfTheFolderThatMayBeRead(t *testing.T) {
	top := tree(t, "in/data/a/1", "in/data/a/out -> ../../../secret/x", "in/data/b -> ../other", "in/data/c -> ../../secret", "in/data/d/2 -> ../../other/5",
		"in/other/5", "secret/x", "secret/keys", "in/list -> ../secret/keys")
	in := filepath.Join(top, "in")
	data := filepath.Join(in, "data")
	keys, warned, err := keysOf(t, in, Folder{Root: data})
	require.NoError(t, err)
	assert.Equal(t, []string{"a/1", "b/5", "d/2"}, keys)
	assert.Contains(t, warned, "left out 2 links that lead out of the folder that may be read")

	_, _, err = keysOf(t, in, Folder{Root: filepath.Join(top, "secret")})
	require.ErrorIs(t, err, graph.ErrOutside)
	_, _, err = keysOf(t, in, Folder{Root: data, Exclude: filepath.Join(in, "list")})
	require.ErrorIs(t, err, graph.ErrOutside)
	_, _, err = keysOf(t, in, Folder{Root: filepath.Join(top, "new"), Synth: 3})
	require.ErrorIs(t, err, graph.ErrOutside)
	_, err = os.Stat(filepath.Join(top, "new"))
	require.ErrorIs(t, err, os.ErrNotExist)

	paths := NewPaths(func(yield func(string) bool) { _ = yield("data/a/1") && yield("data/a/out") && yield("../secret/x") })
	keys, warned, err = keysOf(t, in, List{Root: in, Paths: paths})
	require.NoError(t, err)
	assert.Equal(t, []string{"data/a/1"}, keys)
	assert.Contains(t, warned, "../secret/x")
}
