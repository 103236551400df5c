//go:build !gorgonia || !cgo || !linux || !(amd64 || arm64)

package gorgonia

import (
	"fmt"
	"runtime"

	"github.com/penstock-go/penstock/cuda"
)

func open(int) (cuda.Device, error) {
	return nil, fmt.Errorf("%w: this program was built without it (%s/%s): it needs cgo and the tag gorgonia, see its documentation",
		cuda.ErrNoDriver, runtime.GOOS, runtime.GOARCH)
}
