package main

import (
	"syscall"
	"unsafe"
)

// threadTime is this thread's CPU time in seconds.
func threadTime() float64 {
	var ts syscall.Timespec
	const threadCPU = 3
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&ts)), 0)
	return float64(ts.Sec) + float64(ts.Nsec)/1e9
}
