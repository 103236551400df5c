package devicetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// backend gives a device that is open to a pipeline, which closes it.
type backend struct{ d cuda.Device }

func (backend) Name() string                    { return "test" }
func (b backend) Open(int) (cuda.Device, error) { return b.d, nil }

const words = 512 // of a batch

// count is a source of numbers.
type count int64

func (n count) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: int64(n), At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

// filled makes batches that are full of their number.
type filled struct{}

func (filled) Open(_ context.Context, env *graph.Env) (graph.Transform[int, *item.Batch], error) {
	return graph.Transform[int, *item.Batch]{Group: &graph.Group[int, *item.Batch]{
		Size: 1,
		Slab: func() (b *item.Batch, err error) {
			b = &item.Batch{Columns: []item.Column{{Name: "x", Kind: item.KindTensor, DType: item.Int64}}}
			b.Slab, err = env.Slab(words * 8)
			return b, err
		},
		Row: func(_ *graph.Call, b *item.Batch, _, in int) error {
			for i := range words {
				binary.NativeEndian.PutUint64(b.Slab[8*i:], uint64(in))
			}
			return nil
		},
		Done: func(b *item.Batch, n int, number int64, meta []item.Row, free func()) *item.Batch {
			b.Number, b.Rows = number, meta
			b.Columns[0].Data, b.Columns[0].Shape = b.Slab, item.MakeShape(n, words)
			b.OnRelease(free)
			return b
		},
	}}, nil
}

// pipelines sends batches through pin and device_copy, with work of random length on the device, and looks at each.
func (c Case) pipelines(t *testing.T) {
	n := c.Batches
	if n == 0 {
		n = 200
	}
	for _, depth := range []int{1, 2} {
		for _, pin := range []bool{true, false} {
			t.Run(fmt.Sprintf("depth %d, pinned %v", depth, pin), func(t *testing.T) {
				d := c.Open(t)
				p := graph.New("suite")
				port := graph.Via(graph.From(p, "count", graph.Source[int](count(n))), "fill", graph.Stage[int, *item.Batch](filled{}))
				if pin {
					port = graph.Via(port, "pin", cuda.Pin{})
				}
				out := graph.Output(graph.Via(port, "copy", cuda.DeviceCopy{Device: "cuda:0", Depth: depth, Backends: []cuda.Backend{backend{d}}}), "look")
				s, err := d.NewStream(false)
				require.NoError(t, err)
				run, err := p.Start(t.Context())
				require.NoError(t, err)
				seen := look(t, out, run, s)
				require.NoError(t, run.Wait())
				require.Equal(t, n, seen)
				x := run.Snapshot().Devices[0]
				assert.Equal(t, int64(n), x.Copies)
				assert.Zero(t, x.CopiedBytes)
				assert.Equal(t, map[bool]int64{true: 0, false: int64(n)}[pin], x.StagedCopies)
				assert.Equal(t, int64(n), x.Steps+int64(n)/2, "every second batch was worked on")
				assert.Positive(t, x.CopyTime)
				c.left(t, false)
			})
		}
	}
}

// full says that all numbers of a batch are want.
func full(b []byte, want uint64) bool {
	for i := 0; i+8 <= len(b); i += 8 {
		if binary.NativeEndian.Uint64(b[i:]) != want {
			return false
		}
	}
	return true
}

// look reads each batch back: by the host after its copy, or by a stream after the device's work on it. It closes s.
func look(t *testing.T, out *graph.Out[*item.Batch], run *graph.Run, s cuda.Stream) (seen int) {
	t.Helper()
	r, buf := rand.New(rand.NewPCG(3, 4)), make([]byte, words*8)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		require.Equal(t, int64(seen), b.Number)
		require.NoError(t, b.Handle.Wait())
		require.NoError(t, s.CopyOut(buf, cuda.Ptr(b.Handle.Address())))
		require.NoError(t, s.Sync())
		require.True(t, full(buf, uint64(seen)), "batch %d is not what was sent", seen)
		if seen%2 == 1 {
			require.NoError(t, b.Handle.Enter(0))
			require.NoError(t, b.Handle.Busy(time.Duration(r.Int64N(int64(200*time.Microsecond)))))
			_, err := b.Handle.Leave()
			require.NoError(t, err)
		}
		seen++
	}
	require.NoError(t, s.Close())
	return seen
}
