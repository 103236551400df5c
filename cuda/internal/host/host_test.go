//go:build linux && (amd64 || arm64)

package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda/internal/host"
)

func TestMemoryCanBeWrittenAndIsGivenBackOnce(t *testing.T) {
	for _, n := range []int{1, 4096, 3 << 20, 9<<20 + 5} {
		m := host.Memory{Node: -1}
		b, err := m.Map(n)
		require.NoError(t, err)
		require.Len(t, b, n)
		host.Populate(b)
		b[0], b[n-1] = 1, 2
		if n >= 4<<20 {
			assert.Zero(t, host.At(b)%(2<<20), "it begins on a huge page")
		}
		require.NoError(t, m.Unmap(b))
		require.Error(t, m.Unmap(make([]byte, n)), "it is not of Map")
	}
}

func TestTheNodeOfADeviceIsReadFromItsPlaceOnTheBus(t *testing.T) {
	dir := t.TempDir()
	for bus, text := range map[string]string{"0000:0a:00.0": "3\n", "0000:0b:00.0": "-1\n", "0000:0c:00.0": "what\n"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, bus), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, bus, "numa_node"), []byte(text), 0o644))
	}
	assert.Equal(t, 3, host.NodeOf(dir, "0000:0A:00.0"))
	for _, bus := range []string{"0000:0B:00.0", "0000:0C:00.0", "0000:0D:00.0"} {
		assert.Equal(t, -1, host.NodeOf(dir, bus), bus)
	}
}

func TestAContainerWithoutTheLibraryIsToldWhatItLacks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "version")
	assert.Empty(t, host.Hint(file))
	require.NoError(t, os.WriteFile(file, []byte("NVRM version: 550.1\nGCC version: 12\n"), 0o644))
	assert.Equal(t, "; the system has a driver (NVRM version: 550.1), so this is a container without its library: start it with "+
		"NVIDIA_DRIVER_CAPABILITIES=compute,utility, utility alone is not enough", host.Hint(file))
}
