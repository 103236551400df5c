//go:build gorgonia && cgo && linux && (amd64 || arm64)

package gorgonia

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
)

type stream struct {
	d     *device
	s     cu.Stream
	owned bool
}

func (d *device) NewStream(urgent bool) (cuda.Stream, error) {
	s := &stream{d: d, owned: true}
	priority := d.low
	if urgent {
		priority = d.high
	}
	err := d.do("cuStreamCreateWithPriority", func() (err error) {
		s.s, err = cu.MakeStreamWithPriority(priority, cu.NonBlocking)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Stream is that of a number: a cu.Stream is the driver's pointer and nothing else.
func (d *device) Stream(handle uintptr) cuda.Stream {
	return &stream{d: d, s: *(*cu.Stream)(unsafe.Pointer(&handle))}
}

var _ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.Stream{})]byte{}

func (s *stream) Handle() uintptr { return uintptr(unsafe.Pointer(s.s.C())) }

func (s *stream) CopyIn(dst cuda.Ptr, src []byte) error {
	return s.d.do("cuMemcpyHtoDAsync_v2", func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(dst), unsafe.Pointer(unsafe.SliceData(src)), int64(len(src)), s.s)
	})
}

func (s *stream) CopyOut(dst []byte, src cuda.Ptr) error {
	return s.d.do("cuMemcpyDtoHAsync_v2", func() error {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(dst)), cu.DevicePtr(src), int64(len(dst)), s.s)
	})
}

func (s *stream) Record(e cuda.Event) error {
	return s.d.do("cuEventRecord", func() error { return e.(*event).e.Record(s.s) })
}

func (s *stream) Wait(e cuda.Event) error {
	return s.d.do("cuStreamWaitEvent", func() error { return s.s.Wait(e.(*event).e, 0) })
}

func (s *stream) Sync() error { return s.d.do("cuStreamSynchronize", s.s.Synchronize) }

func (s *stream) Close() error {
	if !s.owned {
		return nil
	}
	s.owned = false
	return s.d.end("cuStreamDestroy_v2", s.s.Destroy)
}

// Spin runs one thread of the device that looks at its clock.
func (s *stream) Spin(took time.Duration) error {
	f, err := s.d.spinner()
	if err != nil {
		return err
	}
	ns := uint64(max(took, 0)) // Launch reads eight bytes of each argument
	err = s.d.do("cuLaunchKernel", func() error { return f.Launch(1, 1, 1, 1, 1, 1, 0, s.s, []unsafe.Pointer{unsafe.Pointer(&ns)}) })
	runtime.KeepAlive(&ns)
	return err
}

// spinner loads the kernel, once.
func (d *device) spinner() (cu.Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready {
		return d.spin, nil
	}
	var m cu.Module
	err := d.do("cuModuleLoadData", func() (err error) {
		m, err = cu.LoadData(host.SpinSource)
		return err
	})
	if err == nil {
		err = d.do("cuModuleGetFunction", func() (err error) {
			d.spin, err = m.Function(host.SpinName)
			return err
		})
	}
	d.ready = err == nil
	return d.spin, err
}

type event struct {
	d *device
	e cu.Event
}

func (d *device) NewEvent() (cuda.Event, error) {
	e := &event{d: d}
	err := d.do("cuEventCreate", func() (err error) {
		e.e, err = cu.MakeEvent(cu.BlockingSyncEvent) // who waits sleeps
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (e *event) Done() (bool, error) {
	const notReady = 600
	err := e.d.do("cuEventQuery", e.e.Query)
	if x, ok := errors.AsType[*cuda.Error](err); ok && x.Code == notReady {
		return false, nil
	}
	return err == nil, err
}

func (e *event) Sync() error { return e.d.do("cuEventSynchronize", e.e.Synchronize) }

func (e *event) Close() error {
	return e.d.end("cuEventDestroy_v2", func() error { return cu.DestroyEvent(&e.e) })
}

func (e *event) Since(earlier cuda.Event) (took time.Duration, err error) {
	err = e.d.do("cuEventElapsedTime", func() error {
		ms, err := earlier.(*event).e.Elapsed(e.e)
		took = time.Duration(ms * 1e6)
		return err
	})
	return took, err
}
