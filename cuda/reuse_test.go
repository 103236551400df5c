package cuda_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// arrived reads a batch back from the device and says whether it holds its own number only.
func arrived(t testing.TB, d cuda.Device, s cuda.Stream, b *item.Batch, buf []byte) bool {
	t.Helper()
	require.NoError(t, b.Handle.Wait())
	require.NoError(t, s.CopyOut(buf, cuda.Ptr(b.Handle.Address())))
	require.NoError(t, s.Sync())
	for i := 0; i+8 <= len(buf); i += 8 {
		if binary.NativeEndian.Uint64(buf[i:]) != uint64(b.Number) {
			return false
		}
	}
	return true
}

// late draws delays from a generator of its own.
func late(seed uint64) func() time.Duration {
	r := rand.New(rand.NewPCG(seed, 1))
	return func() time.Duration { return time.Duration(r.Int64N(int64(20 * ms))) }
}

func TestTenThousandBatchesNeverMeetAnother(t *testing.T) {
	n := int64(10_000)
	if testing.Short() {
		n = 1000
	}
	for seed, depth := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			const bytes = 512
			dev := emulated(t, bytes, func(e *cuda.Emulation) { e.Late, e.Watch = late(uint64(seed)), true })
			p, out := pipe{dev: dev, n: n, bytes: bytes, load: 5 * ms, depth: depth}.build()
			run, err := p.Start(context.Background())
			require.NoError(t, err)
			s, err := dev.NewStream(false)
			require.NoError(t, err)
			r, buf := rand.New(rand.NewPCG(uint64(depth), 2)), make([]byte, bytes)
			seen := int64(0)
			for b, err := range out.All(run) {
				require.NoError(t, err)
				require.Equal(t, seen, b.Number)
				seen++
				switch r.IntN(4) {
				case 0: // the host looks at it
					require.True(t, arrived(t, dev, s, b, buf), "batch %d", b.Number)
				case 1: // the device works on it for long after the host has gone on
					require.NoError(t, b.Handle.Enter(0))
					require.NoError(t, b.Handle.Busy(time.Duration(r.Int64N(int64(30*ms)))))
				case 2: // another runtime's stream does
					require.NoError(t, b.Handle.Enter(uintptr(7+r.IntN(2))))
				case 3: // nobody looks
				}
			}
			require.NoError(t, run.Wait())
			require.Equal(t, n, seen)
			assert.Zero(t, dev.Stats().Races, "a buffer was filled again before its copy had ended")
			require.NoError(t, s.Close())
			nothingIsLeft(t, dev)
		})
	}
}

// nothingIsLeft demands that everything on a device was given back.
func nothingIsLeft(t testing.TB, dev *cuda.Emulated) {
	t.Helper()
	s := dev.Stats()
	assert.Zero(t, s.Used, "device memory")
	assert.Zero(t, s.Locked, "page-locked memory")
	assert.Zero(t, s.Events, "events")
	assert.Zero(t, s.Streams, "streams")
}

// hasty is a stage with a bug: it lets go of a batch while its copy may still be under way.
type hasty struct{ cuda.DeviceCopy }

func (h hasty) Open(ctx context.Context, env *graph.Env) (graph.Transform[*item.Batch, *item.Batch], error) {
	tr, err := h.DeviceCopy.Open(ctx, env)
	if err != nil {
		return tr, err
	}
	copies := tr.Map
	tr.Map = func(c *graph.Call, in *item.Batch) (*item.Batch, error) {
		early := &item.Batch{Columns: in.Columns, Rows: in.Rows, Slab: in.Slab, Place: in.Place, Number: in.Number}
		out, err := copies(c, early)
		if err == nil {
			in.Release()
		}
		return out, err
	}
	return tr, nil
}

// The check that the other tests rest on must be able to fail.
func TestABufferThatIsUsedAgainTooEarlyIsSeen(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector finds the planted bug itself, and fails the test for it")
	}
	synctest.Test(t, func(t *testing.T) {
		const bytes = 512
		dev := emulated(t, bytes, func(e *cuda.Emulation) { e.Watch = true })
		p := graph.New("bug")
		port := graph.Via(graph.From(p, "load", graph.Source[int](numbers{200, ms}), graph.Workers(1)), "collate",
			graph.Stage[int, *item.Batch](batches{rows: 1, bytes: bytes}), graph.Workers(1))
		copies := cuda.DeviceCopy{Device: "cuda:0", Depth: 2, Backends: []cuda.Backend{opens{dev: dev}}}
		out := graph.Output(graph.Via(graph.Via(port, "pin", pinFor{copies}), "copy", graph.Stage[*item.Batch, *item.Batch](hasty{copies})), "train")
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		s, err := dev.NewStream(false)
		require.NoError(t, err)
		wrong, buf := 0, make([]byte, bytes)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			if !arrived(t, dev, s, b, buf) {
				wrong++
			}
		}
		require.NoError(t, run.Wait())
		assert.Positive(t, dev.Stats().Races)
		assert.Positive(t, wrong)
	})
}

// pinFor is pin before a stage that is no device_copy by type.
type pinFor struct{ c cuda.DeviceCopy }

func (p pinFor) Traits() graph.Traits { return cuda.Pin{}.Traits() }

func (p pinFor) Open(ctx context.Context, env *graph.Env) (graph.Transform[*item.Batch, *item.Batch], error) {
	return cuda.OpenPin(ctx, env, cuda.Pin{}, p.c)
}

func TestALostDeviceEndsTheRunWithOneClearErrorAndNoLeak(t *testing.T) {
	for _, op := range []string{"copy", "spin"} {
		for _, at := range []int64{1, 2, 7, 29, 30} {
			synctest.Test(t, func(t *testing.T) {
				const bytes = 10_000
				dev := emulated(t, bytes, func(e *cuda.Emulation) {
					e.Fault = func(o string, n int64) int {
						if o == op && n == at {
							return 719
						}
						return 0
					}
				})
				p, out := pipe{dev: dev, n: 30, bytes: bytes, load: ms, depth: 2}.build()
				run, err := p.Start(context.Background())
				require.NoError(t, err)
				var last item.DeviceMark
				for b, err := range out.All(run) {
					if err != nil || b.Handle.Enter(0) != nil || b.Handle.Busy(5*ms) != nil {
						break
					}
					m, err := b.Handle.Leave()
					if err != nil || last != nil && last.Wait() != nil {
						break
					}
					last = m
				}
				err = run.Wait()
				require.Error(t, err, "%s %d", op, at)
				var e *cuda.Error
				require.ErrorAs(t, err, &e)
				assert.True(t, e.Sticky())
				assert.Equal(t, 719, e.Code)
				var s *graph.StageError
				require.ErrorAs(t, err, &s)
				assert.Equal(t, "copy", s.Stage)
				assert.Contains(t, err.Error(), "context is lost")
				assert.Zero(t, dev.Stats().Locked)
				assert.Zero(t, dev.Stats().Events)
				assert.Zero(t, dev.Stats().Streams)
			})
		}
	}
}

func TestWhatCannotBeHadIsAnErrorThatSaysWhatAndHow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cuda.Emulation)
		limit  int64
		want   []string
	}{
		"memory of the device": {change: func(e *cuda.Emulation) { e.Memory = 15_000 },
			want: []string{`stage "copy"`, "2 batches of 9.8 KiB on the device", "OUT_OF_MEMORY", "lower depth"}},
		"page-locking": {change: func(e *cuda.Emulation) {
			e.Fault = func(op string, n int64) int { return map[string]int{"lock": 2}[op] }
		},
			want: []string{`stage "pin"`, "a batch's memory of 9.8 KiB", "page-lock host memory: CUDA_ERROR_OUT_OF_MEMORY (2)"}},
		"the limit": {limit: 15_000, want: []string{`stage "collate"`, "2 page-locked batches of 9.8 KiB need 19.5 KiB", "the limit is 14.6 KiB", "raise pin.limit"}},
		"an event": {change: func(e *cuda.Emulation) {
			e.Fault = func(op string, n int64) int { return map[string]int{"event": 801}[op] }
		}, want: []string{`stage "copy"`, "NOT_SUPPORTED"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dev := emulated(t, 10_000, c.change)
				p, out := pipe{dev: dev, n: 30, bytes: 10_000, load: ms, depth: 2, limit: c.limit}.build()
				run, err := p.Start(context.Background())
				require.NoError(t, err)
				for b, err := range out.All(run) {
					if err == nil {
						require.NoError(t, b.Handle.Wait())
					}
				}
				err = run.Wait()
				for _, w := range c.want {
					assert.ErrorContains(t, err, w)
				}
				nothingIsLeft(t, dev)
			})
		})
	}
}

func TestABatchMayBeKeptBeyondItsTurnAndTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes = 512
		dev := emulated(t, bytes, nil)
		p, out := pipe{dev: dev, n: 20, bytes: bytes, load: ms, depth: 2}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		s, err := dev.NewStream(false)
		require.NoError(t, err)
		var kept []*item.Batch
		for b, err := range out.All(run) {
			require.NoError(t, err)
			if b.Number%3 == 0 {
				b.Keep()
				kept = append(kept, b)
			}
		}
		require.NoError(t, run.Wait())
		require.Len(t, kept, 7)
		for i, b := range kept {
			assert.Equal(t, int64(3*i), b.Number)
			assert.True(t, arrived(t, dev, s, b, make([]byte, bytes)))
		}
		require.NoError(t, s.Close())
		for _, b := range kept {
			b.Release()
		}
		nothingIsLeft(t, dev)
	})
}

func TestAConsumerThatBreaksOffLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		dev := emulated(t, 10_000, nil)
		p, out := pipe{dev: dev, n: 1000, bytes: 10_000, load: ms, depth: 2}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			require.NoError(t, b.Handle.Enter(0))
			if b.Number == 5 {
				break
			}
		}
		require.NoError(t, run.Wait())
		nothingIsLeft(t, dev)
		synctest.Wait()
		assert.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		why := errors.New("enough")
		dev := emulated(t, 10_000, nil)
		p, out := pipe{dev: dev, n: 1000, bytes: 10_000, load: ms, depth: 2}.build()
		run, err := p.Start(ctx)
		require.NoError(t, err)
		for b, err := range out.All(run) {
			if err == nil && b.Number == 5 {
				cancel(why)
			}
		}
		require.ErrorIs(t, run.Wait(), why)
		nothingIsLeft(t, dev)
	})
}

// What batches kept for a while took of the device serves again for the next ones that are kept.
func TestKeepingBatchesNowAndThenTakesNoMoreAndMoreOfTheDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes, depth = 512, 2
		dev := emulated(t, bytes, nil)
		p, out := pipe{dev: dev, n: 198, bytes: bytes, load: ms, depth: depth}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		var kept *item.Batch
		most := int64(0)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			switch b.Number % 6 {
			case 0:
				b.Keep()
				kept = b
			case 2:
				kept.Release()
			}
			time.Sleep(20 * ms) // others are ready meanwhile
			most = max(most, dev.Stats().Used)
		}
		require.NoError(t, run.Wait())
		assert.LessOrEqual(t, most, int64((depth+1)*bytes))
		nothingIsLeft(t, dev)
	})
}

// The device's stream for its consumer ends with the run; its number is not used again.
func TestABatchMayBeLeftButNotEnteredBeyondTheRun(t *testing.T) {
	for _, stream := range []uintptr{0, 7} {
		synctest.Test(t, func(t *testing.T) {
			const bytes = 512
			dev := emulated(t, bytes, nil)
			p, out := pipe{dev: dev, n: 4, bytes: bytes, depth: 2}.build()
			run, err := p.Start(context.Background())
			require.NoError(t, err)
			var kept []*item.Batch
			for b, err := range out.All(run) {
				require.NoError(t, err)
				if b.Keep(); b.Number > 0 {
					require.NoError(t, b.Handle.Enter(stream))
				}
				kept = append(kept, b)
			}
			require.NoError(t, run.Wait())
			require.ErrorContains(t, kept[0].Handle.Enter(stream), "the run has ended")
			require.ErrorContains(t, kept[0].Handle.Enter(9), "the run has ended")
			require.NoError(t, kept[0].Handle.Wait())
			m, err := kept[1].Handle.Leave()
			require.NoError(t, err)
			require.NoError(t, m.Wait())
			for _, b := range kept {
				b.Release()
			}
			nothingIsLeft(t, dev)
		})
	}
}

func TestABatchIsLeftOnItsStreamWhileAnotherIsEnteredOnAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes = 512
		dev := emulated(t, bytes, nil)
		p, out := pipe{dev: dev, n: 20, bytes: bytes, depth: 2}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		var before *item.Batch
		for b, err := range out.All(run) {
			require.NoError(t, err)
			b.Keep()
			require.NoError(t, b.Handle.Enter(uintptr(7+b.Number%2)))
			require.NoError(t, b.Handle.Busy(5*ms))
			if before != nil {
				m, err := before.Handle.Leave()
				require.NoError(t, err)
				require.NoError(t, m.Wait())
				before.Release()
			}
			before = b
		}
		require.NoError(t, run.Wait())
		before.Release()
		nothingIsLeft(t, dev)
	})
}

// slowStreams is a device that takes its time to make a stream, so that others come meanwhile.
type slowStreams struct{ *cuda.Emulated }

func (d slowStreams) NewStream(urgent bool) (cuda.Stream, error) {
	for range 100 {
		runtime.Gosched()
	}
	return d.Emulated.NewStream(urgent)
}

// Several goroutines of a consumer may each have a batch, and enter a stream for the first time at once.
func TestBatchesAreEnteredAtOnce(t *testing.T) {
	for i := range 60 {
		const bytes, n = 512, 8
		dev := emulated(t, bytes, func(e *cuda.Emulation) { e.Rate, e.LockRate = 1e12, 1e12 })
		p, out := pipe{dev: slowStreams{dev}, n: n, bytes: bytes, depth: 2}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		var all sync.WaitGroup
		var kept []*item.Batch
		for b, err := range out.All(run) {
			require.NoError(t, err)
			b.Keep()
			if kept = append(kept, b); len(kept) < n {
				continue
			}
			for _, b := range kept {
				stream := uintptr(b.Number) % 4 * uintptr(i%2) // all the device's own, or several
				all.Go(func() {
					assert.NoError(t, b.Handle.Enter(stream))
					b.Release()
				})
			}
			all.Wait()
		}
		require.NoError(t, run.Wait())
		if i%2 == 0 {
			require.EqualValues(t, n, run.Snapshot().Devices[0].Steps, "none is lost")
		}
		nothingIsLeft(t, dev)
	}
}
