//go:build unix

package sources

import "syscall"

var mayPass = [...]error{
	syscall.EINTR, syscall.EAGAIN, syscall.EBUSY, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.ESTALE,
	syscall.ETIMEDOUT, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
	syscall.ENETDOWN, syscall.ENETUNREACH, syscall.ENETRESET, syscall.ENOTCONN, syscall.EPIPE, syscall.EIO,
}
