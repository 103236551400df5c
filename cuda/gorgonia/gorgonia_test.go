//go:build linux && (amd64 || arm64) && !nocuda

package gorgonia_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest/standin"
	"github.com/penstock-go/penstock/cuda/gorgonia"
)

// library is where the driver's stand-in lies; "" where there is no C compiler.
var library string

func TestMain(m *testing.M) { os.Exit(standin.Main(m, &library)) }

func TestWithoutTheTagItSaysWhatItNeeds(t *testing.T) {
	if built {
		t.Skip("the tag gorgonia is set")
	}
	_, err := cuda.Open(cuda.Auto, gorgonia.Backend{})
	require.ErrorIs(t, err, cuda.ErrNoDriver)
	require.ErrorContains(t, err, "gorgonia: no CUDA driver library: this program was built without it")
	require.ErrorContains(t, err, "the tag gorgonia")
}

func TestTheDriverByGorgonia(t *testing.T) {
	if !built {
		t.Skip("needs cgo and the tag gorgonia")
	}
	standin.Run(t, library, gorgonia.Backend{})
}

// The slots of the loader are those of the process: while a device is open they stay.
func TestTheLibraryStaysWhileADeviceIsOpen(t *testing.T) {
	if !built {
		t.Skip("needs cgo and the tag gorgonia")
	}
	s := standin.New(t, library)
	d, err := gorgonia.Backend{}.Open(0)
	require.NoError(t, err)
	t.Setenv("PENSTOCK_LIBCUDA", "none.so")
	_, err = gorgonia.Backend{}.Open(0)
	require.ErrorContains(t, err, s.Path+" is in use, and a process has one library at a time")
	require.NoError(t, d.Close())
	_, err = gorgonia.Backend{}.Open(0)
	require.ErrorContains(t, err, "none.so: cannot open shared object file")
}
