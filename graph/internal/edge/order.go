package edge

import "github.com/penstock-go/penstock/graph/internal/meter"

// Part is finished work for the ordinals [Lo, Lo+N) of the producing stage: any number of outputs, perhaps an error
// after them.
type Part[T any] struct {
	Lo, N   int64
	EpochLo int64 // first ordinal of the epoch; of use when the edge is not ordered
	Cells   []Cell[T]
	Err     error
	Hole    *meter.Trail // of a part without outputs
	// Partial: the last input of the part has more outputs to come, so only the oldest worker may go on.
	Partial bool
	First   Tag // of a part without outputs: the place of its first input
	off     int
	arrived bool // its turn has been noted
	sifted  bool
}

// order restores the order of ordinals. It is guarded by the edge's lock.
type order[T any] struct {
	next     int64 // first ordinal that has not been released; unordered: how many are finished
	far      int64 // finished work may run ahead up to here; a window that shrinks takes nothing back
	kept     kept[T]
	cells    int // of the parts that are kept
	free     []*Part[T]
	holes    []*meter.Trail
	stuck    int64 // since when finished work is stuck behind the oldest because the window is full
	closeErr error
	behind   behind
}

// maxHoles bounds the trails of empty slices that are remembered between two outputs.
const maxHoles = 64

func (o *order[T]) clear(e *Edge[T]) {
	o.kept.clear(func(p *Part[T]) {
		left := p.Cells[p.off:]
		for j := range left {
			if !left[j].Skipped() {
				e.stats.Left++
				e.stats.In++
			}
		}
		e.giveUp(left)
	})
	o.cells = 0
}

func (o *order[T]) hole(t *meter.Trail) {
	if t == nil {
		return
	}
	if len(o.holes) == maxHoles {
		copy(o.holes, o.holes[1:])
		o.holes[maxHoles-1] = t
		return
	}
	o.holes = append(o.holes, t)
}

// Put is what became of a put.
type Put struct {
	Waited bool
	Window bool // it waited for an older item, not for room
	OK     bool // false: the edge has ended, the items were given up
	Woke   bool // a consumer that is to run first, see [Edge.Prompt]
	In     int  // how many entered, if it is not OK
}

// far is the ordinal up to which finished work may run ahead now. Workers that hold long slices when the slices become
// short must be able to hand them over.
//
//go:noinline // many places in each instance of Edge call it, and a small program has several
func (e *Edge[T]) far() int64 {
	o := &e.order
	o.far = max(o.far, o.next+int64(e.reach()))
	return o.far
}

// crowded says that enough parts are kept, where the window is auto: it is counted in items, but each part has memory of
// its own, and parts may be of one item each.
func (e *Edge[T]) crowded() bool {
	n := mostParts(e.cfg.Producers)
	if e.ahead > 0 {
		n = max(n, e.ahead/e.kp)
	}
	return e.cfg.Window == 0 && (e.order.kept.n >= n || e.order.cells >= n*meanPart)
}

// MostKept is how many items of early parts are kept at most where the window is auto.
func MostKept(producers int) int64 { return int64(mostParts(producers)) * meanPart }

func mostParts(producers int) int { return max(minParts, Leeway(producers)*producers) }

// minParts is how many parts may be kept at least, meanPart how many items they may have on average.
const (
	minParts = 64
	meanPart = 32
)

// admits says whether a producer with this work has something to do now.
func (e *Edge[T]) admits(w *Waiter) bool {
	if e.cfg.Ordered && w.lo != e.order.next {
		return w.lo+w.n <= e.far() && !e.crowded()
	}
	if !e.cfg.Ordered && w.lo > e.order.next { // lo is the start of an epoch
		return false
	}
	room := e.room()
	return room-e.count >= min(w.need, max(1, room/2))
}

// wakePutters wakes those who have something to do now, lowest ordinal first: if that one has not, none above it has.
// Where order is not kept all wait for the same room, so no more are woken than it holds.
func (e *Edge[T]) wakePutters() {
	room := e.room() - e.count
	for len(e.putters) > 0 && (e.aborted || e.ended || e.admits(e.putters[0])) {
		w := e.putters.pop()
		e.order.behind.leaves(w)
		w.Wake()
		if room -= w.need; room <= 0 && !e.cfg.Ordered && !e.aborted && !e.ended {
			return
		}
	}
}

// Put hands a part over. It takes the cells: p.Cells is empty afterwards, perhaps with other memory. k is the length
// of the worker's slices.
func (e *Edge[T]) Put(w *Waiter, clock *meter.Clock, p *Part[T], k int, now int64) (r Put) {
	p.off, p.arrived = 0, false
	e.mu.Lock()
	if k < e.kp {
		e.far()
	}
	e.kp = k
	for {
		if e.aborted || e.ended {
			e.mu.Unlock()
			e.giveUp(p.Cells[p.off:])
			r.In, p.Cells = p.off, p.Cells[:0]
			return r
		}
		var done bool
		if !e.cfg.Ordered {
			done = e.putUnordered(p, now)
		} else if p.Lo != e.order.next {
			done = e.park(p, now, &r)
		} else {
			done = e.putOldest(p, now)
		}
		if done {
			break
		}
		w.lo, w.n, w.need = p.Lo, p.N, len(p.Cells)-p.off
		if p.Partial {
			w.n = 1 << 40
		}
		switch {
		case !e.cfg.Ordered:
			w.lo = p.EpochLo
		case p.Lo != e.order.next:
			e.order.behind.parks(w, now)
		}
		e.putters.push(w)
		e.mu.Unlock()
		w.Park(nil)
		r.Waited = true
		now = clock.Now()
		e.mu.Lock()
	}
	r.Woke, e.woke = e.woke, false
	e.mu.Unlock()
	clear(p.Cells)
	p.Cells = p.Cells[:0]
	r.OK = true
	return r
}

func (e *Edge[T]) putUnordered(p *Part[T], now int64) bool {
	if p.EpochLo > e.order.next {
		return false
	}
	p.off += e.push(p.Cells[p.off:], now)
	if e.faulty(p) {
		return true
	}
	if p.off < len(p.Cells) {
		return false
	}
	e.order.next += p.N
	if p.Err != nil {
		e.finish(p.Err)
	}
	if len(e.putters) > 0 {
		e.wakePutters()
	}
	return true
}

// park keeps a part that is early, if the window has room for it. It swaps buffers with a recycled part.
func (e *Edge[T]) park(p *Part[T], now int64, r *Put) bool {
	o := &e.order
	o.behind.finished(now)
	early := p.Lo+p.N > e.far()
	if p.Partial || early || e.crowded() {
		e.window.hit = e.window.hit || early
		if r.Window = true; o.stuck == 0 && !p.Partial {
			o.stuck = now
		}
		return false
	}
	var q *Part[T]
	if k := len(o.free); k > 0 {
		q, o.free = o.free[k-1], o.free[:k-1]
	} else {
		q = &Part[T]{}
	}
	cells := q.Cells
	*q = *p
	p.Cells = cells[:0]
	o.kept.put(q)
	o.cells += len(q.Cells)
	return true
}

// putOldest puts the part that is next in order.
func (e *Edge[T]) putOldest(p *Part[T], now int64) bool {
	o := &e.order
	if !p.arrived {
		e.arrive(p, now)
	}
	if o.stuck > 0 && len(p.Cells) > 0 {
		if t := p.Cells[0].Trail; t != nil && t.Released == 0 {
			t.Stuck, o.stuck = o.stuck, 0
		}
	}
	e.Sift(p)
	if len(p.Cells) == 0 {
		o.hole(p.Hole)
	}
	p.off += e.push(p.Cells[p.off:], now)
	if e.faulty(p) {
		return true
	}
	if p.off < len(p.Cells) {
		return false
	}
	o.next += p.N
	if p.Err != nil {
		e.finish(p.Err)
		return true
	}
	if p.N == 0 {
		o.behind.turn(now)
	} else {
		e.turn(now)
		if o.kept.n > 0 {
			e.release(now)
		}
		if len(e.putters) > 0 {
			e.wakePutters()
		}
	}
	return true
}

// release moves kept parts, oldest first, into the ring as far as it has room.
func (e *Edge[T]) release(now int64) {
	o := &e.order
	for o.kept.n > 0 && !e.ended {
		p := o.kept.find(o.next)
		if p == nil {
			return
		}
		e.Sift(p)
		if len(p.Cells) == 0 {
			o.hole(p.Hole)
		}
		p.off += e.push(p.Cells[p.off:], now)
		if e.faulty(p) {
			return
		}
		if p.off < len(p.Cells) {
			return
		}
		o.kept.remove(p)
		o.cells -= len(p.Cells)
		o.next += p.N
		e.turn(now)
		if p.Err != nil {
			e.finish(p.Err)
		}
		clear(p.Cells)
		*p = Part[T]{Cells: p.Cells[:0]}
		o.free = append(o.free, p)
	}
	if e.closed && o.kept.n == 0 {
		e.finish(o.closeErr)
	}
}
