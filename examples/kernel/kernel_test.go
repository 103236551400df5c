//go:build linux && (amd64 || arm64) && !nocuda

package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest/standin"
	"github.com/penstock-go/penstock/graph"
)

// library is where the driver's stand-in lies; "" where there is no C compiler.
var library string

func TestMain(m *testing.M) { os.Exit(standin.Main(m, &library)) }

// hostOf runs the part of the pipeline that is before the device.
func hostOf(t *testing.T) *hostSums {
	t.Helper()
	h := &hostSums{}
	p := graph.New("host", graph.Seed(1))
	out := graph.Output(onHost(p, h), "use")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for _, err := range out.All(run) {
		require.NoError(t, err)
	}
	require.NoError(t, run.Wait())
	return h
}

// The stand-in runs no kernels, so the program finds that the sums are missing. What can be checked is what it asked for,
// and that the bytes of the right batch lay there from the copy until the kernel was over.
func TestEachBatchIsLaunchedOnBetweenItsCopyAndTheNextInItsPlace(t *testing.T) {
	s := standin.New(t, library)
	s.Set("launch", 2e-3) // longer than a copy takes
	t.Cleanup(func() { s.Set("launch", 4e-6) })
	host := hostOf(t)
	var out bytes.Buffer
	err := run(t.Context(), &out)
	require.ErrorContains(t, err, "batch 0: the device's sum is 0, the host's ", "nothing was computed, and that is found")
	assert.Empty(t, out.String())

	all := s.Launches()
	require.Len(t, all, batches)
	used := map[uint64]int{}
	for i, l := range all {
		assert.Equal(t, [3]uint32{blocks, 1, 1}, l.Grid)
		assert.Equal(t, [3]uint32{threads, 1, 1}, l.Block)
		assert.Zero(t, l.Shared)
		require.EqualValues(t, 3, l.Used)
		assert.EqualValues(t, size*32*32*3, l.Args[1], "bytes")
		assert.Equal(t, all[0].Args[2]+8*uint64(i), l.Args[2], "a result for each")
		assert.Equal(t, all[0].Stream, l.Stream)
		assert.EqualValues(t, 1, l.Over)
		assert.Positive(t, host.of[i])
		assert.Equal(t, host.of[i], l.Sum, "batch %d was not there when its kernel was over", i)
		used[l.Args[0]]++
	}
	assert.Len(t, used, 2, "the slots of device_copy, in turns")
	left := s.Read()
	left.Calls, left.Async, left.Staged, left.Kernels = 0, 0, 0, 0
	assert.Equal(t, standin.Counters{}, left, "all is given back")
}

func TestAKernelThatCannotBeLaunchedEndsTheProgramWithItsCall(t *testing.T) {
	for _, c := range []struct{ call, says string }{
		{"cuLaunchKernel", "cuLaunchKernel: "},
		{"cuModuleLoadData", "load the kernel, which is for devices of compute capability 7.5 (Turing) and newer: cuModuleLoadData: "},
		{"cuModuleGetFunction", "cuModuleGetFunction: "},
	} {
		t.Run(c.call, func(t *testing.T) {
			s := standin.New(t, library)
			s.Fail(c.call, 1, 2)
			err := run(t.Context(), &bytes.Buffer{})
			require.ErrorIs(t, err, cuda.ErrOutOfMemory)
			assert.ErrorContains(t, err, c.says)
			left := s.Read()
			assert.Zero(t, left.DeviceBytes+left.LockedBytes+left.Streams+left.Events+left.Contexts+left.Modules)
		})
	}
}
