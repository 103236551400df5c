package edge

import (
	"sync/atomic"
	"time"
)

// starve is how long the last idle consumer of an edge waits before it asks for early hand-over.
const starve = 500 * time.Microsecond

// Waiter is what one worker parks on. It is used for one wait at a time.
type Waiter struct {
	ch chan struct{}
	tm *time.Timer

	lo, n int64 // what the worker wants to put
	need  int

	behind bool  // it stands still because an older item is not finished
	since  int64 // since when
	// ForSlab tells, after a take that waited, that it waited for a slab and not for input.
	ForSlab bool
}

// NewWaiter makes a waiter.
func NewWaiter() *Waiter {
	w := &Waiter{ch: make(chan struct{}, 1), tm: time.NewTimer(time.Hour)}
	w.tm.Stop()
	return w
}

// Wake ends the wait. It is called once for each time the waiter stood on a list.
func (w *Waiter) Wake() { w.ch <- struct{}{} }

// Park waits for Wake. With a flag it is the last consumer to park: after a while it raises the flag, until woken.
func (w *Waiter) Park(flag *atomic.Int32) {
	if flag == nil {
		<-w.ch
		return
	}
	select {
	case <-w.ch:
		return
	default:
	}
	w.tm.Reset(starve)
	select {
	case <-w.ch:
		w.tm.Stop()
	case <-w.tm.C:
		flag.Add(1)
		<-w.ch
		flag.Add(-1)
	}
}

// list is a stack of parked workers: the last to park is the first to wake, its caches are warm.
type list []*Waiter

func (l *list) push(w *Waiter) { *l = append(*l, w) }

func (l *list) wakeOne() bool {
	n := len(*l)
	if n == 0 {
		return false
	}
	w := (*l)[n-1]
	(*l)[n-1] = nil
	*l = (*l)[:n-1]
	w.Wake()
	return true
}

// queue is a heap of workers that want to put, the lowest ordinal first: with a thousand of them waiting, looking at each
// whenever one place is free would take longer than the work.
type queue []*Waiter

func (q *queue) push(w *Waiter) {
	h := append(*q, w)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].lo <= h[i].lo {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*q = h
}

func (q *queue) pop() *Waiter {
	h := *q
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], nil
	h = h[:last]
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].lo < h[least].lo {
				least = child
			}
		}
		if least == i {
			break
		}
		h[least], h[i] = h[i], h[least]
		i = least
	}
	*q = h
	return first
}

func (q *queue) wakeAll() {
	for len(*q) > 0 {
		q.pop().Wake()
	}
}

func (l *list) wakeAll() {
	for l.wakeOne() {
	}
}
