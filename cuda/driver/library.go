//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
)

// call is a function of the library.
type call int

const (
	cuInit call = iota
	cuDriverGetVersion
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuDeviceGetPCIBusID
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuDevicePrimaryCtxSetFlags
	cuDevicePrimaryCtxGetState
	cuCtxSetCurrent
	cuCtxGetStreamPriorityRange
	cuMemAlloc
	cuMemFree
	cuMemHostRegister
	cuMemHostUnregister
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuStreamCreateWithPriority
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventElapsedTime
	cuModuleLoadData
	cuModuleGetFunction
	cuLaunchKernel
	cuGetErrorName
	calls
)

// symbols are the names that the library exports: its header hides the versions behind macros.
var symbols = [calls]string{
	cuInit: "cuInit", cuDriverGetVersion: "cuDriverGetVersion", cuDeviceGet: "cuDeviceGet", cuDeviceGetName: "cuDeviceGetName",
	cuDeviceGetAttribute: "cuDeviceGetAttribute", cuDeviceTotalMem: "cuDeviceTotalMem_v2", cuDeviceGetPCIBusID: "cuDeviceGetPCIBusId",
	cuDevicePrimaryCtxRetain: "cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRelease: "cuDevicePrimaryCtxRelease_v2",
	cuDevicePrimaryCtxSetFlags: "cuDevicePrimaryCtxSetFlags_v2", cuDevicePrimaryCtxGetState: "cuDevicePrimaryCtxGetState",
	cuCtxSetCurrent: "cuCtxSetCurrent", cuCtxGetStreamPriorityRange: "cuCtxGetStreamPriorityRange", cuMemAlloc: "cuMemAlloc_v2",
	cuMemFree: "cuMemFree_v2", cuMemHostRegister: "cuMemHostRegister_v2", cuMemHostUnregister: "cuMemHostUnregister",
	cuMemcpyHtoDAsync: "cuMemcpyHtoDAsync_v2", cuMemcpyDtoHAsync: "cuMemcpyDtoHAsync_v2",
	cuStreamCreateWithPriority: "cuStreamCreateWithPriority", cuStreamDestroy: "cuStreamDestroy_v2",
	cuStreamSynchronize: "cuStreamSynchronize", cuStreamWaitEvent: "cuStreamWaitEvent", cuEventCreate: "cuEventCreate",
	cuEventDestroy: "cuEventDestroy_v2", cuEventRecord: "cuEventRecord", cuEventQuery: "cuEventQuery",
	cuEventSynchronize: "cuEventSynchronize", cuEventElapsedTime: "cuEventElapsedTime", cuModuleLoadData: "cuModuleLoadData",
	cuModuleGetFunction: "cuModuleGetFunction", cuLaunchKernel: "cuLaunchKernel", cuGetErrorName: "cuGetErrorName",
}

// library is the driver's library, bound.
type library struct{ at [calls]uintptr }

// bind loads the library and makes it ready. It neither panics nor ends the process.
func bind() (*library, error) {
	name := host.Library()
	h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %v%s", cuda.ErrNoDriver, err, host.Hint(host.DriverFile))
	}
	l := &library{}
	for c := range calls {
		if l.at[c], err = purego.Dlsym(h, symbols[c]); err != nil {
			return nil, fmt.Errorf("%w: %s lacks %s, so it is too old or no driver: %v", cuda.ErrNoDriver, name, symbols[c], err)
		}
	}
	return l, l.check(cuInit, l.raw(cuInit, 0))
}

// raw calls the library. Memory of the arguments may lie on the stack, which moves: it is made to escape.
//
//go:uintptrescapes
func (l *library) raw(c call, args ...uintptr) int {
	r, _, _ := purego.SyscallN(l.at[c], args...)
	return int(int32(r))
}

// check makes the error of a result.
func (l *library) check(c call, result int) error {
	if result == 0 {
		return nil
	}
	e := &cuda.Error{Op: symbols[c], Code: result, Name: "CUDA_ERROR_UNKNOWN"}
	var s *byte
	if l.raw(cuGetErrorName, uintptr(result), uintptr(unsafe.Pointer(&s))) == 0 && s != nil {
		e.Name = text(s)
	}
	return e
}

// text is a string of the library's.
func text(s *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
