package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/graph"
)

func noVariables(string) string { return "" }

// good is a machine about which there is nothing to say.
var good = graph.Machine{
	CPU: "a processor", Cores: 8, Online: 8, Affinity: 8, Cpuset: 8, Quota: -1, Held: -1,
	Memory: 64 << 30, MemoryFree: 50 << 30, MemoryLimit: 32 << 30, MemoryBudget: 16 << 30, OpenFiles: 65536,
	Shm: 64 << 20, ShmFree: 64 << 20, HugePages: "madvise", Folder: "/data", FileSystem: "ext4", Rotating: 0, FolderFree: 100 << 30,
}

func TestDoctorSaysWhatAMachineGives(t *testing.T) {
	assert.Equal(t, `cores (a processor)
  machine   8
  affinity  8     that the process may run on
  cpuset    8     of the control group
  quota     none  of the control group, in cores
  taken     8     by a run with budget.cpu 100%
memory
  machine     64 GiB   50 GiB available
  limit       32 GiB   of the control group
  taken       16 GiB   by batches and samples in flight, without budget.memory
  collector   28 GiB   what the garbage collector is told to stay below
  huge pages  madvise  large slabs ask for them
  shared      64 MiB   /dev/shm; penstock uses none: its workers share one memory
files
  open files      65536                     most at once
  working folder  ext4, a solid-state disk  100 GiB free: /data
devices
  emulated  accelerator                                        the sink, which models a training step
            emu:pcie3x16, emu:pcie4x16, emu:pcie5x16, emu:c2c  links, modelled by device_copy
  real      none found
advice
  none: nothing here stands in a pipeline's way
`, strings.ReplaceAll(examination(good, true, noVariables), "1. much of this is read from Linux", "none"))
}

func TestDoctorGivesAdvice(t *testing.T) {
	for want, change := range map[string]func(m *graph.Machine){
		"the quota of 1.5 cores is less than the 2":       func(m *graph.Machine) { m.Quota, m.Cores = 1.5, 2 },
		"held the container back 500 times":               func(m *graph.Machine) { m.Held = 500 },
		"4 of the machine's 8 cores are left by affinity": func(m *graph.Machine) { m.Affinity = 4 },
		"there is one core":                               func(m *graph.Machine) { m.Cores = 1 },
		"no memory limit is set here":                     func(m *graph.Machine) { m.MemoryLimit, m.MemoryBudget = -1, 0 },
		"the memory limit is 512 MiB":                     func(m *graph.Machine) { m.MemoryLimit, m.MemoryBudget = 512<<20, 256<<20 },
		"only 1024 files may be open":                     func(m *graph.Machine) { m.OpenFiles = 1024 },
		"huge pages are off":                              func(m *graph.Machine) { m.HugePages = "never" },
		"lies on nfs4: each file costs a round trip":      func(m *graph.Machine) { m.FileSystem = "nfs4" },
		"lies on fuse.gcsfuse":                            func(m *graph.Machine) { m.FileSystem = "fuse.gcsfuse" },
		"lies in a container's layers":                    func(m *graph.Machine) { m.FileSystem = "overlay" },
		"lies on a rotating disk":                         func(m *graph.Machine) { m.Rotating = 1 },
		"5120 KiB are free in the working folder":         func(m *graph.Machine) { m.FolderFree = 5 << 20 },
		"the system has a driver, NVIDIA":                 func(m *graph.Machine) { m.Driver = "NVIDIA" },
		"working folder  unknown ":                        func(m *graph.Machine) { m.FileSystem, m.Rotating = "", -1 },
	} {
		m := good
		change(&m)
		assert.Contains(t, examination(m, false, noVariables), want)
	}
	env := map[string]string{"GOMAXPROCS": "64", "GOMEMLIMIT": "3GiB"}
	text := examination(good, false, func(n string) string { return env[n] })
	assert.Contains(t, text, `GOMAXPROCS is "64"`)
	assert.Contains(t, text, "3GiB (GOMEMLIMIT)")
}

func TestDoctorLooksAtThisMachine(t *testing.T) {
	r := penstock(t, "doctor")
	assert.Equal(t, exitDone, r.code)
	dir, err := os.Getwd()
	assert.NoError(t, err)
	assert.Contains(t, r.out, dir)
	assert.Contains(t, r.out, "\nadvice\n")
	r = penstock(t, "doctor", "--seconds", "3")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "there is none")
}
