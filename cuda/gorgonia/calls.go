//go:build gorgonia && cgo && linux && (amd64 || arm64)

package gorgonia

/*
#cgo CFLAGS: -I${SRCDIR}/include
#cgo LDFLAGS: -L${SRCDIR}/link -ldl -lpthread
#include <cuda.h>
#include <stdlib.h>
#include "loader.h"
*/
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
)

// load makes the driver's library ready. What it gave is to be left again.
func load() error {
	name := C.CString(host.Library())
	defer C.free(unsafe.Pointer(name))
	var text [1024]C.char
	switch r := C.penstock_cuda_load(name, &text[0], C.size_t(len(text))); {
	case r == 0:
		return nil
	case r > 0:
		return fmt.Errorf("%w: %s%s", cuda.ErrNoDriver, C.GoString(&text[0]), host.Hint(host.DriverFile))
	default:
		return answer("cuInit", -r)
	}
}

func leave() { C.penstock_cuda_leave() }

// The calls that gorgonia.org/cu lacks.

func register(b []byte) error {
	return answer("cuMemHostRegister_v2", C.int(C.cuMemHostRegister(unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b)), C.CU_MEMHOSTREGISTER_PORTABLE)))
}

func unregister(b []byte) error {
	return answer("cuMemHostUnregister", C.int(C.cuMemHostUnregister(unsafe.Pointer(unsafe.SliceData(b)))))
}

// placeOf is a device's place on the bus; "" where it does not say.
func placeOf(number int) string {
	var text [32]C.char
	if C.cuDeviceGetPCIBusId(&text[0], C.int(len(text)), C.CUdevice(number)) != 0 {
		return ""
	}
	return C.GoString(&text[0])
}

// answer makes the error of a result.
func answer(op string, result C.int) error {
	if result == 0 {
		return nil
	}
	e := &cuda.Error{Op: op, Code: int(result), Name: "CUDA_ERROR_UNKNOWN"}
	var s *C.char
	if C.cuGetErrorName(C.CUresult(result), &s) == 0 && s != nil {
		e.Name = C.GoString(s)
	}
	return e
}

// wrap makes the error of one of gorgonia.org/cu's: the numbers are the driver's, of a type that it does not export.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if v := reflect.ValueOf(err); v.CanInt() {
		return answer(op, C.int(v.Int()))
	}
	return err // it bears its operation already
}
