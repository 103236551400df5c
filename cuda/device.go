package cuda

import "time"

// Ptr is an address in a device's memory. The host never reads it.
type Ptr uintptr

// Info is what a device says of itself. What is not known is empty.
type Info struct {
	Backend  string // "emulated" or that of [Backend.Name]
	Name     string
	PCI      string // its place on the bus
	Driver   string // version
	Memory   int64  // bytes
	Node     int    // NUMA node of the host that it is nearest to; -1: unknown
	Emulated bool
}

// Device is a device that is open. Its methods may be called from any goroutine, and take effect whichever thread that
// runs on.
type Device interface {
	Info() Info

	// NewStream makes a stream that waits for no other. urgent ones go first where the device has a choice.
	NewStream(urgent bool) (Stream, error)
	// Stream is a stream that another runtime in this process has made, by its number.
	Stream(handle uintptr) Stream
	NewEvent() (Event, error)

	Alloc(n int) (Ptr, error)
	Free(Ptr) error

	// Map takes host memory that can be page-locked; Unmap gives it back. Map is quick: pages come when they are used.
	Map(n int) ([]byte, error)
	Unmap([]byte) error
	// Lock page-locks memory that Map gave, after it has seen to its pages, which takes long for large pieces. Unlock
	// ends it. Both may hold up the whole device: they are for the start and the end.
	Lock([]byte) error
	Unlock([]byte) error

	Close() error
}

// Stream is a queue of work on a device, done in order. All methods but Sync and Close only put work in, and return.
type Stream interface {
	// CopyIn copies from the host. If src is page-locked it returns at once, and src must not change until an event that
	// is recorded after it is over. From other memory it holds the caller until the copy has ended.
	CopyIn(dst Ptr, src []byte) error
	// CopyOut copies to the host, under the same rule.
	CopyOut(dst []byte, src Ptr) error
	// Record lets e happen when all work put in before is done. Wait lets the stream wait for what e was recorded for
	// last: the device waits, not the host.
	Record(e Event) error
	Wait(e Event) error
	// Spin keeps the device's computing part busy.
	Spin(d time.Duration) error
	// Handle is the number by which the driver knows the stream.
	Handle() uintptr
	Sync() error
	Close() error
}

// Event is a moment on a stream.
type Event interface {
	// Done says whether it is over; Sync holds the caller until it is. Both give a fault that the device has met.
	Done() (bool, error)
	Sync() error
	// Since is the time from an earlier event to this one; both must be over.
	Since(earlier Event) (time.Duration, error)
	Close() error
}

// Backend opens real devices. It must neither panic nor end the process where there is no driver, or no device.
type Backend interface {
	// Name is the word for it in messages and in PENSTOCK_CUDA_BACKEND.
	Name() string
	// Open opens the device of a number, from 0.
	Open(number int) (Device, error)
}
