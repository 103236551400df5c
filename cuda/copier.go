package cuda

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// copier is a running device_copy.
type copier struct {
	ctx    context.Context
	env    *graph.Env
	link   *link
	stream Stream
	depth  int
	back   chan struct{} // a slot came back
	flying chan *flight  // copies that were ordered, for the reaper
	gauge  gauge
	lanes  [2]atomic.Value // of type *lane: the device's own stream for its consumer, and the last one of another's

	gate sync.Mutex // held while a lane is made or entered
	gone bool       // no more are

	mu    sync.Mutex
	free  []*slot
	used  int      // slots that are not free
	extra int      // of these for batches that the consumer keeps
	spare []flight // recycled events
	over  bool
}

// slot is a place for one batch in the device's memory.
type slot struct {
	at   Ptr
	size int
	used Event // after the consumer's last use
	was  bool  // it has been used
	b    item.Batch
	h    handle
}

// flight is one copy on its way. Its events are used again when both the reaper and the batch's handle are done with it.
type flight struct {
	c          *copier
	in         *item.Batch
	start, end Event
	users      atomic.Int32
}

func newCopier(ctx context.Context, env *graph.Env, l *link, depth int) (*copier, error) {
	s, err := l.dev.NewStream(true)
	if err != nil {
		return nil, err
	}
	return &copier{ctx: ctx, env: env, link: l, stream: s, depth: depth, back: make(chan struct{}, 1), flying: make(chan *flight, 64)}, nil
}

// copy orders the copy of a batch and hands on the batch on the device.
func (p *copier) copy(c *graph.Call, in *item.Batch) (*item.Batch, error) {
	size := len(in.Slab)
	whole := inOnePiece(in) && size > 0
	if !whole {
		size = layoutOf(in)
	}
	s, err := p.take(c, max(size, 1))
	if err != nil {
		return nil, err
	}
	f, err := p.order(s, in, whole)
	if err != nil {
		p.put(s)
		return nil, err
	}
	out := &s.b
	label(out, in)
	if !whole {
		offsets(out, in)
	}
	out.Place, out.Handle, s.h = item.Device, &s.h, handle{c: p, slot: s, flight: f}
	out.OnRelease(s.h.release)
	f.in = in
	if p.env.Sync {
		if err := f.land(); err != nil {
			p.env.Fail(err) // the batch is not the engine's any more
		}
		return out, nil
	}
	select {
	case p.flying <- f:
	case <-c.Context().Done():
		_ = f.land()
	}
	return out, nil
}

// offsets says where the columns of a batch lie that were copied one by one.
func offsets(out, in *item.Batch) {
	at := 0
	for i := range in.Columns {
		out.Columns[i].Offset = at
		at += (len(in.Columns[i].Data) + item.Align - 1) &^ (item.Align - 1)
	}
}

// order puts the copy in. If it fails nothing is under way.
func (p *copier) order(s *slot, in *item.Batch, whole bool) (*flight, error) {
	f, err := p.newFlight()
	if err != nil {
		return nil, err
	}
	if s.was { // the device waits for the consumer's stream, not the host
		err = p.stream.Wait(s.used)
	}
	if err == nil {
		err = p.stream.Record(f.start)
	}
	n := 0
	if whole && err == nil {
		if n = end(in); n > 0 {
			err = p.stream.CopyIn(s.at, in.Slab[:n])
		}
	}
	for i, at := 0, 0; i < len(in.Columns) && !whole && err == nil; i++ {
		if d := in.Columns[i].Data; len(d) > 0 {
			err = p.stream.CopyIn(s.at+Ptr(at), d)
			n += len(d)
			at += (len(d) + item.Align - 1) &^ (item.Align - 1)
		}
	}
	if err == nil {
		err = p.stream.Record(f.end)
	}
	if err != nil {
		_ = p.stream.Sync() // what was ordered still reads the batch
		p.recycle(f)
		return nil, err
	}
	p.link.copies.Add(1)
	p.link.bytes.Add(int64(n))
	if in.Place != item.Pinned {
		p.link.staged.Add(1)
	}
	return f, nil
}

// take gives a slot with room for n bytes.
func (p *copier) take(c *graph.Call, n int) (s *slot, err error) {
	for s == nil {
		p.mu.Lock()
		if p.used < p.depth+p.extra {
			if len(p.free) > 0 && p.used+len(p.free) >= p.depth { // the one that came back first
				s, p.free = p.free[0], p.free[1:]
			} else {
				s = &slot{}
			}
			p.used++
		}
		p.mu.Unlock()
		if s == nil {
			if err := c.Room(func() error { return await(c.Context(), p.back) }); err != nil {
				return nil, err
			}
		}
	}
	if err := p.fit(s, n); err != nil {
		p.put(s)
		return nil, fmt.Errorf("%d batches of %s on the device: %w; lower depth, or make the batch smaller", p.depth, graph.SizeText(int64(n)), err)
	}
	return s, nil
}

// fit sees to it that a slot has n bytes.
func (p *copier) fit(s *slot, n int) (err error) {
	if s.used == nil {
		if s.used, err = p.link.dev.NewEvent(); err != nil {
			return err
		}
	}
	if s.size >= n {
		return nil
	}
	if err := p.drop(s); err != nil {
		return err
	}
	if s.at, err = p.link.dev.Alloc(n); err == nil {
		s.size = n
	}
	return err
}

// drop gives a slot's memory back to the device, once it is not used any more.
func (p *copier) drop(s *slot) error {
	if s.size == 0 {
		return nil
	}
	if s.was {
		if err := s.used.Sync(); err != nil {
			return err
		}
	}
	s.size = 0
	return p.link.dev.Free(s.at)
}

// put takes a slot back.
func (p *copier) put(s *slot) {
	p.mu.Lock()
	over := p.over
	if !over {
		p.used--
		p.free = append(p.free, s)
	}
	p.mu.Unlock()
	if over { // the consumer kept it beyond the end of the run
		p.end(s)
		_ = p.link.leave()
		return
	}
	p.wakes()
}

func (p *copier) wakes() {
	select {
	case p.back <- struct{}{}:
	default:
	}
}

// keep makes room for what the consumer holds on to.
func (p *copier) keep(n int) {
	p.mu.Lock()
	p.extra += n
	p.mu.Unlock()
	p.wakes()
}

// newFlight takes two events.
func (p *copier) newFlight() (*flight, error) {
	f := &flight{c: p}
	p.mu.Lock()
	if n := len(p.spare); n > 0 {
		f.start, f.end = p.spare[n-1].start, p.spare[n-1].end
		p.spare = p.spare[:n-1]
	}
	p.mu.Unlock()
	f.users.Store(2)
	if f.start != nil {
		return f, nil
	}
	var err error
	if f.start, err = p.link.dev.NewEvent(); err != nil {
		return nil, err
	}
	if f.end, err = p.link.dev.NewEvent(); err != nil {
		_ = f.start.Close()
		return nil, err
	}
	return f, nil
}

// done gives up one of the two uses of a flight.
func (f *flight) done() {
	if f.users.Add(-1) == 0 {
		f.c.recycle(f)
	}
}

func (p *copier) recycle(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.spare = append(p.spare, flight{start: f.start, end: f.end})
		return
	}
	_ = f.start.Close()
	_ = f.end.Close()
}

// land waits for a copy, gives the host memory back, and counts.
func (f *flight) land() error {
	err := f.end.Sync()
	if err != nil { // the copy may still be reading the batch, unless the device is lost
		_ = f.c.stream.Sync()
	}
	f.in.Release()
	if err == nil {
		var took time.Duration
		if took, err = f.end.Since(f.start); err == nil {
			f.c.link.copyTime.Add(int64(took))
			f.c.env.Served(took)
		}
	}
	f.done()
	return err
}

// reap lands copies in the order in which they were put in, until the run ends.
func (p *copier) reap() {
	for {
		select {
		case f := <-p.flying:
			if err := f.land(); err != nil {
				p.env.Fail(err)
			}
			p.gauge.look(p.link.dev)
		case <-p.ctx.Done():
			return
		}
	}
}

// close waits for the device and gives back what is not with the consumer.
func (p *copier) close() error {
	err := p.stream.Sync()
	for more := true; more; {
		select {
		case f := <-p.flying:
			_ = f.land()
		default:
			more = false
		}
	}
	p.gate.Lock()
	p.gone = true
	p.gate.Unlock()
	for i := range p.lanes {
		if l, ok := p.lanes[i].Load().(*lane); ok {
			if e := l.close(); err == nil {
				err = e
			}
		}
	}
	p.mu.Lock()
	p.over = true
	slots := p.free
	for range p.used {
		p.link.hold() // until the consumer gives it back
	}
	p.free = nil
	for i := range p.spare {
		_ = p.spare[i].start.Close()
		_ = p.spare[i].end.Close()
	}
	p.spare = nil
	p.mu.Unlock()
	for _, s := range slots {
		p.end(s)
	}
	if e := p.stream.Close(); err == nil {
		err = e
	}
	return err
}

// end frees a slot. On a device that is lost there is nothing to free any more.
func (p *copier) end(s *slot) {
	_ = p.drop(s)
	if s.used != nil {
		_ = s.used.Close()
	}
}

// stats reads the numbers.
func (p *copier) stats() graph.DeviceStats {
	l, info := p.link, p.link.dev.Info()
	s := graph.DeviceStats{
		Name: l.name, Title: info.Name, Driver: info.Driver, Emulated: info.Emulated, Depth: p.depth,
		Copies: l.copies.Load(), Bytes: l.bytes.Load(), CopyTime: time.Duration(l.copyTime.Load()),
		CopiedBytes: l.copied.Load(), StagedCopies: l.staged.Load(),
	}
	if l.pool != nil {
		s.PinnedBytes, s.PoolStall = l.pool.peak(), time.Duration(l.pool.stall.Load())
	}
	s.Use, s.Unknown = p.gauge.read(), true
	for i := range p.lanes {
		if l, ok := p.lanes[i].Load().(*lane); ok {
			s.Unknown = false
			l.read(&s)
		}
	}
	return s
}
