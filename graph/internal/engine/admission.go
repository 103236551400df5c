package engine

import (
	"math"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/pool"
)

// Admission lets the outputs of a run's sources pass as there are bytes for them. Without a limit it only counts.
//
// The oldest item that is not inside passes when there is room for it, or when fewer than hold items of its source are
// inside. A later one may pass before its turn as long as the largest item seen so far still finds room after it: so
// the oldest never waits for bytes that are held by items which wait for it.
type Admission struct {
	free bool // without a limit: only used and peak are kept
	used atomic.Int64
	peak atomic.Int64

	j       *Joint // its lock guards what follows
	b       pool.Budget
	fixed   int64 // of the limit, for good
	over    int64 // the most that all runs together were above the limit
	largest int64
	lanes   []*Lane

	scarcity *Scarcity
}

// Lane is one source's way through an admission.
type Lane struct {
	a       *Admission
	next    int64           // the oldest ordinal that is not inside
	ahead   map[int64]int64 // runs that passed before their turn: first ordinal and length
	early   int64           // how many they are
	inside  int64
	waiting []waiting
	stopAt  int64 // from this ordinal on nothing is wanted
}

type waiting struct {
	w    *edge.Waiter
	turn int64
}

// Lane adds a source.
func (a *Admission) Lane() *Lane {
	l := &Lane{a: a, ahead: map[int64]int64{}, stopAt: math.MaxInt64}
	a.j.mu.Lock()
	a.lanes = append(a.lanes, l)
	a.j.mu.Unlock()
	return l
}

// Shrink takes bytes off the limit until the run leaves, for memory that is held for good.
func (a *Admission) Shrink(by int64) {
	a.j.mu.Lock()
	a.fixed += by
	a.j.fixed += by
	a.j.mu.Unlock()
}

// Limit is the bytes that samples may take at most now; 0 is no limit. It does not depend on what other runs hold.
func (a *Admission) Limit() int64 {
	if a.free {
		return 0
	}
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	return max(1, a.j.most()-a.fixed)
}

// Most is what the run may take, memory that is held for good and samples.
func (a *Admission) Most() int64 {
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	return a.j.most()
}

// count keeps the books where there is no limit.
func (a *Admission) count(bytes int64) {
	used := a.used.Add(bytes)
	for p := a.peak.Load(); used > p && !a.peak.CompareAndSwap(p, used); p = a.peak.Load() {
	}
}

// Fixed is what was taken off the limit for good.
func (a *Admission) Fixed() int64 {
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	return a.fixed
}

// Inside is how many bytes are inside now.
func (a *Admission) Inside() int64 {
	if a.free {
		return a.used.Load()
	}
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	return a.b.Used()
}

// Peaks are the most that was inside, and the most that all runs of the limit together were above it meanwhile.
func (a *Admission) Peaks() (inside, overdraft int64) {
	if a.free {
		return a.peak.Load(), 0
	}
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	return a.b.Peak, a.over
}

// Admit waits until there is room for the first of sizes, whose ordinal is lo, and says for how many there was. 0: the
// lane has stopped. Without sizes it waits for the turn of lo, so that what comes before an error passes before it.
func (l *Lane) Admit(w *edge.Waiter, lo int64, sizes []int64) (n int, waited bool) {
	a := l.a
	if a.free { // also after a later item has failed and stopped the lane: this one comes before it
		var sum int64
		for _, size := range sizes {
			sum += size
		}
		a.count(sum)
		return len(sizes), false
	}
	tight := a.scarcity.tight()
	a.j.mu.Lock()
	defer a.j.mu.Unlock()
	for lo < l.stopAt {
		a.b.Tight = tight
		a.j.refresh(a)
		if n = l.pass(lo, sizes); n > 0 || len(sizes) == 0 && lo == l.next {
			return n, waited
		}
		l.waiting = append(l.waiting, waiting{w, lo})
		a.j.mu.Unlock()
		w.Park(nil)
		waited, tight = true, a.scarcity.tight()
		a.j.mu.Lock()
	}
	return 0, waited
}

// pass lets as many pass as there is room for.
func (l *Lane) pass(lo int64, sizes []int64) (n int) {
	b := &l.a.b
	for _, size := range sizes {
		l.a.largest = max(l.a.largest, size)
	}
	if lo == l.next {
		for n < len(sizes) && b.Admit(sizes[n], l.inside-l.early) { // the early ones wait for this one
			l.inside++
			n++
		}
	} else {
		for n < len(sizes) && b.Room(sizes[n]+l.a.largest) {
			b.Grow(sizes[n])
			l.inside++
			n++
		}
	}
	if n == 0 {
		return 0
	}
	l.a.j.noteOver()
	if lo != l.next {
		l.ahead[lo] = int64(n)
		l.early += int64(n)
		l.wake()
		return n
	}
	l.early += int64(n)
	for m := int64(n); m > 0; m = l.ahead[l.next] {
		l.early -= m
		delete(l.ahead, l.next)
		l.next += m
	}
	l.wake()
	return n
}

// wake wakes the one who waits for the lowest ordinal.
func (l *Lane) wake() {
	if len(l.waiting) == 0 {
		return
	}
	first := 0
	for i := range l.waiting {
		if l.waiting[i].turn < l.waiting[first].turn {
			first = i
		}
	}
	w := l.waiting[first].w
	last := len(l.waiting) - 1
	l.waiting[first] = l.waiting[last]
	l.waiting = l.waiting[:last]
	w.Wake()
}

// Count takes bytes without asking, where there is no limit.
func (l *Lane) Count(bytes int64) { l.a.count(bytes) }

// Free gives the bytes of one item back.
func (l *Lane) Free(bytes int64) {
	a := l.a
	if a.free {
		a.used.Add(-bytes)
		return
	}
	a.j.mu.Lock()
	a.b.Free(bytes)
	l.inside--
	a.j.wake()
	a.j.mu.Unlock()
}

// Grow adds bytes to an item that is inside: it turned out larger than was thought.
func (a *Admission) Grow(bytes int64) {
	if a.free {
		a.count(bytes)
		return
	}
	a.j.mu.Lock()
	a.b.Grow(bytes)
	a.j.noteOver()
	a.j.mu.Unlock()
}

// Stop lets all who wait go: nothing of the lane is wanted any more.
func (l *Lane) Stop() { l.StopFrom(0) }

// StopFrom lets those go whose ordinal is lo or a later one: nothing of that is wanted.
func (l *Lane) StopFrom(lo int64) {
	l.a.j.mu.Lock()
	defer l.a.j.mu.Unlock()
	l.stopAt = min(l.stopAt, lo)
	for len(l.waiting) > 0 {
		l.wake()
	}
}
