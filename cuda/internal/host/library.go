package host

import (
	"fmt"
	"os"
	"strings"
)

// LibraryVariable names the file of the driver's library, where it is not where the system looks.
const LibraryVariable = "PENSTOCK_LIBCUDA"

// Library is the name of the driver's library.
func Library() string {
	if name := os.Getenv(LibraryVariable); name != "" {
		return name
	}
	return "libcuda.so.1"
}

// Bus is where the system lists what is on its bus.
const Bus = "/sys/bus/pci/devices"

// DriverFile is where the system says that it has a driver.
const DriverFile = "/proc/driver/nvidia/version"

// Hint says what to do where the system has a driver and the process does not see its library; else it is empty. file is
// [DriverFile].
func Hint(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return fmt.Sprintf("; the system has a driver (%s), so this is a container without its library: start it with "+
		"NVIDIA_DRIVER_CAPABILITIES=compute,utility, utility alone is not enough", strings.TrimSpace(line))
}
