package meter

import "sync"

// Cause is why the sink waited.
type Cause uint8

// The causes.
const (
	Service Cause = iota
	Queue
	Window
	Slabs
	Copy
	Startup
	End
	Unattributed
	ncauses
)

// When is the phase in which the sink waited.
type When uint8

// The phases.
const (
	InStartup When = iota
	InSteady
	AtEdge
	nphases
)

// Blamer splits each wait of the sink by what the awaited item was going through. The parts add up to the wait by
// construction.
//
// The walk goes backwards from the awaited item over its trail and charges as much length as the sink waited: service
// to the stage, time in a queue to the stage that read it late, time behind a full window to the window, time without
// memory to the stage that held it. Two corrections make it agree with what a mended stage would save:
//
// Service that began the moment the item arrived, and that the awaited item before had just as much of, is latency
// which all items share. It costs no rate, so it is stepped over and the walk reaches further back by the same amount.
//
// A full window never shows on the awaited item, which is the straggler itself. It is found from the siblings that
// were stuck behind it.
type Blamer struct {
	mu     sync.Mutex
	stages []*Stage
	sink   int
	charge [][ncauses][nphases]int64
	line   *Series // of the same, by stage; the last is for no stage. nil: none is kept
	note   func(b *Blamer, stage int, from, to int64)

	// The single waits; waited is nil where they are not kept.
	waited func(b *Blamer, from, to int64)
	waits  []Wait
	roll   *Roll
	share  []int64 // of the wait that is walked, by stage
	done   []int64 // when each stage was done with what is awaited; -1: it had no part

	// Belongs to the sink's goroutine.
	lat, was []int64 // least service on arrival of what the awaited item is made of, by stage, or -1; of the one before
	walk     walk
}

// NewBlamer makes a blamer over all stages; sink is the last one.
func NewBlamer(stages []*Stage, sink *Stage) *Blamer {
	n := len(stages)
	return &Blamer{stages: stages, sink: sink.No, charge: make([][ncauses][nphases]int64, n+1), lat: make([]int64, n), was: make([]int64, n)}
}

// Waited charges the wait [from, to) for an item that came by trail.
func (b *Blamer) Waited(t *Trail, from, to int64, when When) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.lat {
		b.lat[i] = -1
	}
	b.least(t)
	if b.waited != nil {
		b.waited(b, to, to)
		defer b.waited(b, from, to)
	}
	w := &b.walk
	*w = walk{b: b, from: from, to: to, floor: never, when: when}
	w.lineage(t, b.sink, true)
	if w.to > w.from {
		cause := Unattributed
		if when == InStartup {
			cause = Startup
		}
		w.segment(w.from, cause, len(b.stages))
	}
	b.lat, b.was = b.was, b.lat
}

// Ended charges a wait that ended with the stream.
func (b *Blamer) Ended(from, to int64, when When) {
	b.mu.Lock()
	b.charge[len(b.stages)][End][when] += to - from
	if b.note != nil {
		b.note(b, len(b.stages), from, to)
	}
	b.mu.Unlock()
}

// Share is a charged time. Stage is nil for start and end.
type Share struct {
	Stage *Stage
	Cause Cause
	When  When
	Time  int64
}

// Read lists what was charged.
func (b *Blamer) Read() []Share {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Share
	for i := range b.charge {
		var st *Stage
		if i < len(b.stages) {
			st = b.stages[i]
		}
		for c := range ncauses {
			for p := range nphases {
				if t := b.charge[i][c][p]; t != 0 {
					out = append(out, Share{st, c, p, t})
				}
			}
		}
	}
	return out
}

const never = -1 << 62

// walk is one wait being charged: [from, to) is what is left of it, moved back by shift so far.
type walk struct {
	b           *Blamer
	from, to    int64
	floor, base int64 // a row's lineage ends where the row before arrived: floor, as it stood at shift base
	shift       int64
	when        When
}

func (w *walk) bottom() int64 { return max(w.from, w.floor-(w.shift-w.base)) }

// segment charges what of [lo, to) is left.
func (w *walk) segment(lo int64, c Cause, stage int) {
	if lo = max(lo, w.bottom()); w.to > lo {
		w.b.charge[stage][c][w.when] += w.to - lo
		if w.b.note != nil {
			w.b.note(w.b, stage, lo+w.shift, w.to+w.shift)
		}
		w.to = lo
	}
}

// lineage walks back along t. next is the stage that took the items from t's edge; prompt is true while everything so
// far began on arrival.
func (w *walk) lineage(t *Trail, next int, prompt bool) {
	for ; t != nil && w.to > w.bottom(); t = t.Prev {
		st, entry := t.Stage.No, w.shift
		if w.b.waited != nil && w.b.done[st] < 0 {
			w.b.done[st] = t.Done
		}
		w.segment(t.Done, Queue, next) // in the ring, or done and waiting for room in it
		if prompt = prompt && t.prompt(); prompt {
			w.stepOver(t)
		}
		w.own(t)
		next = st
		m := t.More
		if m == nil {
			continue
		}
		if m.SlabTo > 0 {
			w.segment(m.SlabTo, Queue, st)
			w.segment(m.SlabFrom, Slabs, m.Holder.No)
		}
		if len(m.Rows) > 0 {
			w.rows(m.Rows, st, prompt)
		}
		if len(m.Holes) > 0 {
			w.holes(t, st, entry, prompt)
			return
		}
	}
}

// least notes the shortest service on arrival, by stage, among all that an awaited item is made of. A straggler among its
// rows must not pass for what all items have.
func (b *Blamer) least(t *Trail) {
	for ; t != nil; t = t.Prev {
		if t.prompt() {
			st, own := t.Stage.No, max(0, t.Done-t.Took)
			if l := b.lat[st]; l < 0 || own < l {
				b.lat[st] = own
			}
		}
		for _, r := range t.rows() {
			b.least(r.Trail)
		}
	}
}

// own charges a stage's work on a slice.
func (w *walk) own(t *Trail) {
	if t.Stuck > 0 {
		w.segment(max(t.Took, t.Stuck), Window, t.Stage.No)
	}
	cause := Service
	if t.Stage.Copies {
		cause = Copy
	}
	w.segment(t.Took, cause, t.Stage.No)
}

// stepOver moves the walk back by the service that everything which the awaited item before was made of had as well.
func (w *walk) stepOver(t *Trail) {
	st := t.Stage.No
	own := max(0, t.Done-t.Took)
	n := min(own, max(0, w.b.was[st]), max(0, w.to-t.Took))
	w.from, w.to, w.shift = w.from-n, w.to-n, w.shift+n
}

// until does f for one of several things that came one after the other; the one before it came at floor. What f steps
// over counts for this one only. entry is the shift with which the walk came to it.
func (w *walk) until(floor, entry int64, f func()) {
	was, base := w.floor, w.base
	w.floor, w.base = max(was-(entry-base), floor), entry
	f()
	n := w.shift - entry
	w.from, w.to, w.shift = w.from+n, w.to+n, entry
	w.floor, w.base = was, base
}

// rows walks a batch's rows, last first. Between two arrivals the batch was waiting for the later one.
func (w *walk) rows(rows []Arrival, st int, prompt bool) {
	for i := len(rows) - 1; i > 0 && w.to > w.from; i-- {
		r := rows[i]
		w.until(rows[i-1].At, w.shift, func() {
			w.segment(r.At, Queue, st)
			w.lineage(r.Trail, st, prompt)
		})
		prompt = true
	}
	w.segment(rows[0].At, Queue, st)
	w.lineage(rows[0].Trail, st, prompt)
}

// holes walks the slices without output that stood before t, last first. Between the ends of two the stage was working
// on the later one, or waiting for it.
func (w *walk) holes(t *Trail, st int, entry int64, prompt bool) {
	holes := t.More.Holes
	for i := len(holes) - 1; i >= 0 && w.to > w.from; i-- {
		w.until(holes[i].Done, entry, func() { w.lineage(t.Prev, st, prompt) })
		t, entry = holes[i], w.shift
		w.segment(t.Done, Queue, st)
		if prompt = t.prompt(); prompt {
			w.stepOver(t)
		}
		w.own(t)
	}
	w.lineage(t.Prev, st, prompt)
}
