//go:build !linux || !(amd64 || arm64) || nocuda

package driver

import (
	"fmt"
	"runtime"

	"github.com/penstock-go/penstock/cuda"
)

func open(int) (cuda.Device, error) {
	return nil, fmt.Errorf("%w: this program was built without it (%s/%s, or the tag nocuda)", cuda.ErrNoDriver, runtime.GOOS, runtime.GOARCH)
}
