// Package gorgonia is the back end for real CUDA devices on gorgonia.org/cu, for programs that use that package anyway: both
// then share contexts, streams and memory. It needs the build tag gorgonia, cgo and a C compiler, but no CUDA toolkit:
//
//	CGO_CFLAGS=-I$(go list -f '{{.Dir}}' github.com/penstock-go/penstock/cuda/gorgonia)/include go build -tags gorgonia ./...
//
//	copies := cuda.DeviceCopy{Backends: []cuda.Backend{gorgonia.Backend{}, driver.Backend{}}}
//	...
//	s, err := cu.MakeStream(cu.NonBlocking)                          // of gorgonia.org/cu
//	err = batch.Handle.Enter(uintptr(unsafe.Pointer(s.C())))         // it waits for the copy
//	p := cu.DevicePtr(batch.Handle.Address())                        // the same number
//
// Without the tag, and on other systems, it opens no device and says so.
//
// By itself gorgonia.org/cu needs a toolkit's header and the driver's library to be built and to start, ends the process at
// once where there is no device, and cannot page-lock memory. Here the header is include/cuda.h, which has no more than the
// names, numbers and layouts that are used. The library is loaded when a device is opened, by loader.c, which gives the
// program definitions of its entry points: a program with this package starts on machines without a driver, and where there
// is none Open answers an error. link/libcuda.a is an empty archive for the linker's -lcuda. What the package lacks is called
// beside it. Its Ctx, which sends each call through a channel, is not used.
//
// The library is found as package driver finds it. It has been run against a stand-in for the library (package standin) and
// never on a device: nothing here is measured on hardware.
package gorgonia
