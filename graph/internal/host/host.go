package host

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Cores is how many cores the process may use. The Go runtime takes affinity and the container's quota into account.
func Cores() int { return runtime.GOMAXPROCS(0) }

// MemoryLimit is the smallest limit of the control groups that the process is in (v2, then v1).
func MemoryLimit() (int64, bool) {
	if n, ok := limitV2("/sys/fs/cgroup", cgroupPath("0::")); ok {
		return n, true
	}
	return readLimit("/sys/fs/cgroup/memory/memory.limit_in_bytes")
}

// limitV2 looks at the group and at all above it.
func limitV2(root, path string) (int64, bool) {
	var least int64
	found := false
	for {
		if n, ok := readLimit(root + path + "/memory.max"); ok && (!found || n < least) {
			least, found = n, true
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return least, found
		}
		path = path[:i]
	}
}

func cgroupPath(prefix string) string {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			return strings.TrimSuffix(p, "/")
		}
	}
	return ""
}

func readLimit(path string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n <= 0 || n >= 1<<60 { // "max", or v1's way to say none
		return 0, false
	}
	return n, true
}

// Quota is the container's share of the processors, in cores.
func Quota() (float64, bool) {
	data, err := os.ReadFile("/sys/fs/cgroup" + cgroupPath("0::") + "/cpu.max")
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(data))
	if len(f) != 2 {
		return 0, false
	}
	quota, err1 := strconv.ParseFloat(f[0], 64)
	period, err2 := strconv.ParseFloat(f[1], 64)
	if err1 != nil || err2 != nil || period <= 0 {
		return 0, false
	}
	return quota / period, true
}

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
