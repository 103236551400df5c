package edge

import "math"

// everyone is a number that no worker has.
const everyone = math.MaxInt

// Staff says how many workers take from the edge: those with lower numbers. The others stand by after their slice, until
// there are more again or the edge ends. It is first called before any worker takes.
func (e *Edge[T]) Staff(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hands == everyone {
		e.cfg.Consumers = n
	}
	if n < e.hands { // each looks whether it stays
		e.takers.wakeAll()
		e.slabs.wakeAll()
	}
	e.hands = n
	e.bench.wakeAll()
}

// surplus says that a worker is to stand by. What was given back is taken first: the workers that are left may all wait
// behind it. At the end all are let go.
func (e *Edge[T]) surplus(t *Taker[T]) bool {
	return t.No >= e.hands && len(e.back) == 0 && !e.ended && !e.aborted
}

// StandBy waits, after a take that says so, until the worker is wanted again or the edge has ended.
func (e *Edge[T]) StandBy(t *Taker[T]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cfg.Consumers--
	for e.surplus(t) {
		// It may have been woken in place of another one, and that one may be the last to park now.
		e.takers.wakeOne()
		e.slabs.wakeOne()
		e.bench.push(t.W)
		e.mu.Unlock()
		t.W.Park(nil)
		e.mu.Lock()
	}
	e.cfg.Consumers++
}

// Crew says that so many more workers put into the edge from now on. Buffer and window follow where they are auto.
func (e *Edge[T]) Crew(more int) { e.resize(func() { e.cfg.Producers += more }) }

// Deepen sets what an auto buffer and an auto window hold at least; 0: what the slices ask for. Those that the user has
// set stay.
func (e *Edge[T]) Deepen(buffer, window int) { e.resize(func() { e.deep, e.ahead = buffer, window }) }

func (e *Edge[T]) resize(set func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.far() // a window that shrinks takes nothing back
	set()
	e.resized.Add(1)
	if len(e.putters) > 0 {
		e.wakePutters()
	}
}

// Resized grows with each change that [Edge.Bound] may depend on.
func (e *Edge[T]) Resized() int32 { return e.resized.Load() }
