package cuda_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// run reads every batch back and gives the snapshot.
func (c pipe) run(t *testing.T, dev *cuda.Emulated) graph.Snapshot {
	t.Helper()
	p, out := c.build()
	run, err := p.Start(context.Background())
	require.NoError(t, err)
	s, err := dev.NewStream(false)
	require.NoError(t, err)
	n := int64(0)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		require.Equal(t, n, b.Number)
		require.Equal(t, item.Device, b.Place)
		require.Nil(t, b.Columns[0].Data)
		require.True(t, arrived(t, dev, s, b, make([]byte, b.Bytes()-texts(b))))
		require.Equal(t, fmt.Sprint("n", b.Number*int64(b.Len())), b.Columns[1].Texts[0])
		n++
	}
	require.NoError(t, run.Wait())
	require.Equal(t, c.n, n)
	require.NoError(t, s.Close())
	nothingIsLeft(t, dev)
	return run.Snapshot()
}

func texts(b *item.Batch) (n int64) {
	for _, t := range b.Columns[1].Texts {
		n += int64(len(t))
	}
	return n
}

func TestPinCopiesNothingOfWhatWasFilledInItsMemoryAndTheRestOnce(t *testing.T) {
	for name, c := range map[string]struct {
		pipe
		copied, staged int64
	}{
		"filled in pinned memory":     {pipe: pipe{}},
		"filled elsewhere":            {pipe: pipe{batches: batches{rows: 4, bytes: 80, plain: true}}, copied: 50 * 320},
		"without pin":                 {pipe: pipe{noPin: true}, staged: 50},
		"elsewhere, without pin":      {pipe: pipe{noPin: true, batches: batches{rows: 4, bytes: 80, plain: true}}, staged: 50},
		"in one goroutine":            {pipe: pipe{opts: []graph.PipelineOption{graph.Sync()}}},
		"in one goroutine, elsewhere": {pipe: pipe{opts: []graph.PipelineOption{graph.Sync()}, batches: batches{rows: 4, bytes: 80, plain: true}}, copied: 50 * 320},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dev := emulated(t, 320, nil)
				c.pipe.dev, c.pipe.n, c.pipe.bytes, c.pipe.depth = dev, 50, 320, 2
				s := c.pipe.run(t, dev)
				require.Len(t, s.Devices, 1)
				d := s.Devices[0]
				assert.Equal(t, c.copied, d.CopiedBytes)
				assert.Equal(t, c.staged, d.StagedCopies)
				assert.Equal(t, int64(50), d.Copies)
				assert.Equal(t, int64(50*320), d.Bytes)
				assert.True(t, s.Emulated)
				assert.True(t, d.Unknown, "the consumer did not enter")
				assert.Nil(t, s.Sink.DeviceWaitRatio)
			})
		})
	}
}

// A batch of three tensors and a text, each in memory of its own, is pinned whole; the text stays where it is.
func TestABatchOfManyPiecesIsPinnedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := emulated(t, 320, nil)
		p := graph.New("pieces")
		made := graph.Via(graph.From(p, "load", graph.Source[int](numbers{9, 0})), "make", graph.Map(func(i int) (*item.Batch, error) {
			b := &item.Batch{Number: int64(i), Rows: []item.Row{{Key: fmt.Sprint(i)}}, Columns: []item.Column{{Name: "text", Kind: item.KindText, Texts: []string{"x"}}}}
			for k := range 3 {
				n := 100 + 8*k
				data := make([]byte, n)
				for j := range data {
					data[j] = byte(i + k)
				}
				b.Columns = append(b.Columns, item.Column{Name: fmt.Sprint("t", k), Kind: item.KindTensor, Shape: item.MakeShape(1, n), Data: data})
			}
			return b, nil
		}))
		copies := cuda.DeviceCopy{Device: "cuda:0", Backends: []cuda.Backend{opens{dev: dev}}}
		out := graph.Output(graph.Via(graph.Via(made, "pin", cuda.Pin{}), "copy", copies), "train")
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		s, err := dev.NewStream(false)
		require.NoError(t, err)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			require.NoError(t, b.Handle.Wait())
			require.Equal(t, []string{"x"}, b.Columns[0].Texts)
			for k := range 3 {
				c := b.Column(fmt.Sprint("t", k))
				assert.Zero(t, c.Offset%item.Align)
				buf := make([]byte, c.Shape.Elems())
				require.NoError(t, s.CopyOut(buf, cuda.Ptr(b.Handle.Address())+cuda.Ptr(c.Offset)))
				require.Equal(t, byte(int(b.Number)+k), buf[0])
				require.Equal(t, buf[0], buf[len(buf)-1])
			}
		}
		require.NoError(t, run.Wait())
		require.NoError(t, s.Close())
		d := run.Snapshot().Devices[0]
		assert.Equal(t, int64(9*(100+108+116)), d.CopiedBytes)
		assert.Zero(t, d.StagedCopies)
		nothingIsLeft(t, dev)
	})
}

func TestPageLockingGoesOnBesideTheFirstFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes = 1 << 20 // page-locked in 50 ms
		dev := emulated(t, bytes, func(e *cuda.Emulation) { e.LockRate = bytes / 0.050 })
		s := pipe{dev: dev, n: 4, batches: batches{rows: 1, bytes: bytes, fill: 40 * ms}, depth: 2}.steps(t, ms)
		assert.InDelta(t, float64(60*ms), float64(*s.Totals.FirstBatch), float64(12*ms), "not 40 ms of filling after 50 ms of locking")
	})
}

func TestTheRingIsShorterThanAskedForWhereTheLimitSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := emulated(t, 10_000, nil)
		s := pipe{dev: dev, n: 30, bytes: 10_000, load: ms, depth: 2, limit: 30_000}.steps(t, 5*ms)
		require.NotEmpty(t, s.Warnings)
		assert.Contains(t, s.Warnings[0], `stage "pin": page-locked memory is limited to 29.3 KiB, which leaves room for 3 batches of 9.8 KiB instead of`)
		assert.Contains(t, s.Warnings[0], "raise pin.limit")
		assert.Positive(t, s.Devices[0].PoolStall, "batches waited for the few there are")
	})
}

func TestThePinLimitIsTheLeastOfWhatThereIs(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		asked int64
		m     graph.Machine
		want  int64
		knob  string
	}{
		"of a large machine":           {0, graph.Machine{Memory: 512 * gib, MemoryFree: 400 * gib, MemoryLimit: -1}, 8 * gib, "raise pin.limit"},
		"a quarter of a container":     {0, graph.Machine{Memory: 512 * gib, MemoryFree: 400 * gib, MemoryLimit: 4 * gib}, gib, "raise pin.limit"},
		"a quarter of a small machine": {0, graph.Machine{Memory: 8 * gib, MemoryFree: 6 * gib, MemoryLimit: -1}, 2 * gib, "raise pin.limit"},
		"what is asked for":            {12 * gib, graph.Machine{Memory: 512 * gib, MemoryFree: 400 * gib, MemoryLimit: -1}, 12 * gib, "raise pin.limit"},
		"no more than is free":         {12 * gib, graph.Machine{Memory: 16 * gib, MemoryFree: 3 * gib, MemoryLimit: -1}, 3 * gib, "free memory"},
		"no more than the container":   {12 * gib, graph.Machine{Memory: 64 * gib, MemoryFree: 50 * gib, MemoryLimit: 4 * gib}, 4 * gib, "container's memory limit"},
		"of an unknown machine":        {0, graph.Machine{Memory: -1, MemoryFree: -1, MemoryLimit: -1}, 8 * gib, "raise pin.limit"},
	} {
		limit, knob := cuda.PinLimit(c.asked, c.m)
		assert.Equal(t, c.want, limit, name)
		assert.Contains(t, knob, c.knob, name)
	}
}

func TestPinNeedsADeviceBelow(t *testing.T) {
	p := graph.New("alone")
	port := graph.Via(graph.From(p, "load", graph.Source[int](numbers{3, 0})), "collate", graph.Stage[int, *item.Batch](batches{rows: 1, bytes: 8}))
	graph.Output(graph.Via(port, "pin", cuda.Pin{}), "train")
	err := p.Build()
	assert.ErrorContains(t, err, `"pin"`)
	assert.ErrorContains(t, err, "no device_copy stands below it")
}

func TestPinIsLetBeWhereAPipelineIsLookedAtInPart(t *testing.T) {
	p := graph.New("part", graph.Part())
	port := graph.Via(graph.From(p, "load", graph.Source[int](numbers{3, 0})), "collate", graph.Stage[int, *item.Batch](batches{rows: 1, bytes: 8}))
	out := graph.Output(graph.Via(port, "pin", cuda.Pin{}), "look")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for b, err := range out.All(run) {
		require.NoError(t, err)
		assert.Equal(t, item.Host, b.Place, "nothing is page-locked")
		n++
	}
	require.NoError(t, run.Wait())
	assert.Equal(t, 3, n)
	assert.Contains(t, fmt.Sprint(run.Snapshot().Warnings), "nothing is page-locked")
}

func TestDeviceCopyHasOneWorkerAndAKnownDevice(t *testing.T) {
	p := graph.New("wrong")
	port := graph.Via(graph.From(p, "load", graph.Source[int](numbers{3, 0})), "collate", graph.Stage[int, *item.Batch](batches{rows: 1, bytes: 8}))
	graph.Output(graph.Via(port, "copy", cuda.DeviceCopy{Device: "emu:pcie6", Depth: -1}, graph.Workers(2)), "train")
	err := p.Build()
	for _, w := range []string{"works on one item at a time", `no emulated device "emu:pcie6"`, "emu:pcie3x16, emu:pcie4x16, emu:pcie5x16, emu:c2c", "depth must be at least 1"} {
		assert.ErrorContains(t, err, w)
	}
}

func TestTheHostDoesNotWaitForACopyFromPinnedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := emulated(t, 10_000, nil)
		p, out := pipe{dev: dev, n: 1, bytes: 10_000, depth: 1}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			began := time.Now()
			assert.False(t, b.Handle.Ready(), "handed on while its copy is under way")
			require.NoError(t, b.Handle.Wait())
			assert.InDelta(t, float64(10*ms), float64(time.Since(began)), float64(ms))
			assert.True(t, b.Handle.Ready())
			assert.Equal(t, "cuda:0", b.Handle.Device())
			require.Error(t, b.Handle.Busy(ms), "it was not entered")
		}
		require.NoError(t, run.Wait())
	})
}

func TestPinThatIsOffHandsBatchesOnAsTheyAre(t *testing.T) {
	for _, off := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			dev := emulated(t, 512, nil)
			s := pipe{dev: dev, n: 50, bytes: 512, load: ms, depth: 2, off: off}.steps(t, 10*ms)
			d := s.Devices[0]
			assert.Equal(t, map[bool]int64{true: 50, false: 0}[off], d.StagedCopies)
			assert.Zero(t, d.CopiedBytes)
			assert.Equal(t, off, d.PinnedBytes == 0)
			nothingIsLeft(t, dev)
		})
	}
}

// What pin copies into is of the memory budget too.
func TestPageLockedCopiesCountForTheBudget(t *testing.T) {
	for limit, fits := range map[int64]bool{60_000: false, 10 << 20: true} {
		synctest.Test(t, func(t *testing.T) {
			dev := emulated(t, 10_000, nil)
			p, out := pipe{dev: dev, n: 30, load: ms, depth: 2, batches: batches{rows: 1, bytes: 10_000, plain: true},
				opts: []graph.PipelineOption{graph.WithBudget(graph.Budget{Memory: limit})}}.build()
			run, err := p.Start(context.Background())
			require.NoError(t, err)
			for range out.All(run) {
			}
			if err = run.Wait(); fits {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "the memory budget leaves no room for a page-locked copy of a batch of 10.0 KiB: raise budget.memory")
			}
			nothingIsLeft(t, dev)
		})
	}
}
