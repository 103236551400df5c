package main

import (
	"syscall"
	"time"
)

// systemSleep is the sleep of sources.Slow where few workers do.
func systemSleep(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
