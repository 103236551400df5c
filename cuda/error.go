package cuda

import (
	"errors"
	"fmt"
)

// Error is what a driver answered: the operation, the number and the name that it has for the fault.
type Error struct {
	Op   string
	Code int
	Name string
}

// Error is "copy to the device: CUDA_ERROR_ILLEGAL_ADDRESS (700); ...".
func (e *Error) Error() string {
	s := fmt.Sprintf("%s (%d)", e.Name, e.Code)
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Sticky() {
		s += "; the device's context is lost, and every later call fails: start the process again"
	}
	return s
}

// Is tells the errors that programs ask for: errors.Is(err, ErrOutOfMemory) holds for any operation and back end.
func (e *Error) Is(target error) bool {
	switch e.Code {
	case invalidValue:
		return target == ErrInvalidValue
	case outOfMemory:
		return target == ErrOutOfMemory
	case noDevice:
		return target == ErrNoDevice
	case notSupported:
		return target == ErrNotSupported
	}
	return false
}

// Sticky says that the context is lost: every later call fails until the process is started again.
func (e *Error) Sticky() bool {
	switch e.Code {
	case 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719:
		return true
	}
	return false
}

// Errors that programs ask for.
var (
	ErrInvalidValue = errors.New("a value that the device does not take")
	ErrOutOfMemory  = errors.New("out of memory")
	ErrNoDevice     = errors.New("no device")
	ErrNotSupported = errors.New("not supported")
	// ErrNoDriver says that there is no driver's library on this machine.
	ErrNoDriver = errors.New("no CUDA driver library")
)

// Codes of the driver.
const (
	invalidValue = 1
	outOfMemory  = 2
	noDevice     = 100
	illegal      = 700
	launchFailed = 719
	notSupported = 801
)

// sticky says whether an error is one that loses the context.
func sticky(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Sticky()
}

// fault is an error of a code, with the name that the driver has for it.
func fault(op string, code int) *Error {
	name := "CUDA_ERROR_UNKNOWN"
	switch code {
	case invalidValue:
		name = "CUDA_ERROR_INVALID_VALUE"
	case outOfMemory:
		name = "CUDA_ERROR_OUT_OF_MEMORY"
	case noDevice:
		name = "CUDA_ERROR_NO_DEVICE"
	case illegal:
		name = "CUDA_ERROR_ILLEGAL_ADDRESS"
	case launchFailed:
		name = "CUDA_ERROR_LAUNCH_FAILED"
	case notSupported:
		name = "CUDA_ERROR_NOT_SUPPORTED"
	}
	return &Error{Op: op, Code: code, Name: name}
}
