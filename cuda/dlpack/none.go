//go:build !linux || !(amd64 || arm64) || nocuda

package dlpack

import "errors"

func callback(func(uintptr)) (uintptr, error) {
	return 0, errors.New("this program was built without calls from C: they need linux on amd64 or arm64, and not the tag nocuda")
}
