package graph

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
)

// book keeps what the stages which change the order of items have handed on and the consumer may not have received yet.
// So a state can tell where each of them, and each source above it, stood when what was delivered last passed it. What
// lies before that is forgotten from time to time: the book is as long as there are items under way.
type book struct {
	mu       sync.Mutex
	passages []passage // in order of declaration
}

// passage is one such stage's part of the book. Its methods are called under the book's lock.
type passage interface {
	// settle finds what of the passage comes after the last item delivered. last and order are those of all sources, as
	// the stages below see them; the passage sets those of its sources to what it sees itself. What comes before is
	// forgotten.
	settle(at *standing)
	node() *node
}

// standing is where a run stands: after the last item of each source that was delivered, the latest having the largest
// order.
type standing struct {
	epoch int64
	last  []item.Pos
	order []int64
	state *State // nil: only to forget what is not needed
}

// settle goes through the passages, the one next to the consumer first.
func (k *book) settle(at *standing) {
	if len(k.passages) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range at.order { // there is room between two
		at.order[i] *= orderGap
	}
	for i := len(k.passages) - 1; i >= 0; i-- {
		k.passages[i].settle(at)
	}
	ranks := slices.Clone(at.order)
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	for i, o := range at.order { // only which is larger matters
		if rank, _ := slices.BinarySearch(ranks, o); o > 0 {
			at.order[i] = int64(rank + 1)
		}
	}
}

const orderGap = 1 << 20

// route is what all passages have in common.
type route struct {
	n       *node
	sources []int // above it
	seq     int64
}

func (r *route) node() *node { return r.n }

// reached is the last item of a source that came so far; seq 0: none.
type reached struct {
	pos item.Pos
	seq int64
}

func (b *builder) route(n *node) (r route, from []reached) {
	r = route{n: n, sources: b.sourcesOf(n)}
	from = make([]reached, len(r.sources))
	if b.resume == nil {
		return r, from
	}
	for i, s := range r.sources {
		if s < len(b.resume.Sources) && b.resume.Sources[s].Order > 0 {
			x := &b.resume.Sources[s]
			from[i] = reached{x.last(b.resume.Epoch, s), x.Order}
			r.seq = max(r.seq, x.Order)
		}
	}
	return r, from
}

// last is the position that a source's state stands after.
func (x *SourceState) last(epoch int64, source int) item.Pos {
	if s := x.Splits; s != nil {
		return item.Pos{Epoch: epoch, Source: source, Place: item.SplitPlace(s.Split, s.Record), Child: x.resumedChild()}
	}
	if len(x.Child) > 0 {
		return item.Pos{Epoch: epoch, Source: source, Place: x.Place, Child: x.resumedChild()}
	}
	return item.Pos{Epoch: epoch, Source: source, Place: x.Place - 1}
}

// latest is the source above the passage that was delivered from last, or -1.
func (r *route) latest(at *standing) int {
	best := -1
	for _, s := range r.sources {
		if at.order[s] > 0 && (best < 0 || at.order[s] > at.order[best]) {
			best = s
		}
	}
	return best
}

// see sets the last items of the sources, but for the one kept, in the order in which they came; the latest has order top.
func (r *route) see(at *standing, from []reached, top int64, kept int) {
	for i, s := range r.sources {
		if s == kept {
			continue
		}
		at.last[s], at.order[s] = from[i].pos, 0
		if from[i].seq == 0 {
			at.last[s] = item.Pos{Epoch: -1}
			continue
		}
		at.order[s] = top
		for j, other := range r.sources {
			if other == kept || from[j].seq > from[i].seq {
				at.order[s]--
			}
		}
	}
}

// passed is an item that has gone by, or another event of a mix.
type passed struct {
	what   engine.EventKind
	input  int32
	epoch  int32
	source uint16
	place  int64
	child  string
}

func passedOf(what engine.EventKind, input int, t *edge.Tag) passed {
	p := passed{what: what, input: int32(input), epoch: t.Epoch, source: t.Source, place: t.Place}
	if t.Ext != nil {
		p.child = t.Ext.Child
	}
	return p
}

func (p *passed) pos() item.Pos {
	return item.Pos{Epoch: int64(p.epoch), Source: int(p.source), Place: p.place, Child: p.child}
}

// is says that what was delivered at q is the item or came of it; again: more may come of it, so it must pass once more.
func (p *passed) is(q item.Pos) (is, again bool) {
	if p.place != q.Place || int(p.source) != q.Source || int64(p.epoch) != q.Epoch || !strings.HasPrefix(q.Child, p.child) {
		return false, false
	}
	return true, len(q.Child) > len(p.child)
}

// find looks an item up among those that passed: its index, or -1.
func find(log []passed, q item.Pos) (at int, again bool) {
	for i := range log {
		if log[i].what == engine.Gave {
			if is, again := log[i].is(q); is {
				return i, again
			}
		}
	}
	return -1, false
}

// passing is what has gone by a merge or a mix and was not settled yet. It is guarded by the book's lock.
type passing struct {
	log  []passed
	most int // so many, and the book is settled
	lost bool
}

// enough is how many items pass at least before the book is settled.
const enough = 4096

// maxPassed bounds what a passage remembers: more can only have passed since the last delivery where stages below leave
// nearly everything out.
const maxPassed = 1 << 20

// note lets add write down what has passed, and settles the book where that is much.
func (p *passing) note(r *Run, add func()) {
	k := &r.book
	k.mu.Lock()
	add()
	full := len(p.log) >= max(enough, p.most)
	k.mu.Unlock()
	if !full {
		return
	}
	r.outlet.settle()
	k.mu.Lock()
	p.most = 2 * len(p.log)
	if len(p.log) > maxPassed {
		p.lost, p.log = true, nil
	}
	k.mu.Unlock()
}

func (p *passing) forgot() bool { return p.lost }

// checkPassages says what keeps a passage from being resumed.
func (b *book) checkPassages(stages []*stageRun) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.passages {
		n := p.node()
		if g := groupAbove(n, stages); g != nil {
			return fmt.Errorf("no state: the stage %q makes groups above the %s %q; put it below", g.id, n.kind, n.id)
		}
		if m, ok := p.(interface{ forgot() bool }); ok && m.forgot() {
			return fmt.Errorf("no state: more than %d items have passed the %s %q since the last delivery", maxPassed, n.kind, n.id)
		}
	}
	return nil
}

func groupAbove(n *node, stages []*stageRun) *node {
	for _, in := range n.ins {
		if stages[in.no].isGroup {
			return in
		}
		if g := groupAbove(in, stages); g != nil {
			return g
		}
	}
	return nil
}
