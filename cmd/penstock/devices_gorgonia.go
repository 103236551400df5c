//go:build gorgonia && cgo && linux && (amd64 || arm64)

package main

import (
	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/gorgonia"
)

func moreBackends() []cuda.Backend { return []cuda.Backend{gorgonia.Backend{}} }
