package main

import (
	"os"
	"syscall"
)

const dontNeed = 4 // POSIX_FADV_DONTNEED

// forget asks the system to drop a file's content from memory. What is written there and not yet on the disk stays.
func forget(f *os.File) error {
	if _, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); e != 0 {
		return e
	}
	return nil
}
