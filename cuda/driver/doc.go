// Package driver is the back end for real CUDA devices. It binds the driver's library, libcuda.so.1, at run time: no C
// compiler, no headers and no toolkit are needed to build, and a program with it starts on machines without a driver.
//
//	copies := cuda.DeviceCopy{Device: "auto", Backends: []cuda.Backend{driver.Backend{}}}
//	...
//	d, err := cuda.Open("cuda:0", driver.Backend{}) // no driver, no device: an error that says so
//
// It uses the device's primary context, which is that of the CUDA runtime: other libraries in the process share it. Every
// call makes that context current on the thread it happens to run on, so that goroutines may move between threads.
//
// The library is found as the system finds libraries; PENSTOCK_LIBCUDA names another file. Binding at run time makes a
// program need the system's loader, also without cgo. The build tag nocuda leaves this back end out, for static
// programs.
//
// It has been run against a stand-in for the library (package standin) and never on a device: nothing here is
// measured on hardware.
package driver
