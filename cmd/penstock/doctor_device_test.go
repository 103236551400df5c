package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
)

// some is a back end with a number of emulated devices that say they are others.
type some struct {
	n     int
	err   error
	lacks error // why its devices do not tell their use
}

type said struct {
	cuda.Device
	lacks error
}

func (said) Info() cuda.Info {
	return cuda.Info{Backend: "driver", Name: "a device", PCI: "0000:3B:00.0", Driver: "CUDA 13.0", Memory: 80 << 30, Node: 1}
}

// Use is what it tells.
func (d said) Use() (cuda.Use, error) {
	busy := 0.25
	return cuda.Use{Busy: &busy, MemoryUsed: 3 << 30, Memory: 80 << 30, LinkGeneration: 1, LinkWidth: 16, LinkGenerationLimit: 5, LinkWidthLimit: 16}, d.lacks
}

func (some) Name() string { return "driver" }

func (s some) Open(n int) (cuda.Device, error) {
	if n >= s.n {
		return nil, s.err
	}
	d, err := cuda.NewEmulated(cuda.Emulation{})
	return said{d, s.lacks}, err
}

func TestDoctorLooksAtDevices(t *testing.T) {
	bus := t.TempDir()
	dir := filepath.Join(bus, "0000:3b:00.0")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range map[string]string{"current_link_speed": "2.5 GT/s PCIe\n", "current_link_width": "16\n", "max_link_speed": "32.0 GT/s PCIe\n", "max_link_width": "16\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	m := good
	m.Driver = "580.1"
	assert.Equal(t, `driver
  of the system  580.1
  library        works  CUDA 13.0, by driver
devices
  cuda:0  a device                        80 GiB of memory
          0000:3B:00.0, near NUMA node 1  2.5 GT/s PCIe x16 now, 32.0 GT/s PCIe x16 at most
          in kernels 25 % of the time     3072 MiB of 80 GiB of memory in use, PCIe 1 x16 now, 5 x16 at most
page-locked memory
  at most  8192 MiB  by pin; for more: raise pin.limit
advice
  none: a spec may name the devices above
`, deviceExamination(some{n: 1, err: cuda.ErrNoDevice}, m, bus))
}

func TestDoctorSaysWhyTheUseOfADeviceIsNotKnown(t *testing.T) {
	text := deviceExamination(some{n: 1, err: cuda.ErrNoDevice, lacks: errors.New("no NVML: not found")}, good, t.TempDir())
	assert.Regexp(t, `its use is not known +no NVML: not found\n`, text)
}

func TestDoctorSaysHowToMendWhatKeepsDevicesAway(t *testing.T) {
	for want, err := range map[string]error{
		"NVIDIA_DRIVER_CAPABILITIES=compute,utility": fmt.Errorf("%w: libcuda.so.1: not found", cuda.ErrNoDriver),
		"look at CUDA_VISIBLE_DEVICES":               &cuda.Error{Op: "cuInit", Code: 100, Name: "CUDA_ERROR_NO_DEVICE"},
		"Emulated devices work anywhere":             &cuda.Error{Op: "cuInit", Code: 999, Name: "CUDA_ERROR_UNKNOWN"},
	} {
		text := deviceExamination(some{err: err}, good, t.TempDir())
		assert.Contains(t, text, "library        cannot be used")
		assert.Contains(t, text, err.Error())
		assert.Contains(t, text, want)
	}
}
