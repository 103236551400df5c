package graph

import (
	"slices"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/engine"
)

// MixState is where a mix stands in the state's epoch: what each input gave since the epoch began or an input dropped
// out, which have dropped out, and which were gone through once.
type MixState struct {
	ID    string  `json:"id"`
	Given []int64 `json:"given"`
	Gone  []bool  `json:"gone"`
	Done  []bool  `json:"done"`
}

// MixStats are the shares of one mix in the items that it has handed on so far.
type MixStats struct {
	ID     string
	Inputs []MixInput
}

// MixInput is one input of a mix. Asked and Delivered are shares from 0 to 1; Delivered is nil before the first item.
type MixInput struct {
	ID        string
	Asked     float64
	Delivered *float64
	Items     int64
}

// mixture is the passage of a mix.
type mixture struct {
	route
	passing
	run     *Run
	from    []reached // as of before the log
	shares  *engine.Shares
	resumed bool

	weights []int64
	given   []int64        // by input, in the whole run
	bears   []*atomic.Bool // by source: something has come of it
}

// mixed makes the passage of a mix, and sets its counters where a run goes on.
func (b *builder) mixed(n *node, shares *engine.Shares, weights []int64) *mixture {
	m := &mixture{run: b.run, weights: weights, given: make([]int64, len(n.ins))}
	m.route, m.from = b.route(n)
	if b.resume != nil {
		shares.Begin(int32(b.resume.Epoch))
		for i := range b.resume.Mixes {
			if x := &b.resume.Mixes[i]; x.ID == n.id && x.fits(len(n.ins)) {
				shares.Resume(int32(b.resume.Epoch), x.Given, x.Gone, x.Done)
				m.resumed = true
			}
		}
	}
	m.shares = shares.Clone()
	for i := range b.steer {
		m.bears = append(m.bears, &b.steer[i].bears)
	}
	b.run.book.passages = append(b.run.book.passages, m)
	return m
}

// fits guards against a state that was resumed by force or damaged.
func (x *MixState) fits(inputs int) bool {
	return len(x.Given) == inputs && len(x.Gone) == inputs && len(x.Done) == inputs &&
		!slices.ContainsFunc(x.Given, func(n int64) bool { return n < 0 }) && slices.Contains(x.Gone, false)
}

// note writes down what the mix did. It is called by the mix.
func (m *mixture) note(events []engine.Event) {
	m.passing.note(m.run, func() {
		for i := range events {
			e := &events[i]
			if e.What == engine.Gave {
				m.given[e.Input]++
				if f := m.bears[e.Tag.Source]; !f.Load() {
					f.Store(true)
				}
			}
			if !m.lost && m.run.water == nil {
				m.log = append(m.log, passedOf(e.What, e.Input, &e.Tag))
			}
		}
	})
}

func (m *mixture) settle(at *standing) {
	own := m.latest(at)
	if own >= 0 {
		i, again := find(m.log, at.last[own])
		if i >= 0 && !again {
			i++
		}
		m.forget(max(0, i))
	}
	if own >= 0 {
		m.see(at, m.from, at.order[own], own)
	}
	if at.state != nil && int64(m.shares.Epoch) == at.epoch {
		s := m.shares
		at.state.Mixes = append(at.state.Mixes, MixState{m.n.id, slices.Clone(s.Given), slices.Clone(s.Gone), slices.Clone(s.Done)})
	}
}

// forget does the first events to what is kept of before the log.
func (m *mixture) forget(n int) {
	for i := range m.log[:n] {
		p := &m.log[i]
		e := engine.Event{What: p.what, Input: int(p.input)}
		e.Tag.Epoch = p.epoch
		e.Apply(m.shares)
		if p.what == engine.Gave {
			m.seq++
			m.from[slices.Index(m.sources, int(p.source))] = reached{p.pos(), m.seq}
		}
	}
	m.log = append(m.log[:0], m.log[n:]...)
}

// stats are the shares so far.
func (m *mixture) stats() MixStats {
	x := MixStats{ID: m.n.id}
	var asked, items int64
	for i := range m.weights {
		asked, items = asked+m.weights[i], items+m.given[i]
	}
	for i, in := range m.n.ins {
		y := MixInput{ID: in.id, Asked: float64(m.weights[i]) / float64(asked), Items: m.given[i]}
		if items > 0 {
			share := float64(m.given[i]) / float64(items)
			y.Delivered = &share
		}
		x.Inputs = append(x.Inputs, y)
	}
	return x
}

// mixes are the shares of all mixes so far, in order of declaration.
func (k *book) mixes() (all []MixStats) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.passages {
		if m, ok := p.(*mixture); ok {
			all = append(all, m.stats())
		}
	}
	return all
}
