// Package host reads what this machine gives a process: cores, memory limits, and what the process has used. What
// cannot be read on a system is reported as absent, never as zero.
//
//	limit, ok := host.MemoryLimit()
//	bytes, ok := host.RSS()
package host
