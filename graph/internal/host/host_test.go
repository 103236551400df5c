package host

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLimitsOfGroups(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o644))
	}
	_, ok := limitV2(root, "/a/b")
	require.False(t, ok, "no file, no limit")
	write("a/b/memory.max", "max\n")
	_, ok = limitV2(root, "/a/b")
	require.False(t, ok, "max is no limit")
	write("a/memory.max", "3000\n")
	write("memory.max", "9000\n")
	n, ok := limitV2(root, "/a/b")
	require.True(t, ok)
	require.Equal(t, int64(3000), n, "the smallest of the group and those above")
	write("a/b/memory.max", "not a number")
	n, _ = limitV2(root, "/a/b")
	require.Equal(t, int64(3000), n)
	n, _ = limitV2(root, "")
	require.Equal(t, int64(9000), n)
	write("v1", "9223372036854771712")
	_, ok = readLimit(filepath.Join(root, "v1"))
	require.False(t, ok, "v1's way to say none")
}

func TestThisMachine(t *testing.T) {
	require.Positive(t, Cores())
	require.NotEmpty(t, CPUName())
	if runtime.GOOS == "linux" {
		now, peak := RSS()
		require.Positive(t, now)
		require.GreaterOrEqual(t, peak, now/2)
		require.Positive(t, CPUTime())
	}
}
