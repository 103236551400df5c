package engine

import (
	"slices"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Stop is when an epoch of a mix ends.
type Stop int

// An epoch ends with the first input that has no more for it, or with the last one, or it goes on with another pass of
// those that ran out until each has ended once.
const (
	StopFirst Stop = iota
	StopAll
	StopRepeat
)

// Event is a change of a mix's counters: a new epoch, an input that dropped out or was gone through once, or an item that
// an input gave.
type Event struct {
	What  EventKind
	Input int
	Tag   edge.Tag // of the item; of a new epoch only Epoch
}

// EventKind tells events apart.
type EventKind uint8

// The kinds of events.
const (
	Gave EventKind = iota
	Ended
	Turned
	Began
)

// Apply does to counters what an event did to those of the mix.
func (e *Event) Apply(s *Shares) {
	switch e.What {
	case Gave:
		s.Took(e.Input)
	case Ended:
		s.Drop(e.Input)
	case Turned:
		s.Done[e.Input] = true
	case Began:
		s.Begin(e.Tag.Epoch)
	}
}

// Mix joins edges of one type in asked shares. What an input has left when an epoch has ended without it is dropped.
type Mix[T any] struct {
	Merge[T]
	Shares *Shares
	Stop   Stop
	Epochs int // below 0: forever
	// Resumed: the counters are in the middle of an epoch.
	Resumed bool
	// Skip tells the sources above that nothing before this epoch is wanted.
	Skip func(epoch int32)
	// Pass is how often the source of an item had been gone through in its epoch.
	Pass func(t *edge.Tag) int64
	// Book is told of what happened, before the items are handed over.
	Book func([]Event)

	open   bool  // an epoch has begun
	least  int32 // the next epoch is this or a later one
	over   bool
	events []Event
}

// Start starts the mixing worker.
func (s *Mix[T]) Start(r *Run) {
	s.begin()
	s.told = s.tell
	s.start(r, s.mix)
}

func (s *Mix[T]) begin() { s.open, s.least = s.Resumed, s.Shares.Epoch }

// note books an event and does it to the counters.
func (s *Mix[T]) note(e Event) {
	e.Apply(s.Shares)
	s.events = append(s.events, e)
}

// mix hands on until no epoch is left.
func (s *Mix[T]) mix() error {
	defer s.leave()
	for {
		i, err := s.choose()
		if err != nil || i < 0 {
			s.flush()
			s.cut()
			return err
		}
		s.give(i)
		if (len(s.part.Cells) >= MaxSlice || s.Out.Starving()) && !s.flush() {
			s.cut()
			return nil
		}
	}
}

// give moves the item at the head of a lane on.
func (s *Mix[T]) give(i int) {
	s.note(Event{Gave, i, s.lanes[i].cells[0].Tag})
	s.move(&s.lanes[i])
}

// choose says which input gives the next item, which then lies at the head of its lane; -1 at the end.
func (s *Mix[T]) choose() (int, error) {
	for {
		if !s.open {
			if more, err := s.nextEpoch(); !more {
				return -1, err
			}
		}
		i := s.Shares.Next()
		has, err := s.head(i)
		if err != nil {
			return -1, err
		}
		if c := s.lanes[i].cells; has && c[0].Epoch == s.Shares.Epoch {
			if s.Stop != StopRepeat || s.Shares.Done[i] || s.Pass(&c[0].Tag) == 0 {
				return i, nil
			}
		} else {
			s.note(Event{What: Ended, Input: i})
		}
		s.finish(i)
	}
}

// finish notes that an input's pass is over, and ends the epoch if that does.
func (s *Mix[T]) finish(i int) {
	s.note(Event{What: Turned, Input: i})
	over := s.Stop == StopFirst || s.Shares.Left() == 0
	if s.Stop == StopRepeat {
		over = !slices.Contains(s.Shares.Done, false)
	}
	if over {
		s.open, s.least = false, s.Shares.Epoch+1
		s.Skip(s.least)
	}
}

// head sees to it that the head of a lane is not of an epoch that is over.
func (s *Mix[T]) head(i int) (bool, error) {
	for {
		ok, err := s.peek(i)
		if err != nil || !ok {
			return false, err
		}
		l := &s.lanes[i]
		if l.cells[0].Epoch >= s.least {
			return true, nil
		}
		c := &l.cells[0]
		if !c.Skipped() {
			s.count(c)
			s.Meter.Dropped.Add(1)
		}
		s.Drop(c)
		*c = edge.Cell[T]{}
		l.cells = l.cells[1:]
	}
}

// nextEpoch finds the epoch that comes next; false: there is none.
func (s *Mix[T]) nextEpoch() (bool, error) {
	if s.Epochs >= 0 && int(s.least) >= s.Epochs {
		return false, nil
	}
	epoch, some := int32(0), false
	for i := range s.lanes {
		ok, err := s.head(i)
		if err != nil {
			return false, err
		}
		if c := s.lanes[i].cells; ok && (!some || c[0].Epoch < epoch) {
			epoch, some = c[0].Epoch, true
		}
	}
	if !some {
		return false, nil
	}
	s.note(Event{What: Began, Tag: edge.Tag{Epoch: epoch}})
	s.open, s.least = true, epoch
	return true, nil
}

// tell hands the events to the book.
func (s *Mix[T]) tell() {
	if len(s.events) > 0 {
		s.Book(s.events)
		s.events = s.events[:0]
	}
}

// Pull runs the mix by pulling from ins.
func (s *Mix[T]) Pull(r *Run, ins []Pull[T]) Pull[T] {
	s.r = r
	s.begin()
	s.lanes = make([]lane[T], len(ins))
	for i := range ins {
		s.lanes[i].pull = ins[i]
	}
	r.Left(func() {
		for i := range s.lanes {
			for j := range s.lanes[i].cells {
				lose(s.Meter, &s.lanes[i].cells[j], s.Drop)
			}
		}
	})
	return func() (c edge.Cell[T], ok bool, err error) {
		if s.m == nil {
			s.m = s.Meter.NewWorker(r.Clock.Now())
		}
		if s.over {
			return c, false, nil
		}
		i, err := s.choose()
		if s.over = err != nil || i < 0; s.over {
			return c, false, err
		}
		s.give(i)
		s.tell()
		c = s.part.Cells[0]
		s.part.Cells = s.part.Cells[:0]
		c.Trail = &meter.Trail{Stage: s.Meter, Took: s.m.Last(), Done: s.m.Last(), Prev: c.Trail.Prev}
		s.trail.mine, s.trail.prev = nil, nil
		s.Out.Note(&c)
		return c, true, nil
	}
}
