package cuda

// Monitor is a device that tells how it is used, by all processes together. Devices of the back ends for real ones are.
type Monitor interface {
	// Use asks the device. It takes up to some milliseconds: it is for now and then. The error says why nothing is known.
	Use() (Use, error)
}

// Use is what a device tells of its use. What is not known is nil, or 0.
type Use struct {
	Busy                *float64 // share of the driver's last period (up to a second) in which a kernel ran
	MemoryUsed          int64    // bytes
	Memory              int64    // bytes, of the whole device
	LinkGeneration      int      // of PCIe, now: idle devices slow their link down
	LinkWidth           int      // lanes, now
	LinkGenerationLimit int      // at most, with this host
	LinkWidthLimit      int
}
