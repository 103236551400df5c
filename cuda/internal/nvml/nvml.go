//go:build linux && (amd64 || arm64) && !nocuda

package nvml

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/cuda"
)

// call is a function of the library.
type call int

const (
	nvmlInit call = iota
	nvmlShutdown
	nvmlDeviceGetHandleByPciBusId
	nvmlDeviceGetUtilizationRates
	nvmlDeviceGetMemoryInfo
	nvmlDeviceGetCurrPcieLinkGeneration
	nvmlDeviceGetCurrPcieLinkWidth
	nvmlDeviceGetMaxPcieLinkGeneration
	nvmlDeviceGetMaxPcieLinkWidth
	nvmlErrorString
	calls
)

var symbols = [calls]string{
	nvmlInit: "nvmlInit_v2", nvmlShutdown: "nvmlShutdown", nvmlDeviceGetHandleByPciBusId: "nvmlDeviceGetHandleByPciBusId_v2",
	nvmlDeviceGetUtilizationRates: "nvmlDeviceGetUtilizationRates", nvmlDeviceGetMemoryInfo: "nvmlDeviceGetMemoryInfo",
	nvmlDeviceGetCurrPcieLinkGeneration: "nvmlDeviceGetCurrPcieLinkGeneration", nvmlDeviceGetCurrPcieLinkWidth: "nvmlDeviceGetCurrPcieLinkWidth",
	nvmlDeviceGetMaxPcieLinkGeneration: "nvmlDeviceGetMaxPcieLinkGeneration", nvmlDeviceGetMaxPcieLinkWidth: "nvmlDeviceGetMaxPcieLinkWidth",
	nvmlErrorString: "nvmlErrorString",
}

// Device is a device that is asked.
type Device struct {
	at     [calls]uintptr
	handle uintptr
}

// Open loads the library and finds the device of a place on the bus.
func Open(place string) (*Device, error) {
	name := os.Getenv("PENSTOCK_LIBNVML")
	if name == "" {
		name = "libnvidia-ml.so.1"
	}
	h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("no NVML: %w", err)
	}
	d := &Device{}
	for c := range calls {
		if d.at[c], err = purego.Dlsym(h, symbols[c]); err != nil {
			return nil, fmt.Errorf("no NVML: %s lacks %s: %w", name, symbols[c], err)
		}
	}
	if err := d.do(nvmlInit); err != nil { // it counts how often it is called
		return nil, err
	}
	bus := append([]byte(place), 0)
	if err := d.do(nvmlDeviceGetHandleByPciBusId, uintptr(unsafe.Pointer(&bus[0])), uintptr(unsafe.Pointer(&d.handle))); err != nil {
		d.Close()
		return nil, fmt.Errorf("device %s: %w", place, err)
	}
	return d, nil
}

// Close gives the library up.
func (d *Device) Close() { _ = d.do(nvmlShutdown) }

// Use asks for what is known. A figure that the device does not have (a part of a divided device has no utilisation) is
// left out; only where there is none at all that is an error.
func (d *Device) Use() (cuda.Use, error) {
	var u cuda.Use
	var share struct{ kernels, memory uint32 } // percent
	var memory struct{ total, free, used uint64 }
	busy := d.do(nvmlDeviceGetUtilizationRates, d.handle, uintptr(unsafe.Pointer(&share)))
	if busy == nil {
		x := float64(share.kernels) / 100
		u.Busy = &x
	}
	held := d.do(nvmlDeviceGetMemoryInfo, d.handle, uintptr(unsafe.Pointer(&memory)))
	if held == nil {
		u.Memory, u.MemoryUsed = int64(memory.total), int64(memory.used)
	}
	u.LinkGeneration, u.LinkWidth = d.number(nvmlDeviceGetCurrPcieLinkGeneration), d.number(nvmlDeviceGetCurrPcieLinkWidth)
	u.LinkGenerationLimit, u.LinkWidthLimit = d.number(nvmlDeviceGetMaxPcieLinkGeneration), d.number(nvmlDeviceGetMaxPcieLinkWidth)
	if busy != nil && held != nil && u.LinkWidth == 0 {
		return u, errors.Join(busy, held)
	}
	return u, nil
}

// number is a small number that the device tells; 0 where it does not.
func (d *Device) number(c call) int {
	var n uint32
	if d.do(c, d.handle, uintptr(unsafe.Pointer(&n))) != nil {
		return 0
	}
	return int(n)
}

// do calls the library. Memory of the arguments may lie on the stack, which moves: it is made to escape.
//
//go:uintptrescapes
func (d *Device) do(c call, args ...uintptr) error {
	r, _, _ := purego.SyscallN(d.at[c], args...)
	if int32(r) == 0 {
		return nil
	}
	s, _, _ := purego.SyscallN(d.at[nvmlErrorString], r)
	return fmt.Errorf("%s: %s (%d)", symbols[c], text(s), int32(r))
}

// text is a string of the library's, which never goes away.
func text(at uintptr) string {
	if at == 0 {
		return "unknown error"
	}
	s := *(**byte)(unsafe.Pointer(&at))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
