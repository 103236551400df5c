package meter

import (
	"sync"
	"sync/atomic"
)

// Span is a time that a worker was in a state, with the item that it began with last; or that a queue had a depth, which
// is then Place.
type Span struct {
	From, To     int64
	Epoch, Place int64
	State        State
}

// Wait is a wait of the sink, the stage that most of it is blamed on (-1: none), and when that stage was done with what
// was awaited.
type Wait struct {
	From, To int64
	Stage    int
	Done     int64
}

// Roll bounds what all tapes of a run hold together.
type Roll struct {
	size int64
	left atomic.Int64
	cut  atomic.Int64
}

// NewRoll makes a roll for so many spans.
func NewRoll(spans int64) *Roll {
	r := &Roll{size: spans}
	r.left.Store(spans)
	return r
}

// Cut is when it was full; 0: it never was.
func (r *Roll) Cut() int64 { return r.cut.Load() }

// Size is how many spans there may be.
func (r *Roll) Size() int { return int(r.size) }

// take says whether there is room for one more.
func (r *Roll) take(now int64) bool {
	if r.left.Add(-1) >= 0 {
		return true
	}
	r.cut.CompareAndSwap(0, max(now, 1))
	return false
}

// Tape is what one worker did, or how deep one queue was, from the start on until the roll is full.
type Tape struct {
	roll  *Roll
	mu    sync.Mutex
	spans []Span
	full  bool
}

func (t *Tape) add(s Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.spans); n > 0 && !t.full {
		l := &t.spans[n-1]
		if l.To == s.From && l.State == s.State && l.Place == s.Place && l.Epoch == s.Epoch {
			l.To = s.To
			return
		}
	}
	if t.full || !t.roll.take(s.To) {
		t.full = true
		return
	}
	t.spans = append(t.spans, s)
}

// Spans copies what is on the tape.
func (t *Tape) Spans() []Span {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Span(nil), t.spans...)
}

// Tape puts what each worker does onto a tape of its own. It is called before they are made.
func (s *Stage) Tape(r *Roll) {
	before := s.begin
	s.begin = func(w *Worker) {
		if w.tape = (&Tape{roll: r}); before != nil {
			before(w)
		}
	}
}

// Tape is what the worker did; nil: nobody asked.
func (w *Worker) Tape() *Tape { return w.tape }

// KeepTape puts the depth onto a tape. It is called before anything lies in the queue.
func (d *Depth) KeepTape(r *Roll) { d.tape = &Tape{roll: r} }

// Tape is how deep the queue was; nil: nobody asked.
func (d *Depth) Tape() *Tape { return d.tape }

// KeepWaits keeps the single waits.
func (b *Blamer) KeepWaits(r *Roll) {
	b.roll, b.done = r, make([]int64, len(b.stages))
	b.waited = (*Blamer).keep
	before := b.note
	b.note = func(b *Blamer, stage int, from, to int64) {
		if b.share[stage] += to - from; before != nil {
			before(b, stage, from, to)
		}
	}
	b.share = make([]int64, len(b.stages)+1)
}

// keep notes a wait whose walk is over, or, with from = to, forgets what the walk before it has noted.
func (b *Blamer) keep(from, to int64) {
	if from == to {
		clear(b.share)
		for i := range b.done {
			b.done[i] = -1
		}
		return
	}
	most := len(b.stages)
	for i := range b.stages {
		if b.share[i] > b.share[most] {
			most = i
		}
	}
	if !b.roll.take(to) {
		return
	}
	w := Wait{From: from, To: to, Stage: -1, Done: -1}
	if most < len(b.stages) {
		w.Stage, w.Done = most, b.done[most]
	}
	b.waits = append(b.waits, w)
}

// Waits copies the single waits.
func (b *Blamer) Waits() []Wait {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Wait(nil), b.waits...)
}
