//go:build !linux

package main

import "time"

// threadTime is the wall clock, where there is no clock of the thread.
func threadTime() float64 { return float64(time.Now().UnixNano()) / 1e9 }
