//go:build linux && (amd64 || arm64) && !nocuda

package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest"
	"github.com/penstock-go/penstock/cuda/driver"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// standIn is the driver's stand-in, which the machine's C compiler makes.
type standIn struct {
	path   string
	set    func(string, float64) int32
	fail   func(string, int32, int32) int32
	counts func(*uint64, int32) int32
	mend   func() int32
}

// counters are in the order of standin.c.
type counters struct {
	DeviceBytes, LockedBytes, Streams, Events, Contexts, Staged, Async, Races, NoContext, Kernels, Calls uint64
}

// made is where the stand-in lies; "" where there is no C compiler.
var made string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "standin")
	if err != nil {
		panic(err)
	}
	if cc, err := exec.LookPath("cc"); err == nil {
		lib := filepath.Join(dir, "libcuda.so.1")
		cmd := exec.Command(cc, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", lib, "testdata/standin.c", "-lpthread")
		if text, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s\n", text)
			os.Exit(1)
		}
		made = lib
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func newStandIn(t testing.TB) *standIn {
	t.Helper()
	s := &standIn{path: made}
	if s.path == "" {
		t.Skip("no C compiler (cc), so there is no stand-in for the driver: skipped")
	}
	h, err := purego.Dlopen(s.path, purego.RTLD_NOW)
	require.NoError(t, err)
	purego.RegisterLibFunc(&s.set, h, "standin_set")
	purego.RegisterLibFunc(&s.fail, h, "standin_fail")
	purego.RegisterLibFunc(&s.counts, h, "standin_counts")
	purego.RegisterLibFunc(&s.mend, h, "standin_mend")
	s.mend()
	t.Setenv(driver.LibraryVariable, s.path)
	return s
}

func (s *standIn) read() (c counters) {
	var a [11]uint64
	s.counts(&a[0], int32(len(a)))
	return counters{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]}
}

func TestTheDriverConforms(t *testing.T) {
	var s *standIn
	devicetest.Run(t, devicetest.Case{
		Open: func(t testing.TB) cuda.Device {
			s = newStandIn(t)
			d, err := cuda.Open("cuda:0", driver.Backend{})
			require.NoError(t, err)
			return d
		},
		Left: func() string {
			c := s.read()
			if c.DeviceBytes+c.LockedBytes+c.Streams+c.Events+c.Contexts > 0 || c.NoContext > 0 {
				return fmt.Sprintf("%+v", c)
			}
			return ""
		},
		Batches: 60,
	})
}

func TestTheDeviceSaysWhatItIs(t *testing.T) {
	newStandIn(t)
	d, err := cuda.Open(cuda.Auto, driver.Backend{})
	require.NoError(t, err)
	assert.Equal(t, cuda.Info{Backend: "driver", Name: "stand-in 0", PCI: "0000:01:00.0", Driver: "CUDA 13.0", Memory: 1 << 30, Node: d.Info().Node}, d.Info())
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "twice is once")
}

func TestWithoutALibraryOrADeviceThereIsAnErrorThatSaysSo(t *testing.T) {
	t.Setenv(driver.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
	_, err := cuda.Open(cuda.Auto, driver.Backend{})
	require.ErrorIs(t, err, cuda.ErrNoDriver)
	assert.ErrorContains(t, err, "none.so")

	s := newStandIn(t)
	t.Cleanup(func() { s.set("devices", 1) })
	s.set("devices", 0)
	_, err = cuda.Open(cuda.Auto, driver.Backend{})
	require.ErrorIs(t, err, cuda.ErrNoDevice)
	assert.ErrorContains(t, err, "driver: cuInit: CUDA_ERROR_NO_DEVICE (100)")
	s.set("devices", 1)
	_, err = cuda.Open("cuda:3", driver.Backend{})
	assert.ErrorContains(t, err, "CUDA_ERROR_INVALID_DEVICE (101)")
}

func TestALibraryThatIsNoDriverIsRefused(t *testing.T) {
	for _, lib := range []string{"libm.so.6", "libc.so.6"} {
		t.Setenv(driver.LibraryVariable, lib)
		_, err := cuda.Open(cuda.Auto, driver.Backend{})
		require.ErrorIs(t, err, cuda.ErrNoDriver)
		assert.ErrorContains(t, err, lib)
	}
}

// numbers is a source of numbers.
type numbers struct{ n int64 }

func lost(t *testing.T, s *standIn, at string, nth int32) error {
	t.Helper()
	s.fail(at, nth, 719)
	t.Cleanup(func() { s.mend() })
	p := graph.New("lost")
	batches := graph.Via(graph.From(p, "count", graph.Source[int](numbers{50})), "make", graph.Map(newBatch))
	out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Backends: []cuda.Backend{driver.Backend{}}}), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for b, err := range out.All(run) {
		if err != nil || b.Handle.Enter(0) != nil || b.Handle.Busy(time.Microsecond) != nil {
			break
		}
	}
	return run.Wait()
}

func TestALostDeviceEndsTheRunWithOneErrorAndNoThreadLeft(t *testing.T) {
	for _, c := range []struct {
		at  string
		nth int32
	}{{"copy", 1}, {"copy", 20}, {"copy", 50}, {"kernel", 3}, {"kernel", 50}} {
		t.Run(fmt.Sprint(c.at, " ", c.nth), func(t *testing.T) {
			s := newStandIn(t)
			err := lost(t, s, c.at, c.nth)
			var e *cuda.Error
			require.ErrorAs(t, err, &e)
			assert.True(t, e.Sticky())
			assert.ErrorContains(t, err, "context is lost")
			var at *graph.StageError
			require.ErrorAs(t, err, &at)
			assert.Contains(t, []string{"copy", "pin"}, at.Stage, "whichever asks the device first")
			n := s.read()
			assert.Zero(t, n.Streams)
			assert.Zero(t, n.Events)
		})
	}
}

func TestACallThatFailsIsAnErrorAndLeavesNothing(t *testing.T) {
	for _, call := range []string{"cuMemAlloc_v2", "cuMemHostRegister_v2", "cuStreamCreateWithPriority", "cuEventCreate",
		"cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuModuleLoadData"} {
		for _, nth := range []int32{1, 2, 5} {
			t.Run(fmt.Sprint(call, " ", nth), func(t *testing.T) {
				s := newStandIn(t)
				before := s.read()
				s.fail(call, nth, 2)
				err := run(t)
				if err == nil {
					t.Skip("the call was not made so often")
				}
				require.ErrorIs(t, err, cuda.ErrOutOfMemory)
				assert.ErrorContains(t, err, call)
				after := s.read()
				for _, c := range []*counters{&before, &after} {
					c.Calls, c.Staged, c.Async, c.Kernels = 0, 0, 0, 0
				}
				assert.Equal(t, before, after, "something was not given back")
			})
		}
	}
}

func (p numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: p.n, At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

// run carries 20 batches and gives the first error, of the pipeline or of the device.
func run(t *testing.T) error {
	t.Helper()
	p := graph.New("run")
	batches := graph.Via(graph.From(p, "count", graph.Source[int](numbers{20})), "make", graph.Map(newBatch))
	out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Backends: []cuda.Backend{driver.Backend{}}}), "train")
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

// BenchmarkCalls counts the calls of the driver for a batch, those that make the context current among them: where the
// consumer takes it only, and where it works on it.
func BenchmarkCalls(b *testing.B) {
	for _, works := range []bool{false, true} {
		b.Run(fmt.Sprint("works=", works), func(b *testing.B) {
			s := newStandIn(b)
			p := graph.New("calls")
			batches := graph.Via(graph.From(p, "count", graph.Source[int](numbers{int64(b.N)})), "make", graph.Map(newBatch))
			out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Backends: []cuda.Backend{driver.Backend{}}}), "train")
			r, err := p.Start(b.Context())
			require.NoError(b, err)
			var last item.DeviceMark
			for batch, err := range out.All(r) {
				require.NoError(b, err)
				if !works {
					continue
				}
				require.NoError(b, enter(batch))
				m, err := batch.Handle.Leave()
				require.NoError(b, err)
				if last != nil {
					require.NoError(b, last.Wait())
				}
				last = m
			}
			require.NoError(b, r.Wait())
			b.ReportMetric(float64(s.read().Calls)/float64(b.N), "calls/op")
		})
	}
}
