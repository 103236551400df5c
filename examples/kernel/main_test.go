package main

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda/driver"
)

func TestWithoutADriverItSaysSoAndWhatToDo(t *testing.T) {
	t.Setenv(driver.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out), "machines without a device run the examples too")
	for _, want := range []string{"No kernel was launched", "Tried: ", "no CUDA driver library", "To mend it: install NVIDIA's driver", driver.LibraryVariable} {
		assert.Contains(t, out.String(), want)
	}
}

func TestASumThatDiffersIsFound(t *testing.T) {
	host := []uint64{7, 1 << 40, 0}
	var device []byte
	for _, x := range host {
		device = binary.LittleEndian.AppendUint64(device, x)
	}
	require.NoError(t, compare(device, host))
	device[13] ^= 2 // the last batch that is not 0
	require.EqualError(t, compare(device, host), "batch 1: the device's sum is 3298534883328, the host's 1099511627776")
}
