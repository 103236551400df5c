package graph

import "github.com/penstock-go/penstock/graph/internal/host"

// Machine is what the machine has, what quota, cpuset and affinity leave to this process, and what a run takes of it. A
// figure below 0 is unknown.
type Machine struct {
	CPU      string
	Cores    int     // that a run computes with, at budget.cpu 100%
	Online   int     // cores of the machine
	Affinity int     // that the process may run on
	Cpuset   int     // of the control groups
	Quota    float64 // of the control groups, in cores
	Held     int64   // how often the quota has held the container back since it began

	Memory, MemoryFree int64
	MemoryLimit        int64 // of the control groups; -1: none
	MemoryBudget       int64 // what a run takes without budget.memory; 0: no limit
	OpenFiles          int64
	Shm, ShmFree       int64
	HugePages          string // always, madvise, never; "" is unknown
	Driver             string // of an NVIDIA device; "" is none

	Folder     string // that was asked about
	FileSystem string // it lies on; "" is unknown
	Rotating   int    // 1: a disk that turns; 0: one that does not
	FolderFree int64
}

// Host looks at this machine, and at the file system of a folder. It reads a few files of the system, in about a
// millisecond, and changes nothing.
func Host(folder string) Machine {
	m, f := host.Read(), host.ReadFolder(folder)
	return Machine{
		CPU: host.CPUName(), Cores: host.Cores(), Online: m.Online, Affinity: m.Affinity, Cpuset: m.Cpuset, Quota: m.Quota, Held: m.Held,
		Memory: m.Memory, MemoryFree: m.MemoryFree, MemoryLimit: m.MemoryLimit, MemoryBudget: (&Pipeline{}).memoryLimit(),
		OpenFiles: m.OpenFiles, Shm: m.Shm, ShmFree: m.ShmFree, HugePages: m.HugePages, Driver: m.Driver,
		Folder: folder, FileSystem: f.FileSystem, Rotating: f.Rotating, FolderFree: f.Free,
	}
}
