package cuda

import (
	"errors"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// handle is a batch on the device. It implements [item.DeviceHandle].
type handle struct {
	c       *copier
	slot    *slot
	flight  *flight
	lane    *lane // that it was entered by; nil: none
	step    *step
	entered bool
}

func (h *handle) Device() string   { return h.c.link.name }
func (h *handle) Address() uintptr { return uintptr(h.slot.at) }
func (h *handle) Wait() error      { return h.flight.end.Sync() }

func (h *handle) Ready() bool {
	done, err := h.flight.end.Done()
	return done && err == nil
}

var (
	errEntered = errors.New("the batch has been entered already; leave it first")
	errOutside = errors.New("the batch has not been entered")
	errOver    = errors.New("the run has ended; enter a batch before that, after it there is only Wait")
)

// Enter lets a stream wait for the copy.
func (h *handle) Enter(stream uintptr) error {
	if h.entered {
		return errEntered
	}
	h.c.gate.Lock() // others who enter another stream meanwhile would close this lane
	defer h.c.gate.Unlock()
	l, err := h.c.laneOf(stream)
	if err != nil {
		return err
	}
	if h.step, err = l.enter(h.flight.end, h.slot.b.Epoch); err != nil {
		return err
	}
	h.lane, h.entered = l, true
	return nil
}

// Busy puts modelled work in.
func (h *handle) Busy(d time.Duration) error {
	if !h.entered {
		return errOutside
	}
	return h.lane.stream.Spin(d)
}

// Leave marks the last use.
func (h *handle) Leave() (item.DeviceMark, error) {
	if !h.entered {
		return nil, errOutside
	}
	h.entered = false
	s := h.step
	if err := h.lane.leave(s, h.slot.used); err != nil {
		return nil, err
	}
	h.slot.was = true
	return mark{h.lane, s}, nil
}

// release is what the release of the batch does.
func (h *handle) release() {
	if h.entered {
		if _, err := h.Leave(); err != nil {
			h.c.env.Fail(err)
		}
	}
	h.flight.done()
	h.c.put(h.slot)
}

// laneOf is the lane of a stream. A consumer that changes its stream all the time gets a new one each time. With gate held.
func (p *copier) laneOf(stream uintptr) (*lane, error) {
	at := &p.lanes[min(stream, 1)]
	l, ok := at.Load().(*lane)
	if ok && (stream == 0 || l.stream.Handle() == stream) {
		return l, nil
	}
	if p.gone {
		return nil, errOver
	}
	n := &lane{dev: p.link.dev, own: stream == 0, epoch: -1}
	if ok {
		if err := l.close(); err != nil {
			return nil, err
		}
		n.sums = l.sums
	}
	var err error
	if n.own {
		if n.stream, err = p.link.dev.NewStream(false); err != nil {
			return nil, err
		}
	} else {
		n.stream = p.link.dev.Stream(stream)
	}
	at.Store(n)
	return n, nil
}

// lane is a stream of the consumer, and what is measured on it: when it began with each batch, and when it was done.
type lane struct {
	dev    Device
	stream Stream
	own    bool

	mu      sync.Mutex
	steps   []*step // that are not over
	last    Event   // end of the last one that is
	epoch   int64   // of it
	events  []Event // that may be used again
	ended   []Event // and when nobody waits for one any more
	waiters int
	closed  bool
	sums    sums
}

type sums struct {
	steps                  int64
	busy, idle, steadyIdle time.Duration
}

// step is one use of a batch. before is when the stream had nothing else left to do.
type step struct {
	before, start, end Event
	epoch              int64
	over               bool
	err                error
}

func (l *lane) event() (Event, error) {
	if n := len(l.events); n > 0 {
		e := l.events[n-1]
		l.events = l.events[:n-1]
		return e, nil
	}
	return l.dev.NewEvent()
}

// enter begins a step on a batch whose copy ends at ready.
func (l *lane) enter(ready Event, epoch int64) (s *step, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errOver
	}
	if err = l.settle(); err != nil {
		return nil, err
	}
	s = &step{epoch: epoch}
	if s.before, err = l.event(); err == nil {
		s.start, err = l.event()
	}
	if err == nil {
		err = l.stream.Record(s.before)
	}
	if err == nil {
		err = l.stream.Wait(ready)
	}
	if err == nil {
		err = l.stream.Record(s.start)
	}
	if err != nil {
		l.lose(s)
	}
	return s, err
}

// lose gives the events of a step up that is not counted.
func (l *lane) lose(s *step) {
	for _, e := range []Event{s.before, s.start, s.end} {
		if e != nil {
			l.ended = append(l.ended, e)
		}
	}
}

// leave ends a step, and with it the use of a slot.
func (l *lane) leave(s *step, used Event) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.leaveLate(s, used)
	}
	if s.end, err = l.event(); err == nil {
		err = l.stream.Record(s.end)
	}
	if err != nil {
		l.lose(s)
		return err
	}
	l.steps = append(l.steps, s)
	return l.stream.Record(used)
}

// leaveLate ends a step that the lane was closed in: of a batch that was kept beyond the run, or while another stream was
// entered. It is not counted. The device's own stream is gone, and its work over; another's is waited for. With mu held.
func (l *lane) leaveLate(s *step, used Event) error {
	s.over = true
	err := errors.Join(s.before.Close(), s.start.Close())
	if !l.own {
		err = errors.Join(err, l.stream.Record(used), used.Sync())
	}
	return err
}

// settle counts the steps that are over. With mu held.
func (l *lane) settle() error {
	for len(l.steps) > 0 {
		s := l.steps[0]
		done, err := s.end.Done()
		if err != nil || !done {
			return err
		}
		l.steps = l.steps[1:]
		if s.err = l.add(s); s.err != nil { // the device was lost in between
			l.lose(s)
			return s.err
		}
		s.over = true
	}
	if l.waiters == 0 {
		l.events = append(l.events, l.ended...)
		l.ended = l.ended[:0]
	}
	return nil
}

// add counts a step. On the device's own stream everything between two steps is idle time; on another's, where other
// work may run between them, only what it waited for the copy.
func (l *lane) add(s *step) error {
	busy, err := s.end.Since(s.start)
	if err != nil {
		return err
	}
	since := s.before
	if l.own && l.last != nil {
		since = l.last
	}
	idle, err := s.start.Since(since)
	if err != nil {
		return err
	}
	first := l.sums.steps == 0
	l.sums.steps++
	if !first {
		l.sums.busy += busy
		l.sums.idle += idle
		if s.epoch == l.epoch {
			l.sums.steadyIdle += idle
		}
	}
	l.epoch = s.epoch
	l.events = append(l.events, s.before, s.start)
	if l.last != nil {
		l.ended = append(l.ended, l.last)
	}
	l.last = s.end
	return nil
}

func (l *lane) read(s *graph.DeviceStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Steps += l.sums.steps
	s.Busy += l.sums.busy
	s.Idle += l.sums.idle
	s.SteadyIdle += l.sums.steadyIdle
}

// close waits for the steps that were put in.
func (l *lane) close() error {
	var err error
	if l.own {
		err = l.stream.Sync()
	} else if l.mu.Lock(); len(l.steps) > 0 {
		err = l.steps[len(l.steps)-1].end.Sync()
		l.mu.Unlock()
	} else {
		l.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.settle(); err == nil {
		err = e
	}
	for _, s := range l.steps {
		l.lose(s)
	}
	if l.last != nil {
		l.ended = append(l.ended, l.last)
		l.last = nil
	}
	for _, e := range append(l.events, l.ended...) {
		_ = e.Close()
	}
	l.events, l.ended, l.steps, l.closed = nil, nil, nil, true
	if l.own {
		if e := l.stream.Close(); err == nil {
			err = e
		}
	}
	return err
}

// mark is the end of a step.
type mark struct {
	l *lane
	s *step
}

// Wait holds the caller until the step is over.
func (m mark) Wait() error {
	l := m.l
	l.mu.Lock()
	over, err := m.s.over, m.s.err
	l.waiters++
	l.mu.Unlock()
	if !over && err == nil {
		err = m.s.end.Sync()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiters--
	if e := l.settle(); err == nil {
		err = e
	}
	return err
}
