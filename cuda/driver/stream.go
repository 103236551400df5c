//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/internal/host"
)

type stream struct {
	d      *device
	handle uintptr
	owned  bool
}

func (d *device) NewStream(urgent bool) (cuda.Stream, error) {
	const nonBlocking = 1 // it does not wait for the legacy default stream, nor that for it
	s := &stream{d: d, owned: true}
	priority := d.low
	if urgent {
		priority = d.high
	}
	if err := d.do(cuStreamCreateWithPriority, uintptr(unsafe.Pointer(&s.handle)), nonBlocking, uintptr(uint32(priority))); err != nil {
		return nil, err
	}
	return s, nil
}

func (d *device) Stream(handle uintptr) cuda.Stream { return &stream{d: d, handle: handle} }

func (s *stream) Handle() uintptr { return s.handle }

func (s *stream) CopyIn(dst cuda.Ptr, src []byte) error {
	err := s.d.do(cuMemcpyHtoDAsync, uintptr(dst), host.At(src), uintptr(len(src)), s.handle)
	runtime.KeepAlive(src)
	return err
}

func (s *stream) CopyOut(dst []byte, src cuda.Ptr) error {
	err := s.d.do(cuMemcpyDtoHAsync, host.At(dst), uintptr(src), uintptr(len(dst)), s.handle)
	runtime.KeepAlive(dst)
	return err
}

func (s *stream) Record(e cuda.Event) error {
	return s.d.do(cuEventRecord, e.(*event).handle, s.handle)
}

func (s *stream) Wait(e cuda.Event) error {
	return s.d.do(cuStreamWaitEvent, s.handle, e.(*event).handle, 0)
}

func (s *stream) Sync() error { return s.d.do(cuStreamSynchronize, s.handle) }

func (s *stream) Close() error {
	if !s.owned {
		return nil
	}
	s.owned = false
	return s.d.do(cuStreamDestroy, s.handle)
}

// Spin runs one thread of the device that looks at its clock.
func (s *stream) Spin(took time.Duration) error {
	f, err := s.d.spinner()
	if err != nil {
		return err
	}
	ns := uint64(max(took, 0))
	args := [1]unsafe.Pointer{unsafe.Pointer(&ns)}
	err = s.d.do(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, s.handle, uintptr(unsafe.Pointer(&args)), 0)
	runtime.KeepAlive(&ns)
	return err
}

// spinner loads the kernel, once.
func (d *device) spinner() (uintptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spin != 0 {
		return d.spin, nil
	}
	source, name := append([]byte(host.SpinSource), 0), append([]byte(host.SpinName), 0)
	var module, f uintptr
	if err := d.do(cuModuleLoadData, uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&source[0]))); err != nil {
		return 0, err
	}
	if err := d.do(cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
		return 0, err
	}
	d.spin = f
	return f, nil
}

type event struct {
	d      *device
	handle uintptr
}

func (d *device) NewEvent() (cuda.Event, error) {
	const blockingSync = 1 // who waits sleeps
	e := &event{d: d}
	if err := d.do(cuEventCreate, uintptr(unsafe.Pointer(&e.handle)), blockingSync); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *event) Done() (bool, error) {
	const notReady = 600
	err := e.d.do(cuEventQuery, e.handle)
	if x, ok := errors.AsType[*cuda.Error](err); ok && x.Code == notReady {
		return false, nil
	}
	return err == nil, err
}

func (e *event) Sync() error  { return e.d.do(cuEventSynchronize, e.handle) }
func (e *event) Close() error { return e.d.do(cuEventDestroy, e.handle) }

func (e *event) Since(earlier cuda.Event) (time.Duration, error) {
	var ms float32 // written through a pointer: no float crosses the call
	err := e.d.do(cuEventElapsedTime, uintptr(unsafe.Pointer(&ms)), earlier.(*event).handle, e.handle)
	return time.Duration(float64(ms) * 1e6), err
}
