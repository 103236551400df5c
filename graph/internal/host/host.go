package host

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Cores is how many cores the process may use. The Go runtime takes affinity and the container's quota into account.
func Cores() int { return runtime.GOMAXPROCS(0) }

// MemoryLimit is the smallest limit of the control groups that the process is in (v2, v1).
func MemoryLimit() (int64, bool) { return system.memoryLimit() }

// MemoryUse makes a function that tells how much of the limit of [MemoryLimit] is used, page cache that the kernel can
// drop left out; nil where there is no limit, or no figure of its use.
func MemoryUse() func() (used, limit int64) { return system.memoryUse() }

// Quota is the container's share of the processors, in cores.
func Quota() (float64, bool) { return system.quota() }

// RSS is the resident memory of the process, and the most it has been; 0 where it cannot be read.
func RSS() (now, peak int64) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "VmRSS:":
			now = kib << 10
		case "VmHWM:":
			peak = kib << 10
		}
	}
	return now, peak
}

// CPUName is the processor's own name, or the architecture.
func CPUName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(data)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				return strings.TrimSpace(v)
			}
		}
	}
	return runtime.GOARCH
}
