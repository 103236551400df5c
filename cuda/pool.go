package cuda

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/graph"
)

// maxPiece bounds what is page-locked in one call: larger ones fail on some systems, and hold up the others on all.
const maxPiece = 1 << 30

// pool is the page-locked memory of a run. Slabs are taken while the ring of batches grows, handed out at once, and
// page-locked in the background meanwhile. It implements [graph.Slabs].
type pool struct {
	dev   Device
	limit int64 // bytes
	knob  string
	tell  func(line string) // of a ring that is shorter than asked for

	mu    sync.Mutex
	slabs map[*byte]*pinned
	todo  []*pinned
	bytes int64
	most  int64
	wake  chan struct{}
	stall atomic.Int64
	kept  int  // batches that the consumer holds beyond the run's end, perhaps
	over  bool // the run has ended: nothing is locked any more
	shut  bool // and nobody but the consumer uses slabs
}

// pinned is one piece of page-locked memory.
type pinned struct {
	mem   []byte
	ready chan struct{} // closed when it is locked, or err is set
	err   error
	done  int // bytes of it that are locked
}

func newPool(dev Device, limit int64, knob string, tell func(string)) *pool {
	return &pool{dev: dev, limit: limit, knob: knob, tell: tell, slabs: map[*byte]*pinned{}, wake: make(chan struct{}, 1)}
}

// Slab maps memory and leaves the locking to the background.
func (p *pool) Slab(n int) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes+int64(n) > p.limit {
		return nil, p.tooMuch(1+len(p.slabs), int64(n))
	}
	mem, err := p.dev.Map(n)
	if err != nil {
		return nil, fmt.Errorf("%d page-locked batches of %s: %w", 1+len(p.slabs), graph.SizeText(int64(n)), err)
	}
	s := &pinned{mem: mem, ready: make(chan struct{})}
	p.slabs[unsafe.SliceData(mem)] = s
	p.bytes += int64(n)
	p.most = max(p.most, p.bytes)
	if p.over {
		s.fail(context.Canceled)
		return mem, nil
	}
	p.todo = append(p.todo, s)
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return mem, nil
}

// Ring bounds the number of slabs by the limit of page-locked memory.
func (p *pool) Ring(each int64, slabs, least int) (int, error) {
	fit := int(p.limit / max(each, 1))
	if fit < least {
		return 0, p.tooMuch(least, each)
	}
	if fit < slabs {
		p.tell(fmt.Sprintf("page-locked memory is limited to %s, which leaves room for %d batches of %s instead of %d; %s",
			graph.SizeText(p.limit), fit, graph.SizeText(each), slabs, p.knob))
		slabs = fit
	}
	return slabs, nil
}

func (p *pool) tooMuch(n int, each int64) error {
	return fmt.Errorf("%d page-locked batches of %s need %s, the limit is %s; make the batch smaller or %s",
		n, graph.SizeText(each), graph.SizeText(int64(n)*each), graph.SizeText(p.limit), p.knob)
}

// Stalled adds to the time for which batches could not be begun.
func (p *pool) Stalled(d time.Duration) { p.stall.Add(int64(d)) }

// find is the slab that a batch lies in, or nil.
func (p *pool) find(mem []byte) *pinned {
	if len(mem) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slabs[unsafe.SliceData(mem)]
}

// lock page-locks slabs until the run is over.
func (p *pool) lock(ctx context.Context) {
	for {
		select {
		case <-p.wake:
		case <-ctx.Done():
			p.stop(context.Cause(ctx))
			return
		}
		for ctx.Err() == nil {
			s := p.next()
			if s == nil {
				break
			}
			s.lock(p.dev)
		}
	}
}

// next takes a slab that is to be locked, or nil.
func (p *pool) next() *pinned {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.todo) == 0 {
		return nil
	}
	s := p.todo[0]
	p.todo = p.todo[1:]
	return s
}

// stop lets go of whoever waits for a slab that will not be locked.
func (p *pool) stop(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, s := range p.todo {
		s.fail(err)
	}
	p.todo = nil
}

func (s *pinned) fail(err error) {
	s.err = err
	close(s.ready)
}

// lock page-locks a slab, piece by piece.
func (s *pinned) lock(dev Device) {
	for s.done < len(s.mem) {
		n := min(len(s.mem)-s.done, maxPiece)
		if err := dev.Lock(s.mem[s.done : s.done+n]); err != nil {
			s.fail(fmt.Errorf("a batch's memory of %s: %w", graph.SizeText(int64(len(s.mem))), err))
			return
		}
		s.done += n
	}
	close(s.ready)
}

func (s *pinned) unlock(dev Device) (err error) {
	for at := 0; at < s.done; at += maxPiece {
		if e := dev.Unlock(s.mem[at:min(at+maxPiece, s.done)]); e != nil && err == nil {
			err = e
		}
	}
	s.done = 0
	return err
}

// wait holds the caller until the slab is locked.
func (s *pinned) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return s.err
	default:
	}
	select {
	case <-s.ready:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keep counts batches that the consumer holds on to.
func (p *pool) keep(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept += n; p.shut && p.kept == 0 {
		p.unmap()
	}
}

// close ends the page-locking, and gives the memory back as soon as the consumer holds no batch of it.
func (p *pool) close() error {
	p.stop(context.Canceled)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	var err error
	for _, s := range p.slabs {
		if e := s.unlock(p.dev); e != nil && err == nil && !sticky(e) {
			err = e
		}
	}
	if p.kept == 0 {
		p.unmap()
	}
	return err
}

func (p *pool) unmap() {
	for _, s := range p.slabs {
		_ = p.dev.Unmap(s.mem)
	}
	p.slabs, p.bytes = nil, 0
}

// peak is the most memory that there was.
func (p *pool) peak() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// mostPinned bounds page-locked memory without a limit of the user's: the system cannot move or reclaim it.
const mostPinned = 8 << 30

// PinLimit is how much memory pin page-locks at most on a machine, in bytes, and what to change where that is too little.
// asked is what the user allows, 0 without a limit of theirs.
func PinLimit(asked int64, m graph.Machine) (limit int64, knob string) {
	limit, knob = mostPinned, "raise pin.limit"
	if asked > 0 {
		limit = asked
	} else if m.MemoryLimit > 0 {
		limit = min(limit, m.MemoryLimit/4)
	} else if m.Memory > 0 {
		limit = min(limit, m.Memory/4)
	}
	if m.MemoryFree > 0 && m.MemoryFree < limit {
		limit, knob = m.MemoryFree, "free memory: no more than that is available on this machine"
	}
	if m.MemoryLimit > 0 && m.MemoryLimit < limit {
		limit, knob = m.MemoryLimit, "raise the container's memory limit"
	}
	return limit, knob
}
