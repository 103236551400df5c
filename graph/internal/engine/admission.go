package engine

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/pool"
)

// Admission lets the outputs of sources pass as there are bytes for them, each source in its own order.
type Admission struct {
	mu    sync.Mutex
	b     pool.Budget
	lanes []*Lane
}

// Lane is one source's way through an admission.
type Lane struct {
	a       *Admission
	next    int64 // ordinal whose turn it is
	inside  int64
	waiting []*edge.Waiter
	turns   []int64
	stopped bool
}

// NewAdmission makes an admission with a limit in bytes; the oldest hold items of a source always pass.
func NewAdmission(limit, hold int64) *Admission {
	return &Admission{b: pool.Budget{Limit: limit, Hold: hold}}
}

// Lane adds a source.
func (a *Admission) Lane() *Lane {
	l := &Lane{a: a}
	a.lanes = append(a.lanes, l)
	return l
}

// Shrink takes bytes off the limit, for memory that is held for good.
func (a *Admission) Shrink(by int64) {
	a.mu.Lock()
	if a.b.Limit > 0 {
		a.b.Limit = max(1, a.b.Limit-by)
	}
	a.mu.Unlock()
}

// Limit is the bytes that samples may take now.
func (a *Admission) Limit() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.b.Limit
}

// Peaks are the most that was inside, and the most above the limit.
func (a *Admission) Peaks() (inside, overdraft int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.b.Peak, a.b.Overdraft
}

// Admit waits until it is the turn of ordinal lo, then until there is room for the first of sizes, and says for how
// many there was. 0: the lane has stopped. Without sizes it only waits for the turn.
func (l *Lane) Admit(w *edge.Waiter, lo int64, sizes []int64) (n int, waited bool) {
	a := l.a
	a.mu.Lock()
	for !l.stopped {
		if lo == l.next {
			if len(sizes) == 0 {
				break
			}
			for n < len(sizes) && a.b.Admit(sizes[n], l.inside) {
				l.inside++
				n++
			}
			if n > 0 {
				l.next += int64(n)
				l.wake()
				break
			}
		}
		l.waiting, l.turns = append(l.waiting, w), append(l.turns, lo)
		a.mu.Unlock()
		w.Park(nil)
		waited = true
		a.mu.Lock()
	}
	a.mu.Unlock()
	return n, waited
}

// Skip passes n ordinals that need no bytes.
func (l *Lane) wake() {
	for i, t := range l.turns {
		if t == l.next {
			l.waiting[i].Wake()
			last := len(l.turns) - 1
			l.turns[i], l.waiting[i] = l.turns[last], l.waiting[last]
			l.turns, l.waiting = l.turns[:last], l.waiting[:last]
			return
		}
	}
}

// Free gives the bytes of one item back.
func (l *Lane) Free(bytes int64) {
	a := l.a
	a.mu.Lock()
	a.b.Free(bytes)
	l.inside--
	for _, other := range a.lanes {
		other.wake()
	}
	a.mu.Unlock()
}

// Grow adds bytes to an item that is inside: it turned out larger than was thought.
func (a *Admission) Grow(bytes int64) {
	a.mu.Lock()
	a.b.Grow(bytes)
	a.mu.Unlock()
}

// Stop lets all who wait go: nothing of the lane is wanted any more.
func (l *Lane) Stop() {
	l.a.mu.Lock()
	defer l.a.mu.Unlock()
	l.stopped = true
	for _, w := range l.waiting {
		w.Wake()
	}
	l.waiting, l.turns = nil, nil
}
