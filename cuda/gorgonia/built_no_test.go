//go:build !gorgonia || !cgo || !linux || !(amd64 || arm64)

package gorgonia_test

const built = false
