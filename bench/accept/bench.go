package main

import (
	"errors"

	"github.com/penstock-go/penstock/cuda"
)

// bench is what one measurement takes of the device, and gives back at its end. After an error it takes nothing more.
type bench struct {
	d    cuda.Device
	err  error
	ends []func() error
}

func (b *bench) took(err error, end func() error) {
	if b.err = err; err == nil {
		b.ends = append(b.ends, end)
	}
}

func (b *bench) stream() (s cuda.Stream) {
	if b.err == nil {
		var err error
		s, err = b.d.NewStream(true)
		b.took(err, func() error { return errors.Join(s.Sync(), s.Close()) })
	}
	return s
}

func (b *bench) event() (e cuda.Event) {
	if b.err == nil {
		var err error
		e, err = b.d.NewEvent()
		b.took(err, func() error { return e.Close() })
	}
	return e
}

func (b *bench) alloc(n int) (p cuda.Ptr) {
	if b.err == nil {
		var err error
		p, err = b.d.Alloc(n)
		b.took(err, func() error { return b.d.Free(p) })
	}
	return p
}

func (b *bench) locked(n int) (m []byte) {
	if b.err == nil {
		var err error
		m, err = b.d.Map(n)
		b.took(err, func() error { return b.d.Unmap(m) })
	}
	if b.err == nil {
		b.took(b.d.Lock(m), func() error { return b.d.Unlock(m) })
	}
	return m
}

// close gives all back, the last first. So streams are to be taken last: they end their work before its memory goes.
func (b *bench) close() (err error) {
	for i := len(b.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, b.ends[i]())
	}
	return err
}
