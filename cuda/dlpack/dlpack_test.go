//go:build linux && (amd64 || arm64) && !nocuda

package dlpack_test

import (
	"context"
	"encoding/binary"
	"os"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest/standin"
	"github.com/penstock-go/penstock/cuda/dlpack"
	"github.com/penstock-go/penstock/cuda/driver"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

var library string

func TestMain(m *testing.M) { os.Exit(standin.Main(m, &library)) }

// bytesAt reads memory as the other side does.
func bytesAt(at uintptr, n int) []byte { return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n) }

func u64(b []byte, at int) uintptr { return uintptr(binary.LittleEndian.Uint64(b[at:])) }
func u32(b []byte, at int) uint32  { return binary.LittleEndian.Uint32(b[at:]) }

func newBatch(released *int) *item.Batch {
	b := &item.Batch{Rows: make([]item.Row, 2), Slab: make([]byte, 1024), Columns: []item.Column{
		{Name: "label", Kind: item.KindTensor, DType: item.Int64, Shape: item.MakeShape(2)},
		{Name: "image", Kind: item.KindTensor, DType: item.Float32, Shape: item.MakeShape(2, 3, 4), Offset: 256},
		{Name: "name", Kind: item.KindText, Texts: []string{"a", "b"}}}}
	b.Columns[0].Data, b.Columns[1].Data = b.Slab[:16], b.Slab[256:256+96]
	b.OnRelease(func() { *released++ })
	return b
}

func TestATensorIsWrittenByteByByte(t *testing.T) {
	x, err := dlpack.New()
	require.NoError(t, err)
	for _, f := range []dlpack.Form{dlpack.Versioned, dlpack.Plain} {
		t.Run(f.Name(), func(t *testing.T) {
			released := 0
			b := newBatch(&released)
			at, err := x.Export(b, "image", f)
			require.NoError(t, err)
			whole, tensor, deleter := bytesAt(at, 80), 32, 16
			if f == dlpack.Plain {
				whole, tensor, deleter = bytesAt(at, 64), 0, 56
			} else {
				assert.Equal(t, []uint32{1, 0}, []uint32{u32(whole, 0), u32(whole, 4)}, "version")
				assert.Equal(t, uintptr(1), u64(whole, 24), "read only")
			}
			d := whole[tensor:]
			assert.Equal(t, uintptr(unsafe.Pointer(&b.Columns[1].Data[0])), u64(d, 0))
			assert.Equal(t, []uint32{1, 0, 3}, []uint32{u32(d, 8), u32(d, 12), u32(d, 16)}, "device type and number, rank")
			assert.Equal(t, []byte{2, 32, 1, 0}, d[20:24], "code, bits, lanes")
			for i, want := range []uintptr{2, 3, 4} {
				assert.Equal(t, want, u64(bytesAt(u64(d, 24), 24), 8*i), "shape")
				assert.Equal(t, []uintptr{12, 4, 1}[i], u64(bytesAt(u64(d, 32), 24), 8*i), "strides")
			}
			assert.Zero(t, u64(d, 40), "byte offset")

			b.Release() // the engine's
			assert.Zero(t, released)
			assert.Equal(t, 1, x.Held())
			_, _, _ = purego.SyscallN(u64(whole, deleter), at)
			assert.Equal(t, 1, released)
			assert.Zero(t, x.Held())
		})
	}
}

func TestColumnsOfABatchAreHandedOverOneByOne(t *testing.T) {
	x, err := dlpack.New()
	require.NoError(t, err)
	released := 0
	b := newBatch(&released)
	b.Place = item.Pinned
	image, err := x.Export(b, "image", dlpack.Plain)
	require.NoError(t, err)
	label, err := x.Export(b, "label", dlpack.Plain)
	require.NoError(t, err)
	assert.Equal(t, uint32(3), u32(bytesAt(label, 64), 8), "page-locked memory")
	assert.Equal(t, []byte{0, 64, 1, 0}, bytesAt(label, 64)[20:24], "int64")
	b.Release()
	for i, at := range []uintptr{image, label} {
		assert.Zero(t, released)
		assert.Equal(t, 2-i, x.Held())
		_, _, _ = purego.SyscallN(u64(bytesAt(at, 64), 56), at)
	}
	assert.Equal(t, 1, released)
	for _, name := range []string{"name", "none"} {
		_, err = x.Export(b, name, dlpack.Plain)
		require.ErrorContains(t, err, "wanted numbers")
	}
}

// count is a source of numbers.
type count int64

func (n count) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: int64(n), At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

// carry sends batches to a device.
func carry(t *testing.T, device string, f func(b *item.Batch)) {
	t.Helper()
	p := graph.New("hand over")
	batches := graph.Via(graph.From(p, "count", graph.Source[int](count(5))), "make", graph.Map(func(i int) (*item.Batch, error) {
		b := newBatch(new(int))
		b.Number = int64(i)
		for j := range b.Columns[0].Data {
			b.Columns[0].Data[j] = byte(i)
		}
		return b, nil
	}))
	out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Device: device, Backends: []cuda.Backend{driver.Backend{}}}), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		f(b)
	}
	require.NoError(t, run.Wait())
}

// The other side reads the device's memory by the pointer of the structure, on a stream of its own that waits for the copy.
func TestABatchOnADeviceIsReadByTheOtherSide(t *testing.T) {
	standin.New(t, library)
	d, err := cuda.Open("cuda:0", driver.Backend{})
	require.NoError(t, err)
	s, err := d.NewStream(false)
	require.NoError(t, err)
	x, err := dlpack.New()
	require.NoError(t, err)
	seen := 0
	carry(t, "cuda:0", func(b *item.Batch) {
		require.NoError(t, b.Handle.Enter(s.Handle()))
		at, err := x.Export(b, "label", dlpack.Versioned)
		require.NoError(t, err)
		w := bytesAt(at, 80)
		assert.Equal(t, []uint32{2, 0}, []uint32{u32(w, 40), u32(w, 44)}, "CUDA, device 0")
		got := make([]byte, 16)
		require.NoError(t, s.CopyOut(got, cuda.Ptr(u64(w, 32))))
		require.NoError(t, s.Sync())
		for _, v := range got {
			require.Equal(t, byte(b.Number), v)
		}
		_, _, _ = purego.SyscallN(u64(w, 16), at)
		seen++
	})
	assert.Equal(t, 5, seen)
	assert.Zero(t, x.Held())
	require.NoError(t, s.Close())
	require.NoError(t, d.Close())
}

func TestAnEmulatedDevicesBatchIsNotHandedOver(t *testing.T) {
	x, err := dlpack.New()
	require.NoError(t, err)
	carry(t, "emu:c2c", func(b *item.Batch) {
		_, err := x.Export(b, "label", dlpack.Versioned)
		require.ErrorContains(t, err, `the device "emu:c2c" is emulated`)
	})
}
