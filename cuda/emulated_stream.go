package cuda

import (
	"hash/maphash"
	"time"
)

// emulatedStream is a stream of an emulated device.
type emulatedStream struct {
	d *Emulated
	*queue
	handle uintptr
	owned  bool
}

// queue is the moment at which all that was put into a stream is done.
type queue struct{ end time.Time }

// NewStream makes a stream.
func (d *Emulated) NewStream(bool) (Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin("make a stream"); err != nil {
		return nil, err
	}
	d.seen["stream"]++
	d.count.Streams++
	s := &emulatedStream{d: d, queue: &queue{}, handle: firstHandle + uintptr(d.seen["stream"]), owned: true}
	d.queues[s.handle] = s.queue
	return s, nil
}

// firstHandle lies below the numbers of an emulated device's streams: others than its own have small ones in tests.
const firstHandle = 1 << 16

// Stream is the device's stream of a number. Others make none on an emulated device: of an unknown number it is a new one.
func (d *Emulated) Stream(handle uintptr) Stream {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[handle]
	if q == nil {
		q = &queue{}
	}
	return &emulatedStream{d: d, queue: q, handle: handle}
}

func (s *emulatedStream) Handle() uintptr { return s.handle }

// put adds an operation of a part of the device. With mu held.
func (s *emulatedStream) put(part int, took time.Duration, op string, code int, do func()) {
	d := s.d
	if d.cfg.Late != nil {
		took += d.cfg.Late()
	}
	start := latest(time.Now(), s.end, d.free[part])
	s.end = start.Add(took)
	d.free[part] = s.end
	d.todo = append(d.todo, todo{s.end, do, code, op})
}

func latest(t time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.After(t) {
			t = o
		}
	}
	return t
}

// copies is the time of a copy.
func (d *Emulated) copies(n int, rate float64) time.Duration {
	return d.cfg.Latency + time.Duration(float64(n)/rate*1e9)
}

func (s *emulatedStream) CopyIn(dst Ptr, src []byte) error {
	const op = "copy to the device"
	d := s.d
	d.mu.Lock()
	if err := d.begin(op); err != nil {
		d.mu.Unlock()
		return err
	}
	to := d.bytes(dst, len(src))
	if to == nil || len(src) == 0 {
		d.mu.Unlock()
		return fault(op, invalidValue)
	}
	d.count.Copies++
	d.count.Bytes += int64(len(src))
	code, rate, locked := d.asks("copy"), d.cfg.Rate, d.isLocked(src)
	if !locked { // the driver first waits for the stream, and copies piece by piece through memory of its own
		d.count.Staged++
		rate = d.cfg.Pageable
	}
	var seed maphash.Seed
	var hash uint64
	if d.cfg.Watch {
		seed = maphash.MakeSeed()
		hash = maphash.Bytes(seed, src)
	}
	s.put(copiesIn, d.copies(len(src), rate), op, code, func() {
		if d.cfg.Watch && maphash.Bytes(seed, src) != hash {
			d.count.Races++
		}
		copy(to, src)
	})
	d.mu.Unlock()
	if !locked {
		return s.Sync()
	}
	return nil
}

func (s *emulatedStream) CopyOut(dst []byte, src Ptr) error {
	const op = "copy from the device"
	d := s.d
	d.mu.Lock()
	if err := d.begin(op); err != nil {
		d.mu.Unlock()
		return err
	}
	from := d.bytes(src, len(dst))
	if from == nil || len(dst) == 0 {
		d.mu.Unlock()
		return fault(op, invalidValue)
	}
	locked := d.isLocked(dst)
	s.put(copiesOut, d.copies(len(dst), d.cfg.Rate), op, d.asks("copy"), func() { copy(dst, from) })
	d.mu.Unlock()
	if !locked {
		return s.Sync()
	}
	return nil
}

func (s *emulatedStream) Spin(took time.Duration) error {
	const op = "launch work"
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if err := s.d.begin(op); err != nil {
		return err
	}
	s.put(computing, s.d.cfg.Launch+took, op, s.d.asks("spin"), nil)
	return nil
}

func (s *emulatedStream) Record(e Event) error {
	v := e.(*emulatedEvent)
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if err := s.d.begin("record an event"); err != nil {
		return err
	}
	s.end = latest(time.Now(), s.end)
	v.at = s.end
	return nil
}

func (s *emulatedStream) Wait(e Event) error {
	v := e.(*emulatedEvent)
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if err := s.d.begin("wait for an event"); err != nil {
		return err
	}
	s.end = latest(s.end, v.at) // one that was never recorded is over
	return nil
}

func (s *emulatedStream) Sync() error {
	s.d.mu.Lock()
	end := s.end
	s.d.mu.Unlock()
	return s.d.until(end, "wait for a stream")
}

func (s *emulatedStream) Close() error {
	err := s.Sync()
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.owned {
		s.d.count.Streams--
		delete(s.d.queues, s.handle)
		s.owned = false
	}
	return err
}

// until waits for a moment of the device.
func (d *Emulated) until(at time.Time, op string) error {
	wait(time.Until(at))
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begin(op)
}

// emulatedEvent is a moment, known when it is recorded.
type emulatedEvent struct {
	d      *Emulated
	at     time.Time
	closed bool
}

// NewEvent makes an event.
func (d *Emulated) NewEvent() (Event, error) {
	const op = "make an event"
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(op); err != nil {
		return nil, err
	}
	if code := d.asks("event"); code != 0 {
		return nil, fault(op, code)
	}
	d.count.Events++
	return &emulatedEvent{d: d}, nil
}

func (e *emulatedEvent) Done() (bool, error) {
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	if err := e.d.begin("look at an event"); err != nil {
		return false, err
	}
	return !e.at.After(time.Now()), nil
}

func (e *emulatedEvent) Sync() error {
	e.d.mu.Lock()
	at := e.at
	e.d.mu.Unlock()
	return e.d.until(at, "wait for an event")
}

func (e *emulatedEvent) Since(earlier Event) (time.Duration, error) {
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	return e.at.Sub(earlier.(*emulatedEvent).at), e.d.begin("time an event")
}

func (e *emulatedEvent) Close() error {
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	if !e.closed {
		e.closed = true
		e.d.count.Events--
	}
	return nil
}
