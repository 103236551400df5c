//go:build linux && (amd64 || arm64) && !nocuda

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/driver"
)

// source adds the bytes of a piece of memory up, and adds that to the number at result. The driver compiles it for the
// device when it is loaded. Each thread takes every so manieth byte.
const source = `.version 7.0
.target sm_75
.address_size 64
.visible .entry sum_bytes(.param .u64 bytes, .param .u64 count, .param .u64 result)
{
	.reg .u64 %bytes, %count, %result, %i, %step, %at, %x, %sum;
	.reg .u32 %block, %threads, %thread, %blocks;
	.reg .pred %over;
	ld.param.u64 %bytes, [bytes];
	ld.param.u64 %count, [count];
	ld.param.u64 %result, [result];
	cvta.to.global.u64 %bytes, %bytes;
	cvta.to.global.u64 %result, %result;
	mov.u32 %block, %ctaid.x;
	mov.u32 %threads, %ntid.x;
	mov.u32 %thread, %tid.x;
	mov.u32 %blocks, %nctaid.x;
	cvt.u64.u32 %i, %thread;
	mad.wide.u32 %i, %block, %threads, %i;
	mul.wide.u32 %step, %blocks, %threads;
	mov.u64 %sum, 0;
NEXT:
	setp.ge.u64 %over, %i, %count;
	@%over bra DONE;
	add.u64 %at, %bytes, %i;
	ld.global.u8 %x, [%at];
	add.u64 %sum, %sum, %x;
	add.u64 %i, %i, %step;
	bra NEXT;
DONE:
	red.global.add.u64 [%result], %sum;
	ret;
}
`

const (
	blocks  = 64
	threads = 256 // of a block
)

// kernel is the kernel, loaded. It works on device 0, which is what "auto" opens, in its primary context: that is the one
// that package driver has opened, and CUDA's runtime, cuBLAS and frameworks share it.
type kernel struct {
	setContext, launches, unload, release uintptr // functions of the library

	device                    int32
	context, module, function uintptr
}

// load finds the driver's library, which is in the process already, and loads the kernel.
func load() (*kernel, error) {
	name := os.Getenv(driver.LibraryVariable)
	if name == "" {
		name = "libcuda.so.1"
	}
	lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	k := &kernel{}
	var get, retain, data, find uintptr
	for name, to := range map[string]*uintptr{"cuDeviceGet": &get, "cuDevicePrimaryCtxRetain": &retain, "cuDevicePrimaryCtxRelease_v2": &k.release,
		"cuCtxSetCurrent": &k.setContext, "cuModuleLoadData": &data, "cuModuleGetFunction": &find, "cuModuleUnload": &k.unload, "cuLaunchKernel": &k.launches} {
		if *to, err = purego.Dlsym(lib, name); err != nil {
			return nil, err
		}
	}
	if err := call("cuDeviceGet", get, uintptr(unsafe.Pointer(&k.device)), 0); err != nil {
		return nil, err
	}
	if err := call("cuDevicePrimaryCtxRetain", retain, uintptr(unsafe.Pointer(&k.context)), uintptr(k.device)); err != nil {
		return nil, err
	}
	text, entry := []byte(source+"\x00"), []byte("sum_bytes\x00")
	if err := k.do("cuModuleLoadData", data, uintptr(unsafe.Pointer(&k.module)), uintptr(unsafe.Pointer(&text[0]))); err != nil {
		return nil, errors.Join(fmt.Errorf("load the kernel, which is for devices of compute capability 7.5 (Turing) and newer: %w", err), k.close())
	}
	if err := k.do("cuModuleGetFunction", find, uintptr(unsafe.Pointer(&k.function)), k.module, uintptr(unsafe.Pointer(&entry[0]))); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

// launch puts the kernel on a stream, to add n bytes at an address to the number at result. It does not wait for it.
func (k *kernel) launch(stream, at uintptr, n int, result uintptr) error {
	count := uint64(n)
	args := [...]unsafe.Pointer{unsafe.Pointer(&at), unsafe.Pointer(&count), unsafe.Pointer(&result)}
	err := k.do("cuLaunchKernel", k.launches, k.function, blocks, 1, 1, threads, 1, 1, 0, stream, uintptr(unsafe.Pointer(&args)), 0)
	runtime.KeepAlive(&args) // the driver has taken the values over
	return err
}

// close gives the kernel up, and the context.
func (k *kernel) close() (err error) {
	if k.module != 0 {
		err = k.do("cuModuleUnload", k.unload, k.module)
	}
	return errors.Join(err, call("cuDevicePrimaryCtxRelease", k.release, uintptr(k.device)))
}

// do calls the library with the context current on the thread: a goroutine may find itself on any.
//
//go:uintptrescapes
func (k *kernel) do(name string, f uintptr, args ...uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := call("cuCtxSetCurrent", k.setContext, k.context); err != nil {
		return err
	}
	return call(name, f, args...)
}

// call calls the library. Memory of the arguments may lie on the stack, which moves: it is made to escape.
//
//go:uintptrescapes
func call(name string, f uintptr, args ...uintptr) error {
	if r, _, _ := purego.SyscallN(f, args...); int32(r) != 0 {
		return &cuda.Error{Op: name, Code: int(int32(r)), Name: "CUDA error"}
	}
	return nil
}
