//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
	"github.com/penstock-go/penstock/cuda/internal/nvml"
)

// device is an open device.
type device struct {
	*library
	number    int32
	context   uintptr
	info      cuda.Info
	low, high int32 // priorities of streams: the least and the most urgent

	memory host.Memory
	watch  nvml.Watch
	mu     sync.Mutex
	spin   uintptr // the kernel of Spin; 0 before the first
	close  sync.Once
}

// attributes of a device
const hostNode = 134

func open(number int) (cuda.Device, error) {
	l, err := bind()
	if err != nil {
		return nil, err
	}
	d := &device{library: l}
	if err := l.check(cuDeviceGet, l.raw(cuDeviceGet, uintptr(unsafe.Pointer(&d.number)), uintptr(number))); err != nil {
		return nil, err
	}
	d.look()
	// If nobody has made the context yet, threads that wait for the device are to sleep: by default they spin, a core
	// each. If another library has, its flags are left alone; events ask for sleeping themselves.
	var flags, active uint32
	if l.raw(cuDevicePrimaryCtxGetState, uintptr(d.number), uintptr(unsafe.Pointer(&flags)), uintptr(unsafe.Pointer(&active))) == 0 && active == 0 {
		const blockingSync = 4
		l.raw(cuDevicePrimaryCtxSetFlags, uintptr(d.number), blockingSync)
	}
	if err := l.check(cuDevicePrimaryCtxRetain, l.raw(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&d.context)), uintptr(d.number))); err != nil {
		return nil, err
	}
	if err := d.do(cuCtxGetStreamPriorityRange, uintptr(unsafe.Pointer(&d.low)), uintptr(unsafe.Pointer(&d.high))); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// look fills in what the device says of itself. What it does not say stays empty.
func (d *device) look() {
	var name [128]byte
	var bus [32]byte
	var memory uint64
	var version int32
	d.raw(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)-1), uintptr(d.number))
	d.raw(cuDeviceTotalMem, uintptr(unsafe.Pointer(&memory)), uintptr(d.number))
	d.raw(cuDeviceGetPCIBusID, uintptr(unsafe.Pointer(&bus[0])), uintptr(len(bus)-1), uintptr(d.number))
	d.raw(cuDriverGetVersion, uintptr(unsafe.Pointer(&version)))
	d.info = cuda.Info{Backend: "driver", Name: text(&name[0]), PCI: text(&bus[0]), Memory: int64(memory), Node: -1}
	if version > 0 {
		d.info.Driver = fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)
	}
	node := int32(-1)
	if d.raw(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&node)), hostNode, uintptr(d.number)) != 0 || node < 0 {
		node = int32(host.NodeOf(host.Bus, d.info.PCI))
	}
	d.info.Node, d.memory.Node = int(node), int(node)
	d.watch.Place = d.info.PCI
}

// do calls the library with the device's context current on the thread. It is the only way there.
//
//go:uintptrescapes
func (d *device) do(c call, args ...uintptr) error {
	runtime.LockOSThread()
	r, _, _ := purego.SyscallN(d.at[cuCtxSetCurrent], d.context)
	if int32(r) == 0 || c == cuStreamDestroy || c == cuEventDestroy { // what is there is given up also when the device is lost
		r, _, _ = purego.SyscallN(d.at[c], args...)
	}
	runtime.UnlockOSThread()
	return d.check(c, int(int32(r)))
}

func (d *device) Info() cuda.Info { return d.info }

// Use asks NVIDIA's management library, where there is one.
func (d *device) Use() (cuda.Use, error) { return d.watch.Use() }

func (d *device) Alloc(n int) (cuda.Ptr, error) {
	var p uintptr
	err := d.do(cuMemAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n))
	return cuda.Ptr(p), err
}

func (d *device) Free(p cuda.Ptr) error { return d.do(cuMemFree, uintptr(p)) }

func (d *device) Map(n int) ([]byte, error) { return d.memory.Map(n) }
func (d *device) Unmap(b []byte) error      { return d.memory.Unmap(b) }

func (d *device) Lock(b []byte) error {
	host.Populate(b)
	const portable = 1 // page-locked for every context of the process
	return d.do(cuMemHostRegister, host.At(b), uintptr(len(b)), portable)
}

func (d *device) Unlock(b []byte) error { return d.do(cuMemHostUnregister, host.At(b)) }

// Close gives the context up. Others in the process may go on using it.
func (d *device) Close() (err error) {
	d.close.Do(func() {
		d.watch.Close()
		err = d.check(cuDevicePrimaryCtxRelease, d.raw(cuDevicePrimaryCtxRelease, uintptr(d.number)))
	})
	return err
}
