package main

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/driver"
)

// backends open real devices: that on gorgonia.org/cu first, in a program that was built with it.
func backends() []cuda.Backend { return append(moreBackends(), driver.Backend{}) }

// firstOf are back ends that are tried one after the other.
type firstOf []cuda.Backend

func (firstOf) Name() string { return "first" }

func (f firstOf) Open(number int) (cuda.Device, error) {
	if len(f) == 1 {
		return f[0].Open(number)
	}
	var errs []error
	for _, b := range f {
		d, err := b.Open(number)
		if err == nil {
			return d, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", b.Name(), err))
	}
	return nil, errors.Join(errs...)
}
