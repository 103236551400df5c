package host

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what the machine has and what it leaves to this process. A figure below 0 is unknown.
type Machine struct {
	Online   int     // cores of the machine
	Affinity int     // that the process may run on
	Cpuset   int     // of the control groups
	Quota    float64 // cores of the control groups
	Held     int64   // how often the quota has held the container back

	Memory, MemoryFree int64
	MemoryLimit        int64 // of the control groups; -1: none
	OpenFiles          int64
	Shm, ShmFree       int64
	HugePages          string // always, madvise, never; "" is unknown
	Driver             string // of an NVIDIA device
}

// Folder is what a folder lies on.
type Folder struct {
	FileSystem string // ext4, nfs4, ...; "" is unknown
	Rotating   int    // 1: a disk that turns; 0: one that does not; -1: unknown, as of virtual disks, whatever they say
	Free       int64
}

// tree is where the system's files lie; tests make their own.
type tree struct{ proc, sys, shm string }

var system = tree{"/proc", "/sys", "/dev/shm"}

// Read looks at everything once. It takes about a millisecond.
func Read() Machine { return system.read() }

func (t tree) read() Machine {
	m := Machine{Online: countList(t.text(t.sys, "devices/system/cpu/online")), Affinity: runtime.NumCPU(), Cpuset: -1, Quota: -1, Held: -1,
		MemoryLimit: -1, Memory: t.meminfo("MemTotal:"), MemoryFree: t.meminfo("MemAvailable:"), OpenFiles: openFiles(), Shm: -1, ShmFree: -1}
	m.HugePages = chosen(t.text(t.sys, "kernel/mm/transparent_hugepage/enabled"))
	m.Shm, m.ShmFree = space(t.shm)
	m.Driver = driver(t.text(t.proc, "driver/nvidia/version"))
	if n, ok := t.memoryLimit(); ok {
		m.MemoryLimit = n
	}
	if q, ok := t.quota(); ok {
		m.Quota = q
	}
	t.eachGroup("cpuset", func(v2 bool, dir string) bool {
		file := "cpuset.cpus"
		if v2 {
			file = "cpuset.cpus.effective"
		}
		if n := countList(t.text(dir, file)); n > 0 && m.Cpuset < 0 {
			m.Cpuset = n
		}
		return true
	})
	t.eachGroup("cpu", func(_ bool, dir string) bool {
		if n, ok := field(t.text(dir, "cpu.stat"), "nr_throttled"); ok {
			m.Held = max(m.Held, n)
		}
		return true
	})
	return m
}

func (t tree) text(parts ...string) string {
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// eachGroup visits the control groups that the process is in and those above them, of version 2 and of a controller of
// version 1, from the inside out.
func (t tree) eachGroup(controller string, f func(v2 bool, dir string) bool) {
	for line := range strings.Lines(t.text(t.proc, "self/cgroup")) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		bases := []string{filepath.Join(t.sys, "fs/cgroup", controller)}
		v2 := part[0] == "0" && part[1] == ""
		switch {
		case v2:
			bases = []string{filepath.Join(t.sys, "fs/cgroup"), filepath.Join(t.sys, "fs/cgroup/unified")}
		case !contains(part[1], controller):
			continue
		case part[1] != controller:
			bases = append(bases, filepath.Join(t.sys, "fs/cgroup", part[1]))
		}
		for _, base := range bases {
			for dir := filepath.Join("/", part[2]); f(v2, filepath.Join(base, dir)) && dir != "/"; {
				dir = filepath.Dir(dir)
			}
		}
	}
}

func contains(list, word string) bool {
	for _, w := range strings.Split(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// memoryLimit is the smallest limit of all groups. Version 1 writes a huge number for none.
func (t tree) memoryLimit() (int64, bool) {
	limit, _, _ := t.memoryGroup()
	return limit, limit < 1<<60
}

// memoryGroup finds the group with the smallest limit.
func (t tree) memoryGroup() (limit int64, v2 bool, dir string) {
	limit = math.MaxInt64
	t.eachGroup("memory", func(is2 bool, d string) bool {
		file := "memory.limit_in_bytes"
		if is2 {
			file = "memory.max"
		}
		if n, err := strconv.ParseInt(t.text(d, file), 10, 64); err == nil && n > 0 && n < limit {
			limit, v2, dir = n, is2, d
		}
		return true
	})
	return limit, v2, dir
}

func (t tree) memoryUse() func() (used, limit int64) {
	limit, v2, dir := t.memoryGroup()
	file, cache := "memory.usage_in_bytes", "total_inactive_file"
	if v2 {
		file, cache = "memory.current", "inactive_file"
	}
	if limit >= 1<<60 || t.text(dir, file) == "" {
		return nil
	}
	return func() (int64, int64) {
		used, _ := strconv.ParseInt(t.text(dir, file), 10, 64)
		idle, _ := field(t.text(dir, "memory.stat"), cache)
		return used - idle, limit
	}
}

// quota is the smallest share of all groups, in cores.
func (t tree) quota() (float64, bool) {
	least := math.Inf(1)
	t.eachGroup("cpu", func(v2 bool, dir string) bool {
		quota, period := t.text(dir, "cpu.cfs_quota_us"), t.text(dir, "cpu.cfs_period_us")
		if v2 {
			quota, period, _ = strings.Cut(t.text(dir, "cpu.max"), " ")
		}
		q, err1 := strconv.ParseFloat(quota, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 {
			least = min(least, q/p)
		}
		return true
	})
	return least, !math.IsInf(least, 1)
}

func (t tree) meminfo(key string) int64 {
	if n, ok := field(t.text(t.proc, "meminfo"), key); ok {
		return n << 10
	}
	return -1
}

// field finds the number behind a word.
func field(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// countList counts what "0-3,8" names; -1 if it is no such list.
func countList(list string) int {
	n := 0
	for _, part := range strings.Split(list, ",") {
		a, b, span := strings.Cut(part, "-")
		if !span {
			b = a
		}
		lo, err1 := strconv.Atoi(a)
		hi, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || lo > hi {
			return -1
		}
		n += hi - lo + 1
	}
	return n
}

// chosen is the word in brackets of "always [madvise] never".
func chosen(words string) string {
	_, rest, _ := strings.Cut(words, "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return word
}

func driver(version string) string {
	first, _, _ := strings.Cut(version, "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "NVRM version:"))
}

// ReadFolder says what a folder lies on, by the mount that it is under.
func ReadFolder(dir string) Folder { return system.folder(dir) }

func (t tree) folder(dir string) Folder {
	f := Folder{Rotating: -1}
	_, f.Free = space(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	dir, _ = filepath.Abs(dir)
	best, device := -1, ""
	for line := range strings.Lines(t.text(t.proc, "self/mountinfo")) {
		head, tail, ok := strings.Cut(line, " - ")
		h, kind := strings.Fields(head), strings.Fields(tail)
		if !ok || len(h) < 5 || len(kind) < 1 {
			continue
		}
		mount := strings.ReplaceAll(h[4], `\040`, " ")
		inside := dir == mount || mount == "/" || strings.HasPrefix(dir, mount+"/")
		if inside && len(mount) >= best { // the last mount on one point lies on top
			best, device, f.FileSystem = len(mount), h[2], kind[0]
		}
	}
	if device == "" {
		return f
	}
	for _, file := range []string{"queue/rotational", "../queue/rotational"} { // of the disk, or of that of a partition
		link, err := filepath.EvalSymlinks(filepath.Join(t.sys, "dev/block", device))
		if err != nil {
			return f
		}
		if virtual(filepath.Base(link)) {
			return f
		}
		if n, err := strconv.Atoi(t.text(link, file)); err == nil {
			f.Rotating = n
			return f
		}
	}
	return f
}

// virtual knows the names of disks that a hypervisor makes; they say that they turn, whatever lies below.
func virtual(name string) bool {
	return strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd")
}
