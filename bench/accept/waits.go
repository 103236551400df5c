package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// waits is what a whole pipeline says: batches that are ready at once, pin (or not), device_copy, and work on the device.
// Ratio is work per copy; the waits are shares of the steady time.
type waits struct {
	Bytes      int      `json:"bytes"`
	Pinned     bool     `json:"pinned"`
	Product    int      `json:"product_side"` // 0: modelled work
	Copy       float64  `json:"copy_seconds"`
	Work       float64  `json:"work_seconds"`
	HostWait   *float64 `json:"wait_ratio"`
	DeviceWait *float64 `json:"device_wait_ratio"`
	BytesRate  float64  `json:"bytes_per_second"`
}

// load puts one batch's work on a stream.
type load func(h item.DeviceHandle, stream uintptr) error

var errOther = errors.New("no product on devices other than 0")

// pipelines measures waits with the work of a matrix product where there is cuBLAS, else, and with a side of 0, with
// modelled work of spin.
func pipelines(d cuda.Device, n, steps, side int, spin time.Duration) (all []waits, note string, err error) {
	matrices := bench{d: d} // given back after the stream that works on them
	defer func() { err = errors.Join(err, matrices.close()) }()
	var p *product
	lacks := errOther
	if side > 0 {
		p, lacks = newProduct(&matrices, side)
	}
	b := bench{d: d}
	defer func() { err = errors.Join(err, b.close()) }()
	s := b.stream()
	if b.err != nil {
		return nil, "", b.err
	}
	work := func(_ item.DeviceHandle, stream uintptr) error { return p.put(stream) }
	if lacks != nil {
		note, side = fmt.Sprintf("modelled work, for there is %v", lacks), 0
		work = func(h item.DeviceHandle, _ uintptr) error { return h.Busy(spin) }
	}
	for _, pinned := range []bool{true, false} {
		w, err := pipeline(d, s.Handle(), n, steps, pinned, work)
		if err != nil {
			return all, note, err
		}
		w.Product = side
		all = append(all, w)
	}
	return all, note, nil
}

// shared hands out a device that is open; its owner closes it.
type shared struct{ cuda.Device }

func (shared) Name() string                    { return "shared" }
func (s shared) Open(int) (cuda.Device, error) { return s, nil }
func (shared) Close() error                    { return nil }

// numbers is a source of numbers.
type numbers int64

func (n numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: int64(n), At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

// ready makes batches that are full of nothing: loading costs nothing.
type ready struct{ bytes int }

func (r ready) Open(_ context.Context, env *graph.Env) (graph.Transform[int, *item.Batch], error) {
	return graph.Transform[int, *item.Batch]{Group: &graph.Group[int, *item.Batch]{
		Size: 1,
		Slab: func() (b *item.Batch, err error) {
			b = &item.Batch{Columns: []item.Column{{Name: "x", Kind: item.KindTensor, DType: item.Uint8}}}
			b.Slab, err = env.Slab(r.bytes)
			return b, err
		},
		Row: func(*graph.Call, *item.Batch, int, int) error { return nil },
		Done: func(b *item.Batch, n int, number int64, meta []item.Row, free func()) *item.Batch {
			b.Number, b.Rows = number, meta
			b.Columns[0].Data, b.Columns[0].Shape = b.Slab, item.MakeShape(n, r.bytes)
			b.OnRelease(free)
			return b
		},
	}}, nil
}

func pipeline(d cuda.Device, stream uintptr, n, steps int, pinned bool, work load) (w waits, err error) {
	p := graph.New("accept")
	port := graph.Via(graph.From(p, "count", graph.Source[int](numbers(steps))), "ready", graph.Stage[int, *item.Batch](ready{n}))
	port = graph.Via(port, "pin", cuda.Pin{Off: !pinned})
	out := graph.Output(graph.Via(port, "copy", cuda.DeviceCopy{Device: "cuda:0", Backends: []cuda.Backend{shared{d}}}), "work")
	run, err := p.Start(context.Background())
	if err != nil {
		return w, err
	}
	err = consume(out, run, stream, work)
	if err = errors.Join(err, run.Wait()); err != nil {
		return w, err
	}
	s := run.Snapshot()
	x := s.Devices[0]
	w = waits{Bytes: n, Pinned: pinned, HostWait: s.Sink.WaitRatio, DeviceWait: s.Sink.DeviceWaitRatio,
		Copy: x.CopyTime.Seconds() / float64(max(1, x.Copies)), Work: x.Busy.Seconds() / float64(max(1, x.Steps-1)),
		BytesRate: float64(x.Bytes) / s.Totals.Elapsed.Seconds()}
	return w, nil
}

// consume is a training loop that is at most one step ahead of the device.
func consume(out *graph.Out[*item.Batch], run *graph.Run, stream uintptr, work load) error {
	var last item.DeviceMark
	for b, err := range out.All(run) {
		if err != nil {
			return err
		}
		if err := errors.Join(b.Handle.Enter(stream), work(b.Handle, stream)); err != nil {
			return err
		}
		m, err := b.Handle.Leave()
		if err != nil {
			return err
		}
		if last != nil {
			if err := last.Wait(); err != nil {
				return err
			}
		}
		last = m
	}
	return nil
}
