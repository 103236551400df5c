//go:build !linux

package pool

func adviseHuge([]byte) {}
