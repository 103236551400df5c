//go:build !linux || !(amd64 || arm64) || nocuda

package nvml

import (
	"errors"

	"github.com/penstock-go/penstock/cuda"
)

// Device is none.
type Device struct{}

// Open finds no library.
func Open(string) (*Device, error) { return nil, errNone }

var errNone = errors.New("no NVML: this program was built without it")

// Close does nothing.
func (*Device) Close() {}

// Use knows nothing.
func (*Device) Use() (cuda.Use, error) { return cuda.Use{}, errNone }
