package host

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// made is a tree of the system's files in a folder.
func made(t *testing.T, files map[string]string) tree {
	root := t.TempDir()
	for path, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o644))
	}
	return tree{filepath.Join(root, "proc"), filepath.Join(root, "sys"), filepath.Join(root, "shm")}
}

func TestLimitsOfGroups(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no file, no limit":  {map[string]string{"proc/self/cgroup": "0::/a/b\n"}, -1},
		"max is no limit":    {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, -1},
		"the smallest above": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "3000\n", "sys/fs/cgroup/memory.max": "9000"}, 3000},
		"not a number":       {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "x", "sys/fs/cgroup/memory.max": "9000"}, 9000},
		"version 1, inside a group": {map[string]string{"proc/self/cgroup": "4:memory:/a/b\n0::/\n", "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "5000",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, 5000},
		"version 1's way to say none": {map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, -1},
		"a container sees its own":    {map[string]string{"proc/self/cgroup": "4:memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "7000"}, 7000},
	} {
		require.Equal(t, c.want, made(t, c.files).read().MemoryLimit, name)
	}
}

func TestMemoryThatIsUsedLeavesOutCacheThatCanBeDropped(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"version 2": {"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "3000\n", "sys/fs/cgroup/a/memory.current": "2500\n",
			"sys/fs/cgroup/a/memory.stat": "anon 100\ninactive_file 700\n", "sys/fs/cgroup/a/b/memory.current": "9"},
		"version 1": {"proc/self/cgroup": "4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "3000",
			"sys/fs/cgroup/memory/a/memory.usage_in_bytes": "2500", "sys/fs/cgroup/memory/a/memory.stat": "inactive_file 1\ntotal_inactive_file 700\n"},
	} {
		use := made(t, files).memoryUse()
		require.NotNil(t, use, name)
		used, limit := use()
		require.Equal(t, []int64{1800, 3000}, []int64{used, limit}, name)
	}
	require.Nil(t, made(t, map[string]string{"proc/self/cgroup": "0::/a\n"}).memoryUse(), "no limit")
}

func TestQuotasOfGroups(t *testing.T) {
	m := made(t, map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000", "sys/fs/cgroup/cpu.max": "150000 100000",
		"sys/fs/cgroup/a/cpuset.cpus.effective": "0-3,8\n", "sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nnr_throttled 12\n"}).read()
	require.Equal(t, 1.5, m.Quota)
	require.Equal(t, 5, m.Cpuset)
	require.Equal(t, int64(12), m.Held)
	m = made(t, map[string]string{"proc/self/cgroup": "3:cpu,cpuacct:/a\n2:cpuset:/\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "50000",
		"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000", "sys/fs/cgroup/cpuset/cpuset.cpus": "1"}).read()
	require.Equal(t, 0.5, m.Quota)
	require.Equal(t, 1, m.Cpuset)
	m = made(t, map[string]string{"proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
		"proc/meminfo": "MemTotal:  2048 kB\nMemAvailable: 1024 kB\n", "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"sys/devices/system/cpu/online": "0-1\n", "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX  595.1  Mon\nGCC\n"}).read()
	require.Equal(t, Machine{Online: 2, Affinity: m.Affinity, Cpuset: -1, Quota: -1, Held: -1, Memory: 2 << 20, MemoryFree: 1 << 20, MemoryLimit: -1,
		OpenFiles: m.OpenFiles, Shm: -1, ShmFree: -1, HugePages: "madvise", Driver: "NVIDIA UNIX  595.1  Mon"}, m)
}

func TestFoldersLieOnTheirMount(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	tr := made(t, map[string]string{"proc/self/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:40 / " + dir + "/net rw shared:1 - nfs4 host:/x rw\n",
		"sys/dev/block/queue/rotational": "1\n", "sys/dev/block/8:1/partition": "1"})
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "net", "data"), 0o755))
	f := tr.folder(dir)
	require.Equal(t, "ext4", f.FileSystem)
	require.Equal(t, 1, f.Rotating)
	f = tr.folder(filepath.Join(dir, "net", "data"))
	require.Equal(t, "nfs4", f.FileSystem)
	require.Equal(t, -1, f.Rotating)
	require.Equal(t, Folder{Rotating: -1, Free: -1}, made(t, nil).folder(filepath.Join(dir, "none")))
}

func TestWaitsForAProcessorAreAddedUpOverThreads(t *testing.T) {
	root := t.TempDir()
	_, ok := runDelay(filepath.Join(root, "none"))
	require.False(t, ok, "a system that does not tell")
	for thread, text := range map[string]string{
		"11": "900 1000 3\n", "12": "5 2000000000 1\n", "13": "0 -4 0\n", "14": "12\n", "15": "a b c\n",
	} {
		require.NoError(t, os.Mkdir(filepath.Join(root, thread), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, thread, "schedstat"), []byte(text), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "16"), 0o755)) // ended before its file was opened
	d, ok := runDelay(root)
	require.True(t, ok)
	require.Equal(t, 2*time.Second+1000, d)
}

func TestThisMachine(t *testing.T) {
	require.Positive(t, Cores())
	require.NotEmpty(t, CPUName())
	if runtime.GOOS == "linux" {
		now, peak := RSS()
		require.Positive(t, now)
		require.GreaterOrEqual(t, peak, now/2)
		require.Positive(t, CPUTime())
		if before, ok := CPUWait(); ok { // not every kernel keeps the figure
			after, _ := CPUWait()
			require.GreaterOrEqual(t, after, before)
		}
	}
}
