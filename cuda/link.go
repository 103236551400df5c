package cuda

import (
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph"
)

// link is what the stages of a run that work with one device have in common: the device, and what was copied to it.
type link struct {
	name string
	dev  Device
	pool *pool // nil without pin

	copied, staged, copies, bytes, copyTime atomic.Int64

	mu    sync.Mutex
	holds int // by the run, and by device memory that the consumer keeps beyond its end
}

// linkOf opens a device once for a run.
func linkOf(env *graph.Env, c DeviceCopy) (*link, error) {
	v, err := env.Shared("device "+c.Device, func() (any, func() error, error) {
		dev, err := Open(c.Device, c.Backends...)
		if err != nil {
			return nil, nil, err
		}
		l := &link{name: c.Device, dev: dev, holds: 1}
		return l, l.leave, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*link), nil
}

func (l *link) hold() {
	l.mu.Lock()
	l.holds++
	l.mu.Unlock()
}

// leave gives up a hold; the last closes the device.
func (l *link) leave() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds--; l.holds > 0 {
		return nil
	}
	return l.dev.Close()
}
