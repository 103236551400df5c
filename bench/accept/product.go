//go:build linux && (amd64 || arm64) && !nocuda

package main

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/penstock-go/penstock/cuda"
)

// product multiplies matrices of bfloat16 by cuBLAS, which comes with the toolkit or with a framework. It works on device 0:
// the library takes that where nobody has chosen another.
type product struct {
	handle, stream, gemm uintptr
	n                    int
	a, b, c              cuda.Ptr
	one, zero            float32
}

// newProduct finds the library. side is the length of the matrices' sides.
func newProduct(b *bench, side int) (*product, error) {
	var lib uintptr
	var err error
	names := []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}
	if name := os.Getenv("PENSTOCK_LIBCUBLAS"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if lib, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if lib == 0 {
		return nil, fmt.Errorf("no cuBLAS: %w", err)
	}
	p := &product{n: side, one: 1}
	var create uintptr
	for name, to := range map[string]*uintptr{"cublasCreate_v2": &create, "cublasSetStream_v2": &p.stream, "cublasGemmEx": &p.gemm} {
		if *to, err = purego.Dlsym(lib, name); err != nil {
			return nil, err
		}
	}
	for _, m := range []*cuda.Ptr{&p.a, &p.b, &p.c} {
		*m = b.alloc(2 * side * side)
	}
	if b.err != nil {
		return nil, b.err
	}
	return p, call("cublasCreate_v2", create, uintptr(unsafe.Pointer(&p.handle)))
}

// put puts one product on a stream. What the matrices hold does not matter to its time.
func (p *product) put(stream uintptr) error {
	runtime.LockOSThread() // the library remembers the device by thread
	defer runtime.UnlockOSThread()
	if err := call("cublasSetStream_v2", p.stream, p.handle, stream); err != nil {
		return err
	}
	const bfloat16, float, standard = 14, 68, ^uintptr(0) // CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT
	n := uintptr(p.n)
	return call("cublasGemmEx", p.gemm, p.handle, 0, 0, n, n, n, uintptr(unsafe.Pointer(&p.one)), uintptr(p.a), bfloat16, n,
		uintptr(p.b), bfloat16, n, uintptr(unsafe.Pointer(&p.zero)), uintptr(p.c), bfloat16, n, float, standard)
}

// call calls the library. Memory of the arguments may lie on the stack, which moves: it is made to escape.
//
//go:uintptrescapes
func call(name string, f uintptr, args ...uintptr) error {
	if r, _, _ := purego.SyscallN(f, args...); int32(r) != 0 {
		return fmt.Errorf("%s: status %d", name, int32(r))
	}
	return nil
}
