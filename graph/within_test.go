package graph_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

func TestAPathLiesInsideWhenAllItsLinksDo(t *testing.T) {
	top := t.TempDir()
	for _, d := range []string{"in/deep/x/out/y", "out", "inside"} {
		require.NoError(t, os.MkdirAll(filepath.Join(top, d), 0o755))
	}
	for link, to := range map[string]string{"in/away": "../out", "in/here": "deep", "in/abs": filepath.Join(top, "in", "deep"), "root": "in",
		"in/broken": "../out/nothing", "in/round": "round", "in/later": "deep/nothing", "in/up": "deep", "in/far": "deep/x/out/y"} {
		require.NoError(t, os.Symlink(to, filepath.Join(top, link)))
	}
	for path, ok := range map[string]bool{
		"in": true, "in/deep": true, "in/new/file": true, "in/here": true, "in/here/x": true, "in/abs/x": true, "in/deep/..": true, "root/deep": true,
		"out": false, "inside": false, "in/..": false, "in/../out": false, "in/away": false, "in/away/x": false, "in/deep/../../out": false,
		"in/away/..": false, "in/away/../in/deep": true, "in/up/../deep": true, "in/up/../../out": false,
		"in/far/../../out": false, "in/away/../in/new": false, "in/here/../../in": true, "in/here/../../out": false,
		"in/new/../deep": false, "": false, "in/round": false, "in/broken": false, "in/broken/x": false, "in/later": true,
	} {
		for _, root := range []string{"in", "root", "in/deep/.."} {
			err := graph.Inside(top+"/"+root, top+"/"+path)
			require.Equal(t, ok, err == nil, "%q in %q: %v", path, root, err)
		}
	}
	require.ErrorIs(t, graph.Inside(filepath.Join(top, "in"), filepath.Join(top, "out")), graph.ErrOutside)
	require.NoError(t, graph.Inside("", "/anywhere"))
	require.NoError(t, graph.Inside("/", top))
	t.Chdir(filepath.Join(top, "in"))
	require.NoError(t, graph.Inside(".", "deep"))
	require.Error(t, graph.Inside(".", "http://x/../../../out"))
}
