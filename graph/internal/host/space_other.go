//go:build !linux

package host

// openFiles cannot be read here.
func openFiles() int64 { return -1 }

// space cannot be read here.
func space(string) (size, free int64) { return -1, -1 }
