package driver

import (
	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
)

// LibraryVariable names the file of the driver's library, where it is not where the system looks.
const LibraryVariable = host.LibraryVariable

// Backend opens devices by the driver's library.
type Backend struct{}

// Name is "driver".
func (Backend) Name() string { return "driver" }

// Open opens the device of a number.
func (Backend) Open(number int) (cuda.Device, error) { return open(number) }
