package gorgonia

import "github.com/penstock-go/penstock/cuda"

// Backend opens devices by gorgonia.org/cu.
type Backend struct{}

// Name is "gorgonia".
func (Backend) Name() string { return "gorgonia" }

// Open opens the device of a number.
func (Backend) Open(number int) (cuda.Device, error) { return open(number) }
