//go:build linux && (amd64 || arm64)

package standin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda/internal/host"
)

// Library is a stand-in for the driver's library, loaded into the process.
type Library struct {
	Path string
	Set  func(setting string, v float64) int32
	// Fail lets the nth call of a name answer a code. "copy" and "kernel" fail when they are carried out.
	Fail    func(name string, nth, code int32) int32
	struck  func() int32 // how many calls have failed so
	counts  func(*uint64, int32) int32
	kernels func(*Launch, int32) int32
	mend    func() int32
}

// Counters are in the order of libcuda.c.
type Counters struct {
	DeviceBytes, LockedBytes, Streams, Events, Contexts, Staged, Async, Races, NoContext, Kernels, Calls, Modules uint64
}

// Launch is a launch of a kernel that is not [host.SpinName]. The stand-in runs none: it records what was asked for, and,
// where the first two arguments are the address and the length of a piece of the device's memory, the sum of the bytes
// that lay there when the launch was over.
type Launch struct {
	Grid, Block  [3]uint32
	Shared, Used uint32 // bytes of shared memory; how many of Args there are
	Over, Stream uint64 // 1: it is over
	Args         [8]uint64
	Sum          uint64
}

// Build makes the libraries in a folder, with the machine's C compiler: that of the driver, whose path it gives, and
// beside it libnvidia-ml.so.1. Where there is no compiler the path is "".
func Build(dir string) (path string, err error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", nil
	}
	_, file, _, _ := runtime.Caller(0)
	for source, name := range map[string]string{"libcuda.c": driverName, "libnvidia-ml.c": managementName} {
		text, err := exec.Command(cc, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", filepath.Join(dir, name),
			filepath.Join(filepath.Dir(file), "testdata", source), "-lpthread").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, text)
		}
	}
	return filepath.Join(dir, driverName), nil
}

const (
	driverName     = "libcuda.so.1"
	managementName = "libnvidia-ml.so.1"
)

// Main builds the stand-in, runs the tests of a package, and gives what the program is to end with. path is set to the
// stand-in for the driver's library before any test begins.
func Main(m *testing.M, path *string) int {
	dir, err := os.MkdirTemp("", "standin")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if *path, err = Build(dir); err != nil {
		panic(err)
	}
	return m.Run()
}

// New loads a library that was built and makes it the one that back ends find. It is as in a new process. Where path is ""
// the test is skipped.
func New(t testing.TB, path string) *Library {
	t.Helper()
	if path == "" {
		t.Skip("no C compiler (cc), so there is no stand-in for the driver: skipped")
	}
	s := &Library{Path: path}
	h, err := purego.Dlopen(path, purego.RTLD_NOW)
	require.NoError(t, err)
	purego.RegisterLibFunc(&s.Set, h, "standin_set")
	purego.RegisterLibFunc(&s.Fail, h, "standin_fail")
	purego.RegisterLibFunc(&s.struck, h, "standin_struck")
	purego.RegisterLibFunc(&s.counts, h, "standin_counts")
	purego.RegisterLibFunc(&s.kernels, h, "standin_launches")
	purego.RegisterLibFunc(&s.mend, h, "standin_mend")
	s.mend()
	s.Set("late", 0)
	t.Setenv(host.LibraryVariable, path)
	t.Setenv("PENSTOCK_LIBNVML", filepath.Join(filepath.Dir(path), managementName))
	return s
}

// Manage sets what the library of management says: percent of the time in kernels, bytes of memory in use, generation and
// width of the link. What is below 0 it does not know. It gives how often the library is in use.
func (s *Library) Manage(t testing.TB, busy, used, generation, width int64) (users int32) {
	t.Helper()
	h, err := purego.Dlopen(filepath.Join(filepath.Dir(s.Path), managementName), purego.RTLD_NOW)
	require.NoError(t, err)
	var set func(busy, used, generation, width int64) int32
	purego.RegisterLibFunc(&set, h, "standin_nvml")
	return set(busy, used, generation, width)
}

// Read reads the counters.
func (s *Library) Read() (c Counters) {
	var a [12]uint64
	s.counts(&a[0], int32(len(a)))
	return Counters{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]}
}

// Launches gives the launches since [New], at most 256, in the order in which they were asked for.
func (s *Library) Launches() []Launch {
	all := make([]Launch, 256)
	return all[:s.kernels(&all[0], int32(len(all)))]
}

// left says what was not given back; "" is nothing.
func (s *Library) left(lost bool) string {
	c := s.Read()
	kept := c.DeviceBytes + c.LockedBytes + c.Contexts + c.NoContext
	if lost { // with the context
		kept = 0
	}
	if kept+c.Streams+c.Events > 0 {
		return fmt.Sprintf("%+v", c)
	}
	return ""
}
