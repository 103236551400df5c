package graph

import (
	"fmt"
	"sync"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/item"
)

// lowWater tells, in a pipeline with order: completion, how far each source's places are done with: everything that came
// of them was delivered, filtered, skipped or dropped. There is none in other pipelines. All methods of a nil one do
// nothing.
//
// It holds the places that are under way, and of those after the first of them how many were handed out: places in step
// take no memory of their own, records of an iterable 24 bytes each.
type lowWater struct {
	mu      sync.Mutex
	epoch   int64 // of what was delivered last; the marks do not leave it
	sources []waterMark
	scratch []edge.Place
}

// waterMark is one source's part.
type waterMark struct {
	queue []span             // handed out and above the mark, in order
	left  map[underWay]int32 // items that are under way, of places that are not done with
	low   item.Pos           // the last place below the mark; of epoch -1: none
}

type underWay struct {
	epoch int32
	place int64
}

// span is a run of places that were handed out one after the other.
type span struct {
	epoch    int32
	step     int32
	first, n int64
}

// inAnyOrder is the first stage with order: completion, nil where there is none.
func (p *Pipeline) inAnyOrder() *node {
	for _, n := range p.nodes {
		if n.opts.order == CompletionOrder {
			return n
		}
	}
	return nil
}

// noLowWater says why a pipeline with order: completion has no state.
func (p *Pipeline) noLowWater(first *node) error {
	if _, world := p.World(); world > 1 && p.steps == 0 && p.uneven != Keep {
		return fmt.Errorf("no state: the stage %q has order: completion, so each of the %d ranks would go on from a place of its own and the ranks "+
			"would not make equally many steps; set steps_per_epoch, or order: input", first.id, world)
	}
	for _, n := range p.nodes {
		if m, ok := n.decl.(Mixing); ok && m.stop() != StopAll {
			return fmt.Errorf("no state: the stage %q has order: completion, and an epoch of the mix %q ends where an input does (stop: %s), "+
				"which a place that was delivered out of order does not tell; set stop: all, or order: input", first.id, n.id, m.stop())
		}
	}
	return nil
}

// countsPlaces makes the low-water marks of a run that needs them.
func (b *builder) countsPlaces() {
	first := b.p.inAnyOrder()
	if first == nil || b.p.noLowWater(first) != nil {
		return
	}
	w := &lowWater{}
	for _, n := range b.p.nodes {
		if n.role == sourceRole {
			w.sources = append(w.sources, waterMark{left: map[underWay]int32{}, low: item.Pos{Epoch: -1}})
		}
	}
	if s := b.resume; s != nil {
		w.epoch = s.Epoch
		for i := range min(len(s.Sources), len(w.sources)) {
			if x := s.Sources[i]; x.Splits != nil || x.Place > 0 {
				x.Child = nil // such a state has none, unless it is of an ordered stream and taken by force
				w.sources[i].low = x.last(s.Epoch, i)
			}
		}
	}
	b.run.water = w
}

// came notes a record that a source hands out, all in order.
func (w *lowWater) came(t *edge.Tag) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hand(1, t)
}

// cameAll notes places that a source hands out, in order; step is the distance from one to the next.
func (w *lowWater) cameAll(step int32, cells []edge.Cell[struct{}]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range cells {
		w.hand(step, &cells[i].Tag)
	}
}

func (w *lowWater) hand(step int32, t *edge.Tag) {
	if t.Skipped() || int64(t.Epoch) < w.epoch {
		return
	}
	s := &w.sources[t.Source]
	s.left[underWay{t.Epoch, t.Place}] = 1
	if k := len(s.queue); k > 0 {
		if q := &s.queue[k-1]; q.epoch == t.Epoch && q.step == step && t.Place == q.first+q.n*int64(step) {
			q.n++
			return
		}
	}
	s.queue = append(s.queue, span{t.Epoch, step, t.Place, 1})
}

// more notes another item of the places of t, done that an item of them is no longer under way.
func (w *lowWater) more(t *edge.Tag) {
	if w != nil {
		w.add(t, 1)
	}
}

func (w *lowWater) done(t *edge.Tag) {
	if w != nil {
		w.add(t, -1)
	}
}

// Repeats is of how many places of the sources what was delivered comes again in a run that goes on from the state: 0 for
// an exact one. What was filtered or skipped counts too.
func (s *State) Repeats() (places int64) {
	for i := range s.Sources {
		places += s.Sources[i].Ahead
	}
	return places
}

// found notes of how many items a place is that a cache has.
func (w *lowWater) found(t *edge.Tag, items int) { w.add(t, int32(items)-1) }

func (w *lowWater) add(t *edge.Tag, n int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scratch = t.Places(w.scratch[:0])
	for _, p := range w.scratch {
		s, k := &w.sources[p.Source], underWay{p.Epoch, p.Place}
		have, ok := s.left[k]
		switch {
		case !ok: // of an epoch that the consumer has left
		case have+n > 0:
			s.left[k] = have + n
		default:
			delete(s.left, k)
			s.rise(w.epoch)
		}
	}
}

// enter notes that something of an epoch was delivered: what is left of those before it is not wanted any more.
func (w *lowWater) enter(epoch int64) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if epoch <= w.epoch {
		return
	}
	w.epoch = epoch
	for i := range w.sources {
		s := &w.sources[i]
		for len(s.queue) > 0 && int64(s.queue[0].epoch) < epoch {
			s.queue = s.queue[1:]
		}
		for k := range s.left {
			if int64(k.epoch) < epoch {
				delete(s.left, k)
			}
		}
		s.rise(epoch)
	}
}

// rise moves the mark over the places that are done with, within an epoch.
func (s *waterMark) rise(epoch int64) {
	for len(s.queue) > 0 && int64(s.queue[0].epoch) == epoch {
		q := &s.queue[0]
		n := s.ready(q)
		if n == 0 {
			return
		}
		s.low.Epoch, s.low.Place = epoch, q.first+(n-1)*int64(q.step)
		q.first += n * int64(q.step)
		if q.n -= n; q.n > 0 {
			return
		}
		s.queue = s.queue[1:]
	}
}

// fewPlaces is up to how many places are looked up one by one, before it is cheaper to look through those under way.
const fewPlaces = 64

// ready is how many places at the head of a span are done with.
func (s *waterMark) ready(q *span) int64 {
	for i := range min(q.n, fewPlaces) {
		if _, ok := s.left[underWay{q.epoch, q.first + i*int64(q.step)}]; ok {
			return i
		}
	}
	n := q.n
	if n <= fewPlaces {
		return n
	}
	for k := range s.left {
		d := k.place - q.first
		if k.epoch == q.epoch && d >= 0 && d%int64(q.step) == 0 {
			n = min(n, d/int64(q.step))
		}
	}
	return n
}

// lows are the last places below the marks.
func (w *lowWater) lows() []item.Pos {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all()
}

func (w *lowWater) all() (low []item.Pos) {
	for i := range w.sources {
		w.sources[i].low.Source = i
		low = append(low, w.sources[i].low)
	}
	return low
}

// stand tells the last places below the marks, in the epoch of what was delivered last, and how many above each of them
// are done with.
func (w *lowWater) stand() (low []item.Pos, ahead []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	low = w.all()
	for i := range w.sources {
		s := &w.sources[i]
		n := int64(0)
		for _, q := range s.queue {
			if int64(q.epoch) == w.epoch {
				n += q.n
			}
		}
		for k := range s.left {
			if int64(k.epoch) == w.epoch {
				n--
			}
		}
		ahead = append(ahead, n)
	}
	return low, ahead
}
