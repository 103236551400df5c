package meter

import "sync/atomic"

// State is what a worker does. It is always in exactly one.
type State int

// The states.
const (
	WaitIn State = iota
	Busy
	WaitOut
)

// Worker keeps the times of one worker. The three states add up to its lifetime: each reading of the clock moves the
// time since the last one into one state.
type Worker struct {
	born, last atomic.Int64
	spent      [3]atomic.Int64
	digest     atomic.Int64

	epoch, entered atomic.Int64 // items of the epoch that the worker is in

	doing   atomic.Int32 // the state it is in, plus one; 0: it is not at work
	itemOf  [2]atomic.Int64
	routine atomic.Int64

	// Enter, if set, is called with each state that the worker enters, on its goroutine; with -1 when it leaves.
	Enter func(State)

	tape *Tape // nil: none

	// Keeps a series of what is spent; nil: none is kept. It is called with a reading of the clock from edge on.
	cross func(w *Worker, s State, now int64)
	edge  int64    // the bucket that the worker is in ends here
	stage *Stage   // whose series it is
	put   [3]int64 // what of spent stands in the series
}

// Doing notes the state that the worker enters, for who looks on.
func (w *Worker) Doing(s State) {
	w.doing.Store(int32(s) + 1)
	if w.Enter != nil {
		w.Enter(s)
	}
}

// Left notes that the worker is not at work any more.
func (w *Worker) Left() {
	w.doing.Store(0)
	if w.Enter != nil {
		w.Enter(-1)
	}
}

// On notes the item that the worker begins with.
func (w *Worker) On(epoch, place int64) {
	w.itemOf[0].Store(epoch)
	w.itemOf[1].Store(place)
}

// In notes the number of the worker's goroutine.
func (w *Worker) In(goroutine int64) { w.routine.Store(goroutine) }

// Look tells what a worker is doing now: its state, since when it has been in it at least, the item that it began with
// last, and the number of its goroutine, 0 if it is not known. ok is false when it is not at work.
func (w *Worker) Look() (s State, since, epoch, place, goroutine int64, ok bool) {
	d := w.doing.Load()
	return State(d - 1), w.last.Load(), w.itemOf[0].Load(), w.itemOf[1].Load(), w.routine.Load(), d > 0
}

// Born sets the start of the lifetime.
func (w *Worker) Born(now int64) {
	w.born.Store(now)
	w.last.Store(now)
}

// Last is the time of the last reading.
func (w *Worker) Last() int64 { return w.last.Load() }

// Spent puts the time since the last reading into a state.
func (w *Worker) Spent(s State, now int64) int64 {
	d := now - w.last.Load()
	if d != 0 {
		if w.cross != nil && now >= w.edge {
			w.cross(w, s, now)
		}
		if w.tape != nil {
			w.tape.add(Span{w.last.Load(), now, w.itemOf[0].Load(), w.itemOf[1].Load(), s})
		}
		w.spent[s].Add(d)
		w.last.Store(now)
	}
	return d
}

// Digested notes time of the busy state that went into hashing.
func (w *Worker) Digested(d int64) { w.digest.Add(d) }

// Times are the sums over workers.
type Times struct{ WaitIn, Busy, WaitOut, Lifetime, Digest int64 }

// Add sums a worker's times up. A worker still at work counts up to its last reading.
func (t *Times) Add(w *Worker) {
	t.WaitIn += w.spent[WaitIn].Load()
	t.Busy += w.spent[Busy].Load()
	t.WaitOut += w.spent[WaitOut].Load()
	t.Lifetime += w.last.Load() - w.born.Load()
	t.Digest += w.digest.Load()
}
