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

	// Belongs to the sink's goroutine.
	lat, was []int64 // service of the awaited lineage, by stage; of the one before
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
	clear(b.lat)
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
		w.to = lo
	}
}

// lineage walks back along t. next is the stage that took the items from t's edge; newest is true while everything so
// far began on arrival.
func (w *walk) lineage(t *Trail, next int, newest bool) {
	for ; t != nil && w.to > w.bottom(); t = t.Prev {
		st := t.Stage.No
		w.segment(t.Done, Queue, next) // in the ring, or done and waiting for room in it
		if newest = newest && t.Fresh; newest {
			w.stepOver(t)
		}
		if t.Stuck > 0 {
			w.segment(max(t.Took, t.Stuck), Window, st)
		}
		w.segment(t.Took, Service, st)
		if t.SlabTo > 0 {
			w.segment(t.SlabTo, Queue, st)
			w.segment(t.SlabFrom, Slabs, t.Holder.No)
		}
		if len(t.Rows) > 0 {
			w.rows(t, st, newest)
		}
		holes := t.Holes
		next = st
		if len(holes) > 0 {
			w.lineage(t.Prev, next, newest)
			for i := len(holes) - 1; i >= 0 && w.to > w.bottom(); i-- {
				w.lineage(holes[i], next, false)
			}
			return
		}
	}
}

// stepOver moves the walk back by the service that the awaited item before had as well.
func (w *walk) stepOver(t *Trail) {
	st := t.Stage.No
	own := max(0, t.Done-t.Took)
	w.b.lat[st] += own
	n := min(own, w.b.was[st], max(0, w.to-t.Took))
	w.from, w.to, w.shift = w.from-n, w.to-n, w.shift+n
}

// rows walks a batch's rows, last first. Between two arrivals the batch was waiting for the later one.
func (w *walk) rows(t *Trail, st int, newest bool) {
	floor, base, entry := w.floor, w.base, w.shift
	for i := len(t.Rows) - 1; i >= 0 && w.to > w.from; i-- {
		w.floor, w.base = never, entry
		if i > 0 {
			w.floor = t.Rows[i-1].At
		}
		w.segment(t.Rows[i].At, Queue, st)
		w.lineage(t.Rows[i].Trail, st, newest)
		newest = false
	}
	w.floor, w.base = floor, base
}
