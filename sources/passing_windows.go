package sources

import "syscall"

// The numbers are those of winerror.h.
var mayPass = [...]error{
	syscall.Errno(4),   // ERROR_TOO_MANY_OPEN_FILES
	syscall.Errno(8),   // ERROR_NOT_ENOUGH_MEMORY
	syscall.Errno(32),  // ERROR_SHARING_VIOLATION
	syscall.Errno(33),  // ERROR_LOCK_VIOLATION
	syscall.Errno(54),  // ERROR_NETWORK_BUSY
	syscall.Errno(59),  // ERROR_UNEXP_NET_ERR
	syscall.Errno(64),  // ERROR_NETNAME_DELETED
	syscall.Errno(121), // ERROR_SEM_TIMEOUT
	syscall.Errno(170), // ERROR_BUSY
}
