package host

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// CPUWait is how long the threads of the process were ready to run and had no processor, all added up since they began.
// Only Linux tells, and not every build of it. What threads that have ended had waited is lost, so a later reading can
// be less than an earlier one; the threads of the Go runtime hardly ever end. It reads one small file for each thread.
func CPUWait() (time.Duration, bool) { return runDelay("/proc/self/task") }

// runDelay adds up the second number of each thread's schedstat: nanoseconds running, nanoseconds ready, turns.
func runDelay(dir string) (time.Duration, bool) {
	d, err := os.Open(dir)
	if err != nil {
		return 0, false
	}
	defer d.Close()
	threads, err := d.Readdirnames(-1)
	if err != nil {
		return 0, false
	}
	var sum time.Duration
	found := false
	for _, id := range threads {
		data, err := os.ReadFile(dir + "/" + id + "/schedstat")
		if err != nil { // ended since
			continue
		}
		f := strings.Fields(string(data))
		if len(f) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n >= 0 {
			sum, found = sum+time.Duration(n), true
		}
	}
	return sum, found
}
