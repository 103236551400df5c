//go:build unix

package sources

import "syscall"

// openFlags keep a named pipe without a writer from holding the opener for ever.
const openFlags = syscall.O_NONBLOCK
