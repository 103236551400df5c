package edge

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// MaxSlice is the largest number of items that are handed over at once. Many workers take shorter slices, of at least
// fewSlice, so that all together do not hold more than maxHeld items: memory must not grow with the workers.
const (
	MaxSlice = 256
	fewSlice = 16
	maxHeld  = 1024
)

// Config is how an edge is made. Buffer and Window are in items; 0 is auto: they then follow the length k of the
// producers' slices and grow where the consumer lacks something, to 4k (at least two a producer, up to 512) and 4k a
// producer (fewer among many, see Leeway).
type Config struct {
	Buffer, Window       int
	Producers, Consumers int
	Ordered              bool
	Least                int  // an auto buffer holds at least so many
	Slabs                bool // the items hold slabs: auto follows their number, see Widen, and not k
}

// Edge is a bounded queue between the workers of two stages.
type Edge[T any] struct {
	mu      lock
	ring    []Cell[T]
	head    int
	count   int
	base    int64 // ordinal, at the consuming stage, of the item at the head
	epoch   int32 // of the item taken last, and the ordinal at which it began
	epochLo int64
	feed    []Cell[T] // scratch of Source
	kc      int       // slice length of the last consumer
	hands   int       // takers with a number from here on stand by
	back    []given[T]
	held    int // consumers that hold a slice and may give part of it back
	closed  bool
	ended   bool // nothing more will enter the ring
	aborted bool
	err     error
	cut     func()
	severed bool // Cut was called
	prompt  bool // see Prompt
	woke    bool // since the last put, and prompt is set
	order   order[T]

	takers  list
	putters queue
	slabs   list
	bench   list // takers that stand by

	starving atomic.Int32
	resized  atomic.Int32

	// OnMark, if set, sees each new mark as it enters the ring, in order: it is number passed. An error ends the edge
	// before the mark.
	OnMark func(t *Tag, passed int64) error
	fault  error

	// OnHeld, if set, is told which part has held others up when its turn came and it was not finished: for how long
	// finished work lay behind it, and for how long workers stood still, added up. It is called under the lock.
	OnHeld func(p *Part[T], held, blocked int64)

	// OnPass, if set, sees each end of a pass, in order, and how many items have passed in all. The end is taken out. An
	// error ends the edge there.
	OnPass func(source uint16, passed int64) error
	passed int64

	// Source and Group are hooks of the consuming stage, called under the lock.
	Source func(buf []Cell[T], k int) (_ []Cell[T], done bool)
	// SourceErr is what the edge ends with when Source is done. Source may set it.
	SourceErr error
	Group     func(first []Cell[T], lo int64) int

	stats Stats
	depth meter.Depth

	bounds
	drop func(*Cell[T]) // gives an item up that will not be taken
}

// given is a run of items that were taken and not begun.
type given[T any] struct {
	lo, epochLo int64
	cells       []Cell[T]
}

// New makes an edge. drop gives up items that nobody will take.
func New[T any](cfg Config, drop func(*Cell[T])) *Edge[T] {
	e := &Edge[T]{bounds: bounds{cfg: cfg, kp: 1}, drop: drop, mu: makeLock(), kc: 1, hands: everyone}
	e.ring = make([]Cell[T], pow2(e.room()))
	return e
}

// Upstream sets what cuts the producing stage off when the consumer wants no more. The consumer starts first: it may
// want no more by now.
func (e *Edge[T]) Upstream(cut func()) {
	e.mu.Lock()
	e.cut = cut
	late := e.severed && cut != nil
	e.mu.Unlock()
	if late {
		cut()
	}
}

func pow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// Starving says that everyone downstream has been idle for long: hand over what is done.
func (e *Edge[T]) Starving() bool { return e.starving.Load() != 0 }

// grow makes the ring hold at least n items.
func (e *Edge[T]) grow(n int) {
	if n <= len(e.ring) {
		return
	}
	ring := make([]Cell[T], pow2(n))
	m := copy(ring, e.ring[e.head:min(len(e.ring), e.head+e.count)])
	copy(ring[m:], e.ring[:e.count-m])
	e.ring, e.head = ring, 0
}

// push moves cells into the ring as far as there is room and says how many. Whoever fills the ring wakes, also when it
// releases the part of another worker. A second consumer is woken for a whole slice only: the one that is awake is
// back within 40 microseconds.
func (e *Edge[T]) push(cells []Cell[T], now int64) int {
	room := e.room()
	n := min(len(cells), room-e.count)
	if n < len(cells) {
		e.buffer.hit = true
		if len(e.takers) > 0 && e.base > 0 && e.lack() { // they wait for more than it has room for
			room = e.room()
			n = min(len(cells), room-e.count)
		}
	}
	if n <= 0 {
		return 0
	}
	if e.OnMark != nil {
		n = e.inspect(cells[:n])
	}
	e.grow(room)
	e.account(now)
	mask := len(e.ring) - 1
	at := (e.head + e.count) & mask
	m := copy(e.ring[at:], cells[:n])
	copy(e.ring, cells[m:n])
	e.count += n
	var last *meter.Trail
	for i := range cells[:n] {
		c := &cells[i]
		if c.Skipped() {
			e.stats.Marks++
		}
		if t := c.Trail; t != last && t != nil {
			if last = t; t.Released == 0 {
				t.Released = max(now, 1) // only once: others read it from now on, also where the clock stands at 0
				if len(e.order.holes) > 0 {
					t.After(e.order.holes)
					e.order.holes = nil
				}
			}
		}
	}
	e.stats.In += int64(n)
	if e.count >= e.kc || len(e.takers)+len(e.slabs) >= e.cfg.Consumers {
		if e.takers.wakeOne() && e.prompt {
			e.woke = true
		}
	}
	return n
}

// inspect shows new marks to OnMark and says how many cells may pass.
func (e *Edge[T]) inspect(cells []Cell[T]) int {
	for i := range cells {
		c := &cells[i]
		if c.Flags&NewMark == 0 {
			continue
		}
		if e.fault = e.OnMark(&c.Tag, e.stats.In+int64(i)+1); e.fault != nil {
			return i
		}
		c.Flags &^= NewMark
		c.Ext.Err = nil
	}
	return len(cells)
}

// Sift takes the ends of passes out of a part that is next in order.
func (e *Edge[T]) Sift(p *Part[T]) {
	if e.OnPass == nil || p.sifted {
		return
	}
	p.sifted = true
	kept := p.Cells[:0]
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Flags&PassEnd == 0 {
			if !c.Skipped() {
				e.passed++
			}
			kept = append(kept, *c)
			continue
		}
		c.End()
		if err := e.OnPass(c.Source, e.passed); err != nil {
			e.giveUp(p.Cells[i+1:])
			p.Err = err
			break
		}
	}
	clear(p.Cells[len(kept):])
	p.Cells = kept
}

// faulty ends the edge within a part, if a mark in it was one too many.
func (e *Edge[T]) faulty(p *Part[T]) bool {
	if e.fault == nil || e.ended {
		return false
	}
	e.giveUp(p.Cells[p.off:])
	p.off = len(p.Cells)
	e.finish(e.fault)
	return true
}

// pop copies n items out of the ring's first run.
func (e *Edge[T]) pop(buf []Cell[T], n int, now int64) []Cell[T] {
	e.account(now)
	a := e.ring[e.head:min(len(e.ring), e.head+n)]
	buf = append(buf, a...)
	clear(a)
	if r := n - len(a); r > 0 {
		buf = append(buf, e.ring[:r]...)
		clear(e.ring[:r])
	}
	e.head = (e.head + n) & (len(e.ring) - 1)
	e.count -= n
	e.stats.Out += int64(n)
	return buf
}

// finish ends the edge: what is in the ring is still taken, nothing more enters.
func (e *Edge[T]) finish(err error) {
	if e.ended {
		return
	}
	e.ended, e.err = true, err
	e.order.clear(e)
	e.wakeAll()
}

func (e *Edge[T]) wakeAll() {
	e.slabs.wakeAll()
	e.takers.wakeAll()
	e.putters.wakeAll()
	e.bench.wakeAll()
}

// Close says that the producing stage's last worker has left, because its own input ended with err.
func (e *Edge[T]) Close(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	e.closed, e.order.closeErr = true, err
	if e.order.kept.n == 0 {
		e.finish(err)
	}
}

// Cut says that the consuming stage wants nothing beyond what has been taken. What was given back comes before the
// reason for the cut and is still worked off.
func (e *Edge[T]) Cut() {
	e.mu.Lock()
	e.discard()
	e.finish(nil)
	e.severed = true
	cut := e.cut
	e.mu.Unlock()
	if cut != nil {
		cut()
	}
}

// Seal ends the edge after what has been taken: nothing upstream is told, and what is under way goes on.
func (e *Edge[T]) Seal() {
	e.mu.Lock()
	e.discard()
	e.finish(nil)
	e.mu.Unlock()
}

// Abort drops everything: the run was cancelled or broken off.
func (e *Edge[T]) Abort() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.aborted {
		return
	}
	e.aborted = true
	e.discard()
	for i := range e.back {
		e.leave(e.back[i].cells)
	}
	e.back = nil
	e.order.clear(e)
	e.wakeAll()
}

// discard drops what is in the ring.
func (e *Edge[T]) discard() {
	for ; e.count > 0; e.count-- {
		c := &e.ring[e.head]
		if !c.Skipped() {
			e.stats.Left++
		}
		e.drop(c)
		*c = Cell[T]{}
		e.head = (e.head + 1) & (len(e.ring) - 1)
	}
}

// leave drops items that were given back and not taken again.
func (e *Edge[T]) leave(cells []Cell[T]) {
	for i := range cells {
		if !cells[i].Skipped() {
			e.stats.Left++
		}
	}
	e.giveUp(cells)
}

// giveUp drops items that left the ring already, or never entered it.
func (e *Edge[T]) giveUp(cells []Cell[T]) {
	for i := range cells {
		e.drop(&cells[i])
		cells[i] = Cell[T]{}
	}
}

// Err is what the edge ended with.
func (e *Edge[T]) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// WithLock runs f under the edge's lock, for state that belongs to the consuming stage.
func (e *Edge[T]) WithLock(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// Drop gives an item up that never entered the edge.
func (e *Edge[T]) Drop(c *Cell[T]) {
	e.drop(c)
	*c = Cell[T]{}
}

// WakeSlab wakes a consumer that waits for a slab.
func (e *Edge[T]) WakeSlab() {
	e.mu.Lock()
	e.slabs.wakeOne()
	e.mu.Unlock()
}
