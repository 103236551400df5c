package engine

import (
	"errors"
	"math"

	"github.com/penstock-go/penstock/graph/internal/edge"
)

// SplitLane is where one lane stands: at a record of the rank's split whose turn it is. Turn -1 is a lane that has no more
// splits in the epoch, Record -1 a split of which nothing more comes.
type SplitLane struct {
	Turn   int
	Record int64
}

// SplitMark is where an iterable stands between two records: enough to go on from there.
type SplitMark struct {
	Epoch  int64
	Lanes  []SplitLane
	Next   int   // the split that is begun next
	At     int   // the lane whose turn it is
	Number int64 // records of the epoch so far, also those that other ranks keep
}

// interleaved is what the interleaver knows of its epoch.
type interleaved struct {
	SplitMark
	pass   int   // through the splits; lanes that have begun the next one read ahead, and are taken from when this has ended
	given  int64 // records that went on
	barren int   // splits that have ended since the last record
	noted  int64
}

// interleave takes a record of each lane in turn, epoch after epoch.
func (s *Splits[T]) interleave() error {
	defer s.dismiss() // also where an item's own method panics
	out := &splitOut[T]{s: s, wait: edge.NewWaiter(), k: 1}
	var e interleaved
	e.Next = len(s.lanes)
	first := make([]SplitLane, len(s.lanes))
	for i := range first {
		first[i].Turn = i
	}
	if m := s.From; m != nil {
		if e.SplitMark = *m; len(m.Lanes) == 0 { // at the epoch's begin
			e.Next = len(s.lanes)
		}
		copy(first, m.Lanes)
	}
	e.noted, e.pass = e.Number, passOf(first, s.N)
	for i, l := range s.lanes {
		if l.epoch = e.Epoch; first[i].Turn < 0 {
			s.later(l)
			continue
		}
		s.begin(l, first[i])
	}
	for s.Epochs < 0 || e.Epoch < int64(s.Epochs) {
		if ok, err := s.epoch(&e, out); !ok {
			return err
		}
		if s.Until != 0 {
			return s.broken(out, errNotMet)
		}
		next := e.Epoch + 1
		e = interleaved{}
		e.Epoch, e.Next = next, len(s.lanes)
	}
	out.flush(nil)
	return nil
}

const noPass = math.MaxInt

// passOf is the pass that lanes are in; noPass where none has splits left in the epoch.
func passOf(lanes []SplitLane, n int) int {
	pass := noPass
	for _, l := range lanes {
		if l.Turn >= 0 {
			pass = min(pass, l.Turn/n)
		}
	}
	return pass
}

// broken ends the stream with an error that no split made.
func (s *Splits[T]) broken(out *splitOut[T], err error) error {
	err = s.Fail(err)
	out.flush(err)
	return err
}

var errNotMet = errors.New("the record after which to go on was not met again: the data are others")

// begin gives a lane a split to read.
func (s *Splits[T]) begin(l *splitLane[T], at SplitLane) {
	l.turn, l.taken = at.Turn, at.Record
	l.next <- turn{l.epoch, at.Turn, at.Record}
}

// later lets a lane that has no more splits in its epoch read ahead of the epoch's edge.
func (s *Splits[T]) later(l *splitLane[T]) {
	if l.epoch++; s.Epochs < 0 || l.epoch < int64(s.Epochs) {
		s.begin(l, SplitLane{Turn: l.no})
	}
}

// epoch gives the records of one epoch. False: the stream ends there.
func (s *Splits[T]) epoch(e *interleaved, out *splitOut[T]) (bool, error) {
	quota := s.Quota(e.Epoch)
	for ; ; e.At = 0 {
		any := false
		for ; e.At < len(s.lanes); e.At++ {
			l := s.lanes[e.At]
			if l.epoch > e.Epoch || l.turn/s.N > e.pass {
				continue
			}
			if e.given >= quota || s.Over(e.Epoch) {
				return s.cutShort(e.Epoch, out)
			}
			if s.Note != nil && e.Number-e.noted >= noteEvery {
				s.note(e)
			}
			any = true
			if ok, err := s.one(e, l, quota != OnePass, out); !ok {
				return false, err
			}
		}
		if any {
			continue
		}
		if quota == OnePass || e.pass == noPass {
			return true, nil
		}
		if !s.endPass(e, out) {
			return false, nil
		}
	}
}

// OnePass is the quota of an epoch that goes through the data once.
const OnePass = math.MaxInt64

// noteEvery is how many records lie between two marks.
const noteEvery = 256

func (s *Splits[T]) note(e *interleaved) {
	m := e.SplitMark
	m.Lanes = make([]SplitLane, len(s.lanes))
	for i, l := range s.lanes {
		if m.Lanes[i] = (SplitLane{l.turn, l.taken}); l.epoch > e.Epoch {
			m.Lanes[i].Turn = -1
		}
	}
	e.noted = e.Number
	s.Note(m)
}

// one takes one record of a lane, of its next split if this one has ended.
func (s *Splits[T]) one(e *interleaved, l *splitLane[T], around bool, out *splitOut[T]) (bool, error) {
	for {
		ok, err := s.fill(l, out)
		if !ok || s.stopped() {
			out.flush(err)
			return false, err
		}
		c := l.cells[0]
		l.cells = l.cells[1:]
		if c.Flags&endOfSplit == 0 {
			e.barren = 0
			if l.taken++; c.Skipped() {
				l.taken = -1
			}
			return s.pass(e, c, out), nil
		}
		if !around && e.Next >= s.N {
			s.later(l)
			return true, nil
		}
		if e.barren++; e.barren > 2*s.N || e.Next >= s.Most {
			err := errNothing
			if e.Next >= s.Most {
				err = errTooMany
			}
			return false, s.broken(out, err)
		}
		s.begin(l, SplitLane{Turn: e.Next})
		if e.Next++; l.turn/s.N > e.pass {
			return true, nil
		}
	}
}

var (
	errNothing = errors.New("its splits hold no records, so the epoch would never have its steps")
	errTooMany = errors.New("an epoch goes through too many splits, there may be 8388608; make the data larger or steps_per_epoch smaller")
)

// endPass goes on to the next pass. False: nobody wants it.
func (s *Splits[T]) endPass(e *interleaved, out *splitOut[T]) bool {
	e.pass++
	if !s.Marks || s.Until != 0 {
		return true
	}
	t := s.Tag(e.Epoch, e.pass*s.N-1, 0)
	t.Flags, t.Ext = edge.Skipped|edge.PassEnd, edge.NewExt()
	return out.put(edge.Cell[T]{Tag: t})
}

// pass hands a record on if it is the rank's own and was not delivered before.
func (s *Splits[T]) pass(e *interleaved, c edge.Cell[T], out *splitOut[T]) bool {
	number := e.Number
	e.Number++
	if s.Until != 0 {
		if met := c.Place == s.Until; met {
			s.Until = 0
		}
		if s.Until != 0 || !s.Again {
			s.leave(&c, func() { s.Meter.In.Add(-1) })
			return true
		}
	}
	if s.Keep != nil && !s.Keep(number) {
		s.leave(&c, func() { s.Meter.Filtered.Add(1) })
		return true
	}
	e.given++
	if s.Came != nil && !c.Skipped() {
		s.Came(&c.Tag)
	}
	return out.put(c)
}

// leave drops a record that was read and does not go on; as says what it counts for instead.
func (s *Splits[T]) leave(c *edge.Cell[T], as func()) {
	if !c.Skipped() {
		s.Meter.Done.Add(-1)
		as()
	}
	s.Drop(c)
}

// cutShort ends an epoch before its splits have: what the lanes have read of it is dropped.
func (s *Splits[T]) cutShort(epoch int64, out *splitOut[T]) (bool, error) {
	s.Until = 0
	if s.Epochs >= 0 && epoch == int64(s.Epochs)-1 {
		return out.flush(nil), nil
	}
	s.current.Store(epoch + 1)
	for _, l := range s.lanes {
		for l.epoch == epoch {
			ok, err := s.fill(l, out)
			if !ok || s.stopped() {
				out.flush(err)
				return false, err
			}
			c := l.cells[0]
			l.cells = l.cells[1:]
			if c.Flags&endOfSplit != 0 {
				s.later(l)
				continue
			}
			s.leave(&c, func() { s.Meter.Lost.Add(1) })
		}
	}
	return true, nil
}

// fill sees to it that a lane has a cell. What was taken from others is handed on before it waits.
func (s *Splits[T]) fill(l *splitLane[T], out *splitOut[T]) (bool, error) {
	if len(l.cells) > 0 {
		return true, nil
	}
	if !out.flush(nil) {
		return false, nil
	}
	sl := l.edge.Take(&l.take, s.r.Clock, MaxSlice, s.r.Clock.Now())
	if !sl.OK {
		return false, l.edge.Err()
	}
	l.cells = sl.Cells
	return true, nil
}
