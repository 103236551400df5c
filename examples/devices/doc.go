// Package devices is a pipeline that ends on an emulated device, and what its report says when a part of the way there is
// too slow.
//
//	penstock run examples/devices/pinned.yaml
package devices
