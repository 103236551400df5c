package graph

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/shard"
)

// SplitState is where an iterable stands: a moment shortly before the last record that was delivered, and that record. A
// run that goes on from it reads on from there and leaves out what comes up to the record, some hundred records at most.
type SplitState struct {
	Lanes  []LaneState `json:"lanes,omitempty"` // of the splits that are read in turn; none: at the epoch's begin
	Next   int         `json:"next"`            // split that is begun next, of the rank's own
	At     int         `json:"at"`              // lane whose turn it is
	Number int64       `json:"number"`          // records of the epoch before that
	Split  int         `json:"split"`           // of the record that was delivered last, as in its position
	Record int64       `json:"record"`
}

// LaneState is where one of the splits that are read in turn stands: Turn is -1 where there is none any more, Record -1
// where nothing more comes of it.
type LaneState struct {
	Turn   int   `json:"turn"`
	Record int64 `json:"record"`
}

// forward is what a run knows of a source that is read forward.
type forward struct {
	world   shard.World // of the splits; of one rank where all ranks read all of them
	all     int         // splits of a pass, of all ranks
	own     int
	quota   *quota
	endless bool
	resumed int64 // as in feed
	over    atomic.Int64

	mu    sync.Mutex
	marks []engine.SplitMark // from the last one before what was delivered last
}

// maxTurns bounds the splits of an epoch, see [item.SplitPlace].
const maxTurns = 1 << 23

// turnOf is the turn, in the epoch's order of all splits, of the rank's split number i; further passes go on counting.
func (f *forward) turnOf(i int) int {
	return i/f.own*f.all + int(f.world.Place(int64(i%f.own)))
}

// number is the inverse of turnOf.
func (f *forward) number(turn int) int {
	return turn/f.all*f.own + int(f.world.Number(int64(turn%f.all)))
}

func (f *forward) limit(epoch int64) int64 {
	switch {
	case f.endless:
		return math.MaxInt64 - 1
	case f.quota == nil:
		return engine.OnePass
	case epoch == f.resumed:
		return f.quota.first
	}
	return f.quota.each
}

func (f *forward) ended(epoch int64) bool { return f.endless && epoch < f.over.Load() }

func (f *forward) finish(epoch int64) { endUpTo(&f.over, epoch) }

func (f *forward) note(m engine.SplitMark) {
	f.mu.Lock()
	f.marks = append(f.marks, m)
	f.mu.Unlock()
}

// before says that a mark was made before the record of a position.
func (f *forward) before(m *engine.SplitMark, p item.Pos) bool {
	if m.Epoch != p.Epoch {
		return m.Epoch < p.Epoch
	}
	split, record, _ := p.Split()
	i := f.number(split)
	if i >= m.Next {
		return true
	}
	for _, l := range m.Lanes {
		if l.Turn == i {
			return l.Record >= 0 && record >= l.Record
		}
	}
	return false
}

// passed forgets the marks that are of no use once the record of a position was delivered.
func (f *forward) passed(p item.Pos) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for n < len(f.marks) && (f.marks[n].Epoch < p.Epoch || n+1 < len(f.marks) && f.before(&f.marks[n+1], p)) {
		n++
	}
	if n > 0 {
		f.marks = append(f.marks[:0], f.marks[n:]...)
	}
}

// state is where to go on after the record of a position.
func (f *forward) state(p item.Pos) *SplitState {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &SplitState{}
	s.Split, s.Record, _ = p.Split()
	for i := len(f.marks) - 1; i >= 0; i-- {
		m := &f.marks[i]
		if m.Epoch != p.Epoch || !f.before(m, p) {
			continue
		}
		s.Next, s.At, s.Number = m.Next, m.At, m.Number
		for _, l := range m.Lanes {
			s.Lanes = append(s.Lanes, LaneState(l))
		}
		break
	}
	return s
}

// mark is the moment of a state.
func (s *SplitState) mark(epoch int64) engine.SplitMark {
	m := engine.SplitMark{Epoch: epoch, Next: s.Next, At: s.At, Number: s.Number}
	for _, l := range s.Lanes {
		m.Lanes = append(m.Lanes, engine.SplitLane(l))
	}
	return m
}

// fits says that a state is one of so many lanes.
func (s *SplitState) fits(lanes int) bool {
	return len(s.Lanes) == 0 || len(s.Lanes) == lanes && s.Next >= lanes
}

// valid says that the numbers are in range.
func (s *SplitState) valid() bool {
	for _, l := range s.Lanes {
		if l.Turn < -1 || l.Record < -1 || l.Turn >= s.Next {
			return false
		}
	}
	return s.Next >= 0 && s.At >= 0 && s.At <= len(s.Lanes) && s.Number >= 0 && s.Split >= 0 && s.Split < maxTurns && s.Record >= 0 && s.Record < 1<<40
}
