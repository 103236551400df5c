package edge

import (
	"runtime"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Slice is what a take got.
type Slice[T any] struct {
	Cells   []Cell[T]
	Lo      int64 // ordinal of the first
	EpochLo int64 // ordinal of the first item of their epoch
	Waited  bool
	OK      bool // false: the stream has ended
	Due     bool // a group must be ended first; no cells
	Off     bool // the worker is one too many: no cells, and StandBy is next
}

// Taker is the taking end of one worker. It holds the slice that it took last, and may give part of it back, until its
// next take.
type Taker[T any] struct {
	W    *Waiter
	No   int  // of the worker, see [Edge.Staff]
	Late bool // the edge was staffed with more while it was at work, and this is one of them
	held bool
	buf  []Cell[T]
}

// Take gets up to k items of one epoch. It waits while there are none.
func (e *Edge[T]) Take(t *Taker[T], clock *meter.Clock, k int, now int64) (s Slice[T]) {
	w := t.W
	w.ForSlab = false
	e.mu.Lock()
	defer e.mu.Unlock()
	e.letGo(t)
	if t.Late {
		t.Late = false
		e.cfg.Consumers++
	}
	for !e.aborted {
		if e.surplus(t) {
			s.Off, s.OK = true, true
			return s
		}
		if len(e.back) > 0 {
			e.takeBack(t, &s)
			return s
		}
		if e.Source != nil && !e.ended && e.count == 0 {
			e.fill(k, now)
		}
		if e.count > 0 {
			switch n := e.takeRing(t, &s, k, now); {
			case n > 0:
				return s
			case n < 0:
				s.Due, s.OK = true, true
				return s
			}
			w.ForSlab = true
			e.slabs.push(w)
		} else if e.ended && e.held == 0 {
			break
		} else if !s.Waited {
			// Others are let run first: what they put then is taken at once, which saves both sides a parking for each item
			// where many workers share few cores.
			s.Waited = true
			e.mu.Unlock()
			runtime.Gosched()
			e.mu.Lock()
			continue
		} else {
			if e.base > 0 && e.lack() {
				e.wakePutters()
			}
			e.takers.push(w)
		}
		var flag *atomic.Int32
		if len(e.takers)+len(e.slabs) == e.cfg.Consumers && !w.ForSlab {
			flag = &e.starving // nobody is awake: the last one keeps the time
		}
		e.mu.Unlock()
		w.Park(flag)
		s.Waited = true
		now = clock.Now()
		e.mu.Lock()
	}
	e.takers.wakeAll()
	e.slabs.wakeAll()
	return s
}

// Prompt says that the consumer is to run as soon as it has something: a put says whether it woke it, and the workers of
// stages and groups let it run then. Else it would wait for a processor until one of the producers parks, or for the 10 ms after which the
// scheduler takes one away.
func (e *Edge[T]) Prompt() {
	e.mu.Lock()
	e.prompt = true
	e.mu.Unlock()
}

// Nudge wakes all who wait for input: a Source that had nothing to give may have something now.
func (e *Edge[T]) Nudge() {
	e.mu.Lock()
	e.takers.wakeAll()
	e.mu.Unlock()
}

// letGo ends the worker's hold on its last slice.
func (e *Edge[T]) letGo(t *Taker[T]) {
	if t.held {
		t.held = false
		if e.held--; e.held == 0 && e.ended {
			e.takers.wakeAll()
			e.slabs.wakeAll() // whoever waits for a slab may have been overtaken by the end
		}
	}
}

// Leave ends the worker's hold when it takes no more.
func (e *Edge[T]) Leave(t *Taker[T]) {
	e.mu.Lock()
	e.letGo(t)
	e.mu.Unlock()
}

func (e *Edge[T]) took(t *Taker[T], s *Slice[T], lo, epochLo int64) {
	s.Cells, s.Lo, s.EpochLo, s.OK = t.buf, lo, epochLo, true
	t.held = true
	e.held++
}

// takeBack takes of what was given back, lowest ordinal first: one item, since a slice was cut short because its items
// are slow, and all who are idle shall help.
func (e *Edge[T]) takeBack(t *Taker[T], s *Slice[T]) {
	m := len(e.back) - 1
	g := &e.back[m]
	const n = 1
	t.buf = append(t.buf[:0], g.cells[:n]...)
	lo, epochLo := g.lo, g.epochLo
	clear(g.cells[:n])
	if g.lo, g.cells = g.lo+int64(n), g.cells[n:]; len(g.cells) == 0 {
		e.back = e.back[:m]
	} else {
		e.takers.wakeOne()
	}
	e.took(t, s, lo, epochLo)
}

// takeRing takes up to k items of one epoch from the ring. 0: there is no slab for them; -1: a group is due.
func (e *Edge[T]) takeRing(t *Taker[T], s *Slice[T], k int, now int64) int {
	e.kc = k
	n := e.sameEpoch(min(k, e.count))
	if e.Group != nil {
		first := e.ring[e.head:min(len(e.ring), e.head+n)]
		if n = e.Group(first, e.base); n <= 0 {
			return n
		}
	}
	t.buf = e.pop(t.buf[:0], n, now)
	lo := e.base
	e.base += int64(n)
	if ep := t.buf[0].Epoch; ep != e.epoch || lo == 0 {
		e.epoch, e.epochLo = ep, lo
	}
	if e.order.kept.n > 0 {
		e.release(now)
	}
	if len(e.putters) > 0 {
		e.wakePutters()
	}
	if e.count >= k && !e.takers.wakeOne() {
		e.slabs.wakeOne() // there is a slab now
	}
	e.took(t, s, lo, e.epochLo)
	return n
}

// sameEpoch shortens n to the items at the head that are of one epoch.
func (e *Edge[T]) sameEpoch(n int) int {
	mask := len(e.ring) - 1
	first := e.ring[e.head].Epoch
	if e.ring[(e.head+n-1)&mask].Epoch == first {
		return n
	}
	i := 1
	for e.ring[(e.head+i)&mask].Epoch == first {
		i++
	}
	return i
}

// fill lets a source's own feed put the next places into the ring.
func (e *Edge[T]) fill(k int, now int64) {
	cells, done := e.Source(e.feed[:0], k)
	if e.feed = cells; len(cells) > 0 {
		e.grow(len(cells))
		e.account(now)
		e.head = 0
		e.count = copy(e.ring, cells)
		e.stats.In += int64(e.count)
	}
	if done {
		e.finish(e.SourceErr)
	}
}

// GiveBack returns items that were taken and not begun, so that idle siblings can have them.
func (e *Edge[T]) GiveBack(lo, epochLo int64, cells []Cell[T]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.aborted {
		e.leave(cells)
		return
	}
	i := len(e.back) // the lowest ordinal is last
	for i > 0 && e.back[i-1].lo < lo {
		i--
	}
	e.back = append(e.back, given[T]{})
	copy(e.back[i+1:], e.back[i:])
	e.back[i] = given[T]{lo, epochLo, append([]Cell[T](nil), cells...)}
	clear(cells)
	e.takers.wakeOne()
}
