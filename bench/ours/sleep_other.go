//go:build !linux

package main

import "time"

func systemSleep(d time.Duration) { time.Sleep(d) }
