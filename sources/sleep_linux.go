package sources

import (
	"syscall"
	"time"
)

// systemSleep is a call that blocks, as reading from a store is. It says whether time has passed.
func systemSleep(d time.Duration) bool {
	began := time.Now()
	left := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
	return time.Since(began) > 0
}
