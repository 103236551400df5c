package item

import "time"

// Align is what the columns of a slab begin at multiples of, in bytes: what a device's loads and copies like best.
const Align = 256

// DeviceHandle is a batch's memory on a device. It belongs to the batch and is valid until its release. Its methods may
// be called from any goroutine, but Enter, Busy and Leave by one at a time.
//
// The copy to the device is asynchronous: a batch is handed on when its copy has been ordered, not when it has ended. A
// consumer that works on the device says so between Enter and Leave, and neither waits for the host; one that does not,
// calls Wait.
type DeviceHandle interface {
	// Device is the device's name, as written in the spec.
	Device() string
	// Address is where the batch begins in the device's memory. The host must not read it. An emulated device gives
	// numbers that no memory of the host has.
	Address() uintptr
	// Ready says that the copy has ended; Wait holds the caller until it has, and gives what became of it.
	Ready() bool
	Wait() error
	// Enter lets a stream of the device, by the number that its driver knows it by, wait for the copy; the host goes on
	// at once. 0 is the stream that the device has for its consumer. A batch that is kept beyond the run can be left, not
	// entered.
	Enter(stream uintptr) error
	// Busy puts d of modelled work on the stream of [DeviceHandle.Enter]. It is for emulation and measuring.
	Busy(d time.Duration) error
	// Leave says that what was put on the stream so far is the last use of the batch: its memory is used again after
	// that. The mark tells when it is over. A release without it, after Enter, is a Leave.
	Leave() (DeviceMark, error)
}

// DeviceMark is a moment on a stream of a device.
type DeviceMark interface {
	// Wait holds the caller until the moment has come, and gives what went wrong on the device.
	Wait() error
}
