package dlpack

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/graph/item"
)

// Form is one of the two structures that are in use.
type Form int

// The forms. Other runtimes ask for the versioned one where they know it.
const (
	Versioned Form = iota // DLManagedTensorVersioned, version 1.0
	Plain                 // DLManagedTensor
)

// Name is the name of a capsule with this form.
func (f Form) Name() string {
	if f == Plain {
		return "dltensor"
	}
	return "dltensor_versioned"
}

// Kinds of devices.
const (
	onHost   = 1 // kDLCPU
	onDevice = 2 // kDLCUDA
	pinned   = 3 // kDLCUDAHost
)

// Exporter hands batches over. Its methods may be called by several goroutines at a time.
type Exporter struct {
	deleter uintptr // of C

	mu   sync.Mutex
	held map[uintptr]*export // by manager_ctx
	last uintptr
}

// export is one tensor that the other side holds.
type export struct {
	batch *item.Batch
	words [10]uint64 // the structure
	shape [2 * item.MaxRank]int64
}

// New makes an exporter. It takes one of the process's 2,000 entry points for calls from C, and keeps it; beyond the last, purego
// panics. A process wants one.
func New() (*Exporter, error) {
	x := &Exporter{held: map[uintptr]*export{}}
	var err error
	x.deleter, err = callback(x.delete)
	return x, err
}

// Export hands a column of numbers over and gives the address of its structure. The batch is kept until the deleter has
// been called.
func (x *Exporter) Export(b *item.Batch, column string, f Form) (uintptr, error) {
	c := b.Column(column)
	if c == nil || c.Kind == item.KindText || c.Kind == item.KindBytes {
		return 0, fmt.Errorf("column %q of the batch: wanted numbers, got %s", column, what(c))
	}
	data, kind, id, err := place(b, c)
	if err != nil {
		return 0, fmt.Errorf("column %q of the batch: %w", column, err)
	}
	e := &export{batch: b}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last++
	t := e.manage(f, x.last, x.deleter)
	t[0] = uint64(data)
	t[1] = uint64(uint32(kind)) | uint64(uint32(id))<<32
	t[2] = uint64(uint32(c.Shape.Rank())) | uint64(code(c.DType))<<32 | uint64(8*c.DType.Size())<<40 | 1<<48
	t[3], t[4] = e.dims(c.Shape)
	b.Keep()
	x.held[x.last] = e // it stays where it is: the heap does not move
	return uintptr(unsafe.Pointer(&e.words)), nil
}

// manage fills in what stands around the tensor, and gives the tensor's own words.
func (e *export) manage(f Form, key, deleter uintptr) []uint64 {
	if f == Plain {
		e.words[6], e.words[7] = uint64(key), uint64(deleter)
		return e.words[:6]
	}
	const major, readOnly = 1, 1
	e.words[0], e.words[1], e.words[2], e.words[3] = major, uint64(key), uint64(deleter), readOnly
	return e.words[4:]
}

// dims fills in lengths and strides and gives their addresses.
func (e *export) dims(s item.Shape) (shape, strides uint64) {
	rank := s.Rank()
	for i, step := rank-1, int64(1); i >= 0; i-- {
		e.shape[i], e.shape[item.MaxRank+i] = int64(s.Dim(i)), step
		step *= int64(s.Dim(i))
	}
	return uint64(uintptr(unsafe.Pointer(&e.shape[0]))), uint64(uintptr(unsafe.Pointer(&e.shape[item.MaxRank])))
}

// place is where a column's numbers are.
func place(b *item.Batch, c *item.Column) (data uintptr, kind, id int, err error) {
	if b.Handle == nil {
		kind = onHost
		if b.Place == item.Pinned {
			kind = pinned
		}
		return uintptr(unsafe.Pointer(unsafe.SliceData(c.Data))), kind, 0, nil
	}
	name := b.Handle.Device()
	if strings.HasPrefix(name, "emu:") {
		return 0, 0, 0, fmt.Errorf("the device %q is emulated, and its addresses are none", name)
	}
	if n, ok := strings.CutPrefix(name, "cuda:"); ok {
		if id, err = strconv.Atoi(n); err != nil {
			return 0, 0, 0, fmt.Errorf("the device %q has no number", name)
		}
	}
	return b.Handle.Address() + uintptr(c.Offset), onDevice, id, nil
}

// code is that of DLDataType.
func code(d item.DType) int {
	switch d {
	case item.Uint8:
		return 1
	case item.Float32, item.Float64:
		return 2
	default:
		return 0
	}
}

func what(c *item.Column) string {
	if c == nil {
		return "no such column"
	}
	return c.Kind.String()
}

// Held is how many tensors the other side has not deleted yet.
func (x *Exporter) Held() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.held)
}

// delete is what C calls with the address of a structure, of either form: only this one knows both.
func (x *Exporter) delete(self uintptr) {
	x.mu.Lock()
	var e *export
	for key, h := range x.held { // as many as the other side holds at a time
		if uintptr(unsafe.Pointer(&h.words)) == self {
			e = h
			delete(x.held, key)
			break
		}
	}
	x.mu.Unlock()
	if e != nil {
		e.batch.Release()
	}
}
