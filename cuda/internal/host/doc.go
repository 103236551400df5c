// Package host is what the back ends for real devices have in common: memory of the host that a driver can page-lock,
// the name of its library, and a kernel.
//
//	var m host.Memory
//	m.Node = host.NodeOf("/sys/bus/pci/devices", "0000:01:00.0")
//	b, err := m.Map(64 << 20)
//	...
//	host.Populate(b) // before the driver locks it
//	...
//	err = m.Unmap(b)
//
// A [Memory] may be used by several goroutines at a time. It gives pages of the system, not of the garbage collector.
package host
