//go:build unix

package sources

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// The field case of a run that hung when too many files were open.
func TestTooManyOpenFilesIsAnErrorAndNoHang(t *testing.T) {
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("c/%03d", i))
	}
	root := tree(t, names...)
	read := func(opts ...graph.Option) (n int, err error) {
		p := graph.New("x")
		out := graph.Output(graph.From(p, "read", Folder{Root: root}, append(opts, graph.Workers(16), graph.Buffer(64))...), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			if err == nil {
				n++
			}
		}
		return n, run.Wait()
	}
	n, err := read()
	require.NoError(t, err)
	require.Equal(t, 500, n)

	f, err := os.Open(root) // tells the next free number
	require.NoError(t, err)
	free := uint64(f.Fd())
	require.NoError(t, f.Close())
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	less := was
	setLimit(&less.Cur, free+2) // one folder can be listed, two files read at once
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &less))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)) }()
	if n, err = read(); err != nil {
		require.ErrorIs(t, err, syscall.EMFILE)
		require.ErrorContains(t, err, `stage "read": c/`)
	} else {
		require.Equal(t, 500, n)
	}
	n, err = read(graph.Retry(100, time.Microsecond))
	require.NoError(t, err, "what may pass is tried again")
	require.Equal(t, 500, n)
}

// setLimit sets a limit, whose type differs between systems.
func setLimit[T int64 | uint64](cur *T, n uint64) { *cur = T(n) }
