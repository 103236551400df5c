package cuda_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
)

type other struct{ opens }

func (other) Name() string { return "other" }

func TestOpenTakesTheFirstThatCan(t *testing.T) {
	dev := emulated(t, 1, nil)
	for _, name := range []string{cuda.Auto, "cuda:0", "cuda:12"} {
		d, err := cuda.Open(name, other{opens{err: errors.New("not today")}}, opens{dev: dev})
		require.NoError(t, err, name)
		assert.Same(t, dev, d)
	}
	t.Setenv(cuda.BackendVariable, "other")
	_, err := cuda.Open(cuda.Auto, other{opens{err: errors.New("not today")}}, opens{dev: dev})
	require.ErrorContains(t, err, "other: not today")
	t.Setenv(cuda.BackendVariable, "third")
	_, err = cuda.Open(cuda.Auto, opens{dev: dev})
	require.ErrorContains(t, err, `PENSTOCK_CUDA_BACKEND is "third"`)
}

func TestOpenSaysWhatItTriedAndNeverBecomesEmulated(t *testing.T) {
	_, err := cuda.Open(cuda.Auto)
	require.ErrorContains(t, err, `device "auto" cannot be opened: this program has no back end for real devices`)
	lost := &cuda.Error{Op: "open", Code: 100, Name: "CUDA_ERROR_NO_DEVICE"}
	_, err = cuda.Open("cuda:0", other{opens{err: fmt.Errorf("%w: looked in three places", cuda.ErrNoDriver)}}, opens{err: lost})
	require.ErrorIs(t, err, cuda.ErrNoDriver)
	require.ErrorIs(t, err, cuda.ErrNoDevice)
	for _, w := range []string{"other: no CUDA driver library: looked in three places", "test: open: CUDA_ERROR_NO_DEVICE (100)", `"emu:pcie5x16"`} {
		assert.ErrorContains(t, err, w)
	}
}

func TestEmulatedDevicesAreOpenedByTheirNames(t *testing.T) {
	for _, name := range []string{"emu:pcie3x16", "emu:pcie4x16", "emu:pcie5x16", "emu:c2c"} {
		d, err := cuda.Open(name)
		require.NoError(t, err)
		assert.True(t, d.Info().Emulated)
		assert.Equal(t, "emulated", d.Info().Backend)
		require.NoError(t, d.Close())
	}
	for _, name := range []string{"", "emu", "emu:", "emu:pcie9", "cuda", "cuda:", "cuda:-1", "cuda:01", "cuda:x", "CUDA:0", "gpu"} {
		_, err := cuda.Open(name)
		assert.ErrorContains(t, err, "emu:pcie3x16, emu:pcie4x16", name)
	}
}

func TestErrorsOfACodeAreTheSameWhateverTheOperation(t *testing.T) {
	e := &cuda.Error{Op: "copy", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY"}
	assert.ErrorIs(t, fmt.Errorf("x: %w", e), cuda.ErrOutOfMemory)
	assert.NotErrorIs(t, e, cuda.ErrNoDevice)
	assert.False(t, e.Sticky())
	assert.Equal(t, "copy: CUDA_ERROR_OUT_OF_MEMORY (2)", e.Error())
	assert.True(t, (&cuda.Error{Code: 700}).Sticky())
	assert.False(t, (&cuda.Error{Code: 712}).Sticky())
}
