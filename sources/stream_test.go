package sources

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

func TestDataMayMoveBetweenTwoRunsButNotChange(t *testing.T) {
	one, two := tree(t, "a/1", "a/2", "b/3"), tree(t, "a/1", "a/2", "b/3")
	weights := func(text string) string {
		file := filepath.Join(t.TempDir(), "w")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		return file
	}
	start := func(root, weights string, opts ...graph.PipelineOption) (*graph.Run, error) {
		p := graph.New("x", append(opts, graph.Epochs(3))...)
		out := graph.Output(graph.From(p, "read", Folder{Root: root}, graph.Sampler(Weighted{Weights: weights})), "out")
		run, err := p.Start(t.Context())
		if err == nil {
			for range out.All(run) {
				break
			}
			require.NoError(t, run.Wait())
		}
		return run, err
	}
	run, err := start(one, weights("1\n2\n3\n"))
	require.NoError(t, err)
	s, err := run.State()
	require.NoError(t, err)
	for _, l := range s.Stream {
		require.NotContains(t, l, one)
	}
	_, err = start(two, weights("1\n2\n3"), graph.Resume(s, false))
	require.NoError(t, err)

	_, err = start(two, weights("1\n2\n4\n"), graph.Resume(s, false))
	require.ErrorIs(t, err, graph.ErrState)
	require.NoError(t, os.Mkdir(filepath.Join(two, "aa"), 0o777))
	_, err = start(two, weights("1\n2\n3\n"), graph.Resume(s, false))
	require.ErrorIs(t, err, graph.ErrState, "the labels have moved")
	require.NoError(t, os.Remove(filepath.Join(two, "aa")))
	require.NoError(t, os.Rename(filepath.Join(two, "a", "2"), filepath.Join(two, "a", "0")))
	_, err = start(two, weights("1\n2\n3\n"), graph.Resume(s, false))
	require.ErrorIs(t, err, graph.ErrState)
	require.ErrorContains(t, err, "fingerprint")
}
