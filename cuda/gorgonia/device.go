//go:build gorgonia && cgo && linux && (amd64 || arm64)

package gorgonia

import (
	"fmt"
	"runtime"
	"sync"

	"gorgonia.org/cu"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
	"github.com/penstock-go/penstock/cuda/internal/nvml"
)

// device is an open device.
type device struct {
	dev       cu.Device
	context   cu.CUContext
	info      cuda.Info
	low, high int // priorities of streams: the least and the most urgent

	memory host.Memory
	watch  nvml.Watch
	mu     sync.Mutex
	spin   cu.Function // the kernel of Spin
	ready  bool        // it is loaded
	close  sync.Once
}

// hostNode is the attribute of the NUMA node that a device is nearest to.
const hostNode = 134

func open(number int) (_ cuda.Device, err error) {
	if err := load(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	d := &device{}
	if d.dev, err = cu.GetDevice(number); err != nil {
		return nil, wrap("cuDeviceGet", err)
	}
	d.look()
	// If nobody has made the context yet, threads that wait for the device are to sleep: by default they spin, a core
	// each. If another library has, its flags are left alone; events ask for sleeping themselves.
	if _, active, err := d.dev.PrimaryCtxState(); err == nil && active == 0 {
		_ = d.dev.SetPrimaryCtxFlags(cu.SchedBlockingSync)
	}
	if d.context, err = d.dev.RetainPrimaryCtx(); err != nil {
		return nil, wrap("cuDevicePrimaryCtxRetain", err)
	}
	err = d.do("cuCtxGetStreamPriorityRange", func() (err error) {
		d.low, d.high, err = cu.StreamPriorityRange()
		return err
	})
	if err != nil {
		_ = d.dev.ReleasePrimaryCtx()
		return nil, err
	}
	return d, nil
}

// look fills in what the device says of itself. What it does not say stays empty.
func (d *device) look() {
	d.info = cuda.Info{Backend: "gorgonia", PCI: placeOf(int(d.dev)), Node: -1}
	d.info.Name, _ = d.dev.Name()
	d.info.Memory, _ = d.dev.TotalMem()
	if v := cu.Version(); v > 0 {
		d.info.Driver = fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
	}
	node, err := d.dev.Attribute(cu.DeviceAttribute(hostNode))
	if err != nil || node < 0 {
		node = host.NodeOf(host.Bus, d.info.PCI)
	}
	d.info.Node, d.memory.Node = node, node
	d.watch.Place = d.info.PCI
}

// do calls with the device's context current on the thread. It is the only way there.
func (d *device) do(op string, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return wrap(op, err)
	}
	return wrap(op, call())
}

// end gives something up, also when the device is lost.
func (d *device) end(op string, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = cu.SetCurrentContext(d.context)
	return wrap(op, call())
}

func (d *device) Info() cuda.Info { return d.info }

// Use asks NVIDIA's management library, where there is one.
func (d *device) Use() (cuda.Use, error) { return d.watch.Use() }

func (d *device) Alloc(n int) (p cuda.Ptr, err error) {
	err = d.do("cuMemAlloc_v2", func() error {
		at, err := cu.MemAlloc(int64(n))
		p = cuda.Ptr(at)
		return err
	})
	return p, err
}

func (d *device) Free(p cuda.Ptr) error {
	return d.do("cuMemFree_v2", func() error { return cu.MemFree(cu.DevicePtr(p)) })
}

func (d *device) Map(n int) ([]byte, error) { return d.memory.Map(n) }
func (d *device) Unmap(b []byte) error      { return d.memory.Unmap(b) }

func (d *device) Lock(b []byte) error {
	host.Populate(b)
	return d.do("cuMemHostRegister_v2", func() error { return register(b) })
}

func (d *device) Unlock(b []byte) error {
	return d.do("cuMemHostUnregister", func() error { return unregister(b) })
}

// Close gives the context up. Others in the process may go on using it.
func (d *device) Close() (err error) {
	d.close.Do(func() {
		d.watch.Close()
		err = wrap("cuDevicePrimaryCtxRelease_v2", d.dev.ReleasePrimaryCtx())
		leave()
	})
	return err
}
