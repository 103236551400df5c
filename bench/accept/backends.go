//go:build !gorgonia || !cgo || !linux || !(amd64 || arm64)

package main

import (
	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/driver"
)

func backends() map[string]cuda.Backend { return map[string]cuda.Backend{"driver": driver.Backend{}} }
