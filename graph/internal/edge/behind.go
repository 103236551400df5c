package edge

// behind counts what the oldest item holds up: finished work waits behind it, and workers stand still because the window
// is full. Only the time in which the oldest is not finished counts; when only room is lacking, the fault is downstream's.
// It is guarded by the edge's lock.
type behind struct {
	turned  int64 // since when the oldest is the oldest and unfinished; -1: it is finished
	any     bool  // finished work is behind it
	since   int64 // since when there is some behind it or one before it
	waiting int64 // workers that stand still
	sum     int64 // of when they began to, or of when the oldest had its turn, whichever is later

	held, blocked int64 // of the oldest, as far as it has handed results over already
}

// finished notes work that is early.
func (b *behind) finished(now int64) {
	if !b.any {
		b.any, b.since = true, now
	}
}

// parks counts a worker that begins to stand still.
func (b *behind) parks(w *Waiter, now int64) {
	w.behind, w.since = true, now
	b.waiting++
	b.sum += now
}

// leaves takes a worker out that no longer does.
func (b *behind) leaves(w *Waiter) {
	if !w.behind {
		return
	}
	w.behind = false
	b.waiting--
	b.sum -= max(w.since, b.turned)
}

// turn begins the time of another oldest, or of the same one when it has handed over a part of its results.
func (b *behind) turn(now int64) {
	b.turned, b.sum = now, b.waiting*now
}

// arrive notes that the oldest is finished, and tells what it has held up.
func (e *Edge[T]) arrive(p *Part[T], now int64) {
	p.arrived = true
	b := &e.order.behind
	if b.turned >= 0 && b.any {
		b.held += max(0, now-max(b.since, b.turned))
		b.blocked += max(0, b.waiting*now-b.sum)
	}
	b.turned = -1
	if p.N == 0 {
		return
	}
	if b.held > 0 && e.OnHeld != nil {
		e.OnHeld(p, b.held, b.blocked)
	}
	b.held, b.blocked = 0, 0
}

// turn is called when the oldest has left: another one is now.
func (e *Edge[T]) turn(now int64) {
	o, b := &e.order, &e.order.behind
	if o.kept.n == 0 && b.waiting == 0 {
		b.any = false
	}
	done := false
	if len(e.putters) > 0 && e.putters[0].lo == o.next {
		done = true
		b.leaves(e.putters[0])
	} else {
		done = o.kept.find(o.next) != nil
	}
	b.turn(now)
	if done {
		b.turned = -1
	}
}
