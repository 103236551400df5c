//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest"
	"github.com/penstock-go/penstock/cuda/internal/host"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Run runs what every back end over the driver's library passes. path is where the stand-in lies.
func Run(t *testing.T, path string, b cuda.Backend) {
	k := kit{path, b}
	t.Run("it conforms", k.conforms)
	t.Run("the device says what it is", k.says)
	t.Run("without a library or a device there is an error that says so", k.without)
	t.Run("a library that is no driver is refused", k.strange)
	t.Run("the device says how it is used", k.used)
	t.Run("a lost device ends the run with one error and no thread left", k.lost)
	t.Run("a call that fails is an error and leaves nothing", k.fails)
}

type kit struct {
	path    string
	backend cuda.Backend
}

func (k kit) conforms(t *testing.T) {
	var s *Library
	open := func(t testing.TB) cuda.Device {
		s = New(t, k.path)
		d, err := cuda.Open("cuda:0", k.backend)
		require.NoError(t, err)
		return d
	}
	devicetest.Run(t, devicetest.Case{
		Open:    open,
		Left:    func(lost bool) string { return s.left(lost) },
		Races:   func() int64 { return int64(s.Read().Races) },
		Batches: 60,
		Storm: func(t testing.TB, r *rand.Rand) (cuda.Device, bool) {
			d := open(t)
			s.Set("late", 50e-6)
			s.Set("rate", 2e9)
			t.Cleanup(func() { s.Set("rate", 0.2e9) })
			return d, !s.draw(r)
		},
	})
}

// draw plants a fault somewhere, or none.
func (s *Library) draw(r *rand.Rand) bool {
	once := []string{"cuMemAlloc_v2", "cuMemHostRegister_v2", "cuStreamCreateWithPriority", "cuEventCreate"}
	often := []string{"cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuStreamWaitEvent", "cuEventQuery", "cuEventSynchronize"}
	switch r.IntN(4) {
	case 0:
		s.Fail(once[r.IntN(len(once))], 1+r.Int32N(6), 2)
	case 1:
		s.Fail(often[r.IntN(len(often))], 1+r.Int32N(300), 2)
	case 2:
		s.Fail([]string{"copy", "kernel"}[r.IntN(2)], 1+r.Int32N(300), []int32{700, 719}[r.IntN(2)])
	default:
		return false
	}
	return true
}

func (k kit) says(t *testing.T) {
	New(t, k.path)
	d, err := cuda.Open(cuda.Auto, k.backend)
	require.NoError(t, err)
	assert.Equal(t, cuda.Info{Backend: k.backend.Name(), Name: "stand-in 0", PCI: "0000:01:00.0", Driver: "CUDA 13.0", Memory: 1 << 30, Node: d.Info().Node}, d.Info())
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "twice is once")
}

func (k kit) used(t *testing.T) {
	s := New(t, k.path)
	d, err := cuda.Open(cuda.Auto, k.backend)
	require.NoError(t, err)
	m := d.(cuda.Monitor)
	s.Manage(t, 37, 5<<30, 4, 16)
	u, err := m.Use()
	require.NoError(t, err)
	require.NotNil(t, u.Busy)
	assert.InDelta(t, 0.37, *u.Busy, 1e-9)
	u.Busy = nil
	assert.Equal(t, cuda.Use{MemoryUsed: 5 << 30, Memory: 8 << 30, LinkGeneration: 4, LinkWidth: 16, LinkGenerationLimit: 5, LinkWidthLimit: 16}, u)
	s.Manage(t, -1, 5<<30, -1, -1)
	u, err = m.Use()
	require.NoError(t, err)
	assert.Equal(t, cuda.Use{MemoryUsed: 5 << 30, Memory: 8 << 30}, u, "what it does not know is left out")
	s.Manage(t, -1, -1, -1, -1)
	_, err = m.Use()
	require.ErrorContains(t, err, "nvmlDeviceGetUtilizationRates: Not Supported (3)")
	require.NoError(t, d.Close())
	assert.Zero(t, s.Manage(t, 37, 5<<30, 4, 16), "the library is given up")
	_, err = m.Use()
	require.Error(t, err)

	t.Setenv("PENSTOCK_LIBNVML", "/nowhere/libnvidia-ml.so.1")
	d, err = cuda.Open(cuda.Auto, k.backend)
	require.NoError(t, err, "it is not needed")
	_, err = d.(cuda.Monitor).Use()
	require.ErrorContains(t, err, "no NVML: /nowhere/libnvidia-ml.so.1")
	require.NoError(t, d.Close())
}

func (k kit) without(t *testing.T) {
	t.Setenv(host.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
	_, err := cuda.Open(cuda.Auto, k.backend)
	require.ErrorIs(t, err, cuda.ErrNoDriver)
	assert.ErrorContains(t, err, "none.so")

	s := New(t, k.path)
	t.Cleanup(func() { s.Set("devices", 1) })
	s.Set("devices", 0)
	_, err = cuda.Open(cuda.Auto, k.backend)
	require.ErrorIs(t, err, cuda.ErrNoDevice)
	assert.ErrorContains(t, err, k.backend.Name()+": cuInit: CUDA_ERROR_NO_DEVICE (100)")
	s.Set("devices", 1)
	_, err = cuda.Open("cuda:3", k.backend)
	assert.ErrorContains(t, err, "CUDA_ERROR_INVALID_DEVICE (101)")
}

func (k kit) strange(t *testing.T) {
	for _, lib := range []string{"libm.so.6", "libc.so.6"} {
		t.Setenv(host.LibraryVariable, lib)
		_, err := cuda.Open(cuda.Auto, k.backend)
		require.ErrorIs(t, err, cuda.ErrNoDriver)
		assert.ErrorContains(t, err, lib)
	}
}

// numbers is a source of numbers.
type numbers struct{ n int64 }

func (k kit) lose(t *testing.T, s *Library, at string, nth int32) error {
	t.Helper()
	s.Fail(at, nth, 719)
	t.Cleanup(func() { s.mend() })
	p := graph.New("lost")
	batches := graph.Via(graph.From(p, "count", graph.Source[int](numbers{50})), "make", graph.Map(newBatch))
	out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Backends: []cuda.Backend{k.backend}}), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for b, err := range out.All(run) {
		if err != nil || b.Handle.Enter(0) != nil || b.Handle.Busy(time.Microsecond) != nil {
			break
		}
	}
	return run.Wait()
}

func (k kit) lost(t *testing.T) {
	for _, c := range []struct {
		at  string
		nth int32
	}{{"copy", 1}, {"copy", 20}, {"copy", 50}, {"kernel", 3}, {"kernel", 50}} {
		t.Run(fmt.Sprint(c.at, " ", c.nth), func(t *testing.T) {
			s := New(t, k.path)
			err := k.lose(t, s, c.at, c.nth)
			var e *cuda.Error
			require.ErrorAs(t, err, &e)
			assert.True(t, e.Sticky())
			assert.ErrorContains(t, err, "context is lost")
			var at *graph.StageError
			require.ErrorAs(t, err, &at)
			assert.Contains(t, []string{"copy", "pin"}, at.Stage, "whichever asks the device first")
			n := s.Read()
			assert.Zero(t, n.Streams)
			assert.Zero(t, n.Events)
		})
	}
}

func (k kit) fails(t *testing.T) {
	for _, call := range []string{"cuMemAlloc_v2", "cuMemHostRegister_v2", "cuStreamCreateWithPriority", "cuEventCreate",
		"cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuStreamWaitEvent", "cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime",
		"cuLaunchKernel", "cuModuleLoadData"} {
		for _, nth := range []int32{1, 2, 5} {
			t.Run(fmt.Sprint(call, " ", nth), func(t *testing.T) {
				s := New(t, k.path)
				before := s.Read()
				s.Fail(call, nth, 2)
				err := k.carry(t)
				if err == nil {
					require.Zero(t, s.struck(), "a call failed, and nobody was told")
					t.Skip("the call was not made so often")
				}
				require.ErrorIs(t, err, cuda.ErrOutOfMemory)
				assert.ErrorContains(t, err, call)
				after := s.Read()
				for _, c := range []*Counters{&before, &after} {
					c.Calls, c.Staged, c.Async, c.Kernels, c.Modules = 0, 0, 0, 0, 0 // a module goes with its context
				}
				assert.Equal(t, before, after, "something was not given back")
			})
		}
	}
}

func (p numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: p.n, At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

// carry carries 20 batches and gives the first error, of the pipeline or of the device.
func (k kit) carry(t *testing.T) error {
	t.Helper()
	p := graph.New("run")
	batches := graph.Via(graph.From(p, "count", graph.Source[int](numbers{20})), "make", graph.Map(newBatch))
	out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Backends: []cuda.Backend{k.backend}}), "train")
	r, err := p.Start(t.Context())
	if err != nil {
		return err
	}
	var first error
	for b, err := range out.All(r) {
		if first = errors.Join(err, enter(b)); first != nil {
			break
		}
	}
	if err := r.Wait(); err != nil {
		return err
	}
	return first
}

func enter(b *item.Batch) error {
	if b == nil {
		return nil
	}
	if err := b.Handle.Enter(0); err != nil {
		return err
	}
	return b.Handle.Busy(time.Microsecond)
}

func newBatch(i int) (*item.Batch, error) {
	return &item.Batch{Number: int64(i), Rows: []item.Row{{Key: fmt.Sprint(i)}},
		Columns: []item.Column{{Name: "x", Kind: item.KindTensor, Shape: item.MakeShape(1, 4096), Data: make([]byte, 4096)}}}, nil
}
