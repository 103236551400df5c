package cuda

import (
	"github.com/penstock-go/penstock/graph/registry"
)

// Kinds lists the stages that a spec can name. Their real devices are opened by the back ends, the first that can.
func Kinds(backends ...Backend) []registry.Entry {
	return []registry.Entry{
		registry.Stage[Pin](registry.Meta{
			Name: "pin", Summary: "Has batches lie in page-locked memory, from where a device copies them by itself.",
			Example: "pin: {}",
		}, (*Pin).Bind),
		registry.Stage[DeviceCopy](registry.Meta{
			Name: "device_copy", Summary: "Copies batches to a device, beside the work on the ones before.",
			Example: `device_copy: {device: "emu:pcie5x16"}`,
		}, func(c *DeviceCopy, f *registry.Fields) {
			c.Backends = backends
			c.Bind(f)
		}),
	}
}
