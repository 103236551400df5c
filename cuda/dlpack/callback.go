//go:build linux && (amd64 || arm64) && !nocuda

package dlpack

import "github.com/ebitengine/purego"

// callback makes a function of C.
func callback(f func(self uintptr)) (uintptr, error) {
	return purego.NewCallback(func(self uintptr) uintptr {
		f(self)
		return 0
	}), nil
}
