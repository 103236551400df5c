package nvml

import (
	"errors"
	"sync"

	"github.com/penstock-go/penstock/cuda"
)

var errClosed = errors.New("the device is closed")

// Watch asks one device, whose library is loaded when it is asked first. Its zero value is of no device.
type Watch struct {
	Place string // on the bus

	mu     sync.Mutex
	dev    *Device
	err    error
	closed bool
}

// Use asks the device.
func (w *Watch) Use() (cuda.Use, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dev == nil && w.err == nil && !w.closed {
		w.dev, w.err = Open(w.Place)
	}
	if w.dev == nil {
		return cuda.Use{}, w.err
	}
	return w.dev.Use()
}

// Close gives the library up.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dev != nil {
		w.dev.Close()
	}
	w.dev, w.closed = nil, true
	if w.err == nil {
		w.err = errClosed
	}
}
