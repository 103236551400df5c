package host

import "syscall"

// openFiles is how many files the process may have open.
func openFiles() int64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return -1
	}
	return int64(min(r.Cur, 1<<62))
}

// space is the size of a file system and what is free of it.
func space(dir string) (size, free int64) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1, -1
	}
	return int64(s.Blocks) * int64(s.Bsize), int64(s.Bavail) * int64(s.Bsize)
}
