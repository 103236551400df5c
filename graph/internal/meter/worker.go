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
