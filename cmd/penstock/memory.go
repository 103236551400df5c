package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory tells the garbage collector what it may use, unless GOMEMLIMIT does already: nine tenths of the
// container's limit; and with a budget of the pipeline no more than what is in use now, the budget and a tenth of it.
// The collector then works harder near the limit; nothing fails because of it.
func limitMemory(budget int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := int64(math.MaxInt64)
	if n, ok := containerLimit("/proc/self/cgroup", "/sys/fs/cgroup"); ok {
		limit = n / 10 * 9
	}
	if budget > 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		limit = min(limit, int64(m.Sys-m.HeapReleased)+budget+budget/10)
	}
	if limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
}

// containerLimit is the least memory limit of the control groups that the process is in: version 2, or the memory
// controller of version 1.
func containerLimit(self, root string) (int64, bool) {
	text, err := os.ReadFile(self)
	if err != nil {
		return 0, false
	}
	least := int64(math.MaxInt64)
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, file := root, "memory.max"
		switch {
		case parts[0] == "0" && parts[1] == "":
		case parts[1] == "memory":
			base, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := filepath.Join("/", parts[2]); ; dir = filepath.Dir(dir) {
			if n, ok := readLimit(filepath.Join(base, dir, file)); ok {
				least = min(least, n)
			}
			if dir == "/" {
				break
			}
		}
	}
	return least, least < 1<<60 // version 1 writes a huge number for none
}

func readLimit(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil && n > 0
}
