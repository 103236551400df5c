// Package nvml asks NVIDIA's management library how a device is used: by kernels, its memory, its link. The library,
// libnvidia-ml.so.1, comes with the driver and is bound at run time; where there is none, there are no figures.
//
//	d, err := nvml.Open("0000:3B:00.0") // by its place on the bus: the library counts devices otherwise
//	...
//	use, err := d.Use()
//	...
//	d.Close()
//
// PENSTOCK_LIBNVML names another file. Devices may be used by several goroutines. It has been run against a stand-in
// (package standin) and never on a device.
package nvml
