// Command kernel hands batches to a kernel of its own, on a stream of its own: it adds up the bytes of each batch on the
// device, and compares the sums with the host's.
//
//	go run ./examples/kernel
//
// It needs a device of NVIDIA's and its driver, no toolkit. Where there is none it says what was tried, and ends. A
// library that takes a stream and an address, such as cuBLAS, is fed the same way: Enter, its call, Leave.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/driver"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

const (
	pictures = 512
	size     = 32 // of a batch
	batches  = pictures / size
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		os.Exit(1)
	}
}

// onHost declares what happens on the host. The stage "sum" is where it sees a batch for the last time.
func onHost(p *graph.Pipeline, h *hostSums) graph.Port[*item.Batch] {
	files := graph.From(p, "read", sources.SyntheticImages{Count: pictures, Width: 64, Height: 48})
	pics := graph.Via(files, "decode", stages.DecodeImage{})
	small := graph.Via(pics, "resize", stages.Resize{Size: []int{32, 32}})
	batch := graph.Via(small, "collate", stages.Collate{Size: size})
	return graph.Via(batch, "sum", graph.Map(h.add))
}

// declare declares a pipeline that ends on the device.
func declare(h *hostSums) (*graph.Pipeline, *graph.Out[*item.Batch]) {
	p := graph.New("kernel", graph.Seed(1))
	pinned := graph.Via(onHost(p, h), "pin", cuda.Pin{})
	onDev := graph.Via(pinned, "copy", cuda.DeviceCopy{Device: cuda.Auto, Backends: []cuda.Backend{driver.Backend{}}})
	return p, graph.Output(onDev, "use")
}

// hostSums are the sums that the host has made, by the number of the batch.
type hostSums struct {
	mu sync.Mutex
	of [batches]uint64
}

// add is called by all workers of its stage at once.
func (h *hostSums) add(b *item.Batch) (*item.Batch, error) {
	sum := uint64(0)
	for _, x := range b.Column("image").Data {
		sum += uint64(x)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of[b.Number] = sum
	return b, nil
}

func run(ctx context.Context, w io.Writer) (err error) {
	d, err := cuda.Open(cuda.Auto, driver.Backend{})
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		fmt.Fprintf(w, `No kernel was launched, for there is no device here that can be used.
Tried: %v
That does not help here, for an emulated device runs no kernels. To mend it: install NVIDIA's driver, or name its library,
libcuda.so.1, by %s. A container has to be started with its devices and
NVIDIA_DRIVER_CAPABILITIES=compute,utility. "penstock doctor --device" looks at all that.
`, err, driver.LibraryVariable)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	stream, err := d.NewStream(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	results, err := d.Alloc(8 * batches)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Free(results)) }()
	k, err := load()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()

	var host hostSums
	sums := make([]byte, 8*batches)
	if err := stream.CopyIn(results, sums); err != nil { // the kernel adds to what is there
		return err
	}
	// What was launched reads the results' memory: it is waited for also after an error.
	if err := errors.Join(consume(ctx, &host, k, stream.Handle(), uintptr(results)), stream.Sync()); err != nil {
		return err
	}
	if err := errors.Join(stream.CopyOut(sums, results), stream.Sync()); err != nil {
		return err
	}
	if err := compare(sums, host.of[:]); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: the sums of %d batches of %d pictures are the host's\n", d.Info().Name, batches, size)
	return nil
}

// consume launches the kernel on each batch. The host waits neither for a copy nor for a kernel, but for the kernel
// before the last: it is at most one batch ahead of the device.
func consume(ctx context.Context, h *hostSums, k *kernel, stream, results uintptr) error {
	p, out := declare(h)
	run, err := p.Start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(loop(out, run, k, stream, results), run.Wait())
}

func loop(out *graph.Out[*item.Batch], run *graph.Run, k *kernel, stream, results uintptr) error {
	var last item.DeviceMark
	for b, err := range out.All(run) {
		if err != nil {
			return nil // it has ended the run, and Wait gives it again
		}
		image := b.Column("image")
		at, n := b.Handle.Address()+uintptr(image.Offset), image.Shape.Elems()*image.DType.Size()
		if err := b.Handle.Enter(stream); err != nil { // from here on the stream waits for the copy
			return err
		}
		if err := k.launch(stream, at, n, results+8*uintptr(b.Number)); err != nil {
			return err
		}
		mark, err := b.Handle.Leave() // what is on the stream so far is the last use of the batch
		if err != nil {
			return err
		}
		if last != nil {
			if err := last.Wait(); err != nil {
				return err
			}
		}
		last = mark
	}
	return nil
}

// compare looks at the sums that came from the device, eight bytes each.
func compare(device []byte, host []uint64) error {
	for i, want := range host {
		if got := binary.LittleEndian.Uint64(device[8*i:]); got != want {
			return fmt.Errorf("batch %d: the device's sum is %d, the host's %d", i, got, want)
		}
	}
	return nil
}
