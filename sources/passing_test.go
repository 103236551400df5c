package sources

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func TestErrorsThatMayPassAreMarked(t *testing.T) {
	var temp interface{ Temporary() bool }
	for _, e := range mayPass {
		err := passing(&fs.PathError{Op: "open", Path: "x", Err: e})
		require.ErrorAs(t, err, &temp)
		assert.True(t, temp.Temporary(), e)
		assert.ErrorIs(t, err, e)
		assert.Contains(t, err.Error(), "open x: ")
	}
	for _, e := range []error{fs.ErrNotExist, fs.ErrPermission, errEmptyFile} {
		err := error(&fs.PathError{Op: "open", Path: "x", Err: e})
		assert.Equal(t, err, passing(err))
	}
}

func TestFailedReadsBearTheKey(t *testing.T) {
	root := tree(t, "a/1", "a/empty", "b/3")
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "empty"), nil, 0o666))
	paths := NewPaths(func(yield func(string) bool) { _ = yield("a/1") && yield("a/empty") && yield("b/3") })
	for name, src := range map[string]graph.Source[*item.Sample]{"folder": Folder{Root: root}, "list": List{Root: root, Paths: paths}} {
		p := graph.New("x")
		out := graph.Output(graph.From(p, "read", src, graph.OnError(graph.Skip)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		var keys []string
		for s, err := range out.All(run) {
			require.NoError(t, err)
			keys = append(keys, s.Key())
		}
		require.NoError(t, run.Wait())
		assert.Equal(t, []string{"a/1", "b/3"}, keys)
		require.Len(t, run.Skips(), 1, name)
		assert.Equal(t, "a/empty", run.Skips()[0].Key)
		assert.Equal(t, "read", run.Skips()[0].Stage)
		assert.Contains(t, run.Skips()[0].Err, "empty file")
	}
}
