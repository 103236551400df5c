//go:build !gorgonia || !cgo || !linux || !(amd64 || arm64)

package main

import "github.com/penstock-go/penstock/cuda"

func moreBackends() []cuda.Backend { return nil }
