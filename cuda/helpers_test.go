package cuda_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

const ms = time.Millisecond

// opens is a back end with one device.
type opens struct {
	dev cuda.Device
	err error
}

func (opens) Name() string { return "test" }

func (o opens) Open(int) (cuda.Device, error) {
	if o.err != nil {
		return nil, o.err
	}
	return o.dev, nil
}

// emulated makes a device whose copies of n bytes take 10 ms.
func emulated(t testing.TB, n int, change func(*cuda.Emulation)) *cuda.Emulated {
	t.Helper()
	e := cuda.Emulation{Rate: float64(n) / 0.010, Latency: 1, Launch: 1}
	if change != nil {
		change(&e)
	}
	d, err := cuda.NewEmulated(e)
	require.NoError(t, err)
	return d
}

// numbers is a source of the numbers from 0, each after a time.
type numbers struct {
	n    int64
	load time.Duration
}

func (s numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: s.n, At: func(_ *graph.Call, i int64) (int, error) {
		if s.load > 0 {
			time.Sleep(s.load)
		}
		return int(i), nil
	}}, nil
}

// batches makes a batch of each rows numbers: one column that is full of the first of them, and one of texts.
type batches struct {
	rows, bytes int // bytes of a row
	fill        time.Duration
	plain       bool // takes memory of its own
}

func (b batches) Open(_ context.Context, env *graph.Env) (graph.Transform[int, *item.Batch], error) {
	return graph.Transform[int, *item.Batch]{Group: &graph.Group[int, *item.Batch]{
		Size: b.rows,
		Slab: func() (*item.Batch, error) {
			n := b.rows * b.bytes
			out := &item.Batch{Columns: []item.Column{
				{Name: "x", Kind: item.KindTensor, DType: item.Int64}, {Name: "name", Kind: item.KindText, Texts: make([]string, b.rows)}}}
			var err error
			if out.Slab = make([]byte, n); !b.plain {
				out.Slab, err = env.Slab(n)
			}
			return out, err
		},
		Row: func(_ *graph.Call, out *item.Batch, row int, in int) error {
			if b.fill > 0 {
				time.Sleep(b.fill)
			}
			to := out.Slab[row*b.bytes : (row+1)*b.bytes]
			for i := 0; i+8 <= len(to); i += 8 {
				binary.NativeEndian.PutUint64(to[i:], uint64(in/b.rows))
			}
			out.Columns[1].Texts[:b.rows][row] = fmt.Sprint("n", in)
			return nil
		},
		Fill: func(*item.Batch, int, int) {},
		Done: func(out *item.Batch, n int, number int64, meta []item.Row, free func()) *item.Batch {
			out.Number, out.Rows, out.Epoch = number, meta, meta[0].Pos.Epoch
			out.Columns[0].Data = out.Slab[: n*b.bytes : b.rows*b.bytes]
			out.Columns[0].Shape = item.MakeShape(n, b.bytes/8)
			out.Columns[1].Texts = out.Columns[1].Texts[:n]
			out.OnRelease(free)
			return out
		},
	}}, nil
}

// pipe is a pipeline that ends on a device.
type pipe struct {
	dev     cuda.Device
	name    string // of an emulated device, instead of dev
	n       int64  // batches
	bytes   int    // of one
	load    time.Duration
	depth   int
	noPin   bool
	off     bool // pin is
	limit   int64
	batches batches
	opts    []graph.PipelineOption
}

func (c pipe) build() (*graph.Pipeline, *graph.Out[*item.Batch]) {
	p := graph.New("pipe", c.opts...)
	b := c.batches
	if b.rows == 0 {
		b.rows, b.bytes = 1, c.bytes
	}
	port := graph.Via(graph.From(p, "load", graph.Source[int](numbers{c.n * int64(b.rows), c.load}), graph.Workers(1)),
		"collate", graph.Stage[int, *item.Batch](b), graph.Workers(1))
	if !c.noPin {
		port = graph.Via(port, "pin", cuda.Pin{Limit: c.limit, Off: c.off})
	}
	copies := cuda.DeviceCopy{Device: "cuda:0", Depth: c.depth, Backends: []cuda.Backend{opens{dev: c.dev}}}
	if c.name != "" {
		copies = cuda.DeviceCopy{Device: c.name, Depth: c.depth}
	}
	return p, graph.Output(graph.Via(port, "copy", copies), "train")
}

// steps runs the pipeline, with a step on the device for each batch: the host is one step ahead.
func (c pipe) steps(t testing.TB, compute time.Duration) graph.Snapshot {
	t.Helper()
	p, out := c.build()
	run, err := p.Start(context.Background())
	require.NoError(t, err)
	var last item.DeviceMark
	for b, err := range out.All(run) {
		require.NoError(t, err)
		require.NoError(t, b.Handle.Enter(0))
		require.NoError(t, b.Handle.Busy(compute))
		m, err := b.Handle.Leave()
		require.NoError(t, err)
		if last != nil {
			require.NoError(t, last.Wait())
		}
		last = m
	}
	require.NoError(t, last.Wait())
	require.NoError(t, run.Wait())
	return run.Snapshot()
}
