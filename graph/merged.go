package graph

import (
	"slices"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

// MergeState is which input gives the next item of a merge with stages below it that may leave items out: there it does
// not follow from what was delivered.
type MergeState struct {
	ID   string `json:"id"`
	Turn int    `json:"turn"`
}

// merging is the passage of such a merge.
type merging struct {
	route
	passing
	run    *Run
	from   []reached // as of before the log
	inputs []int     // by source: the input that it comes by
	turn   int       // as of before the log
	epoch  int32     // of turn
}

// merged makes the passage of a merge, once it is known that what was delivered does not tell where it stands.
func (b *builder) merged(n *node) *merging {
	m := &merging{run: b.run, inputs: make([]int, b.sources), epoch: -1}
	m.route, m.from = b.route(n)
	for i, in := range n.ins {
		for _, s := range b.sourcesOf(in) {
			m.inputs[s] = i
		}
	}
	if b.resume != nil {
		m.turn, m.epoch = b.turnOf(n), int32(b.resume.Epoch)
	}
	book := &b.run.book
	book.passages = append(book.passages, m)
	for i := len(book.passages) - 1; i > 0 && book.passages[i-1].node().no > n.no; i-- {
		book.passages[i-1], book.passages[i] = book.passages[i], book.passages[i-1]
	}
	return m
}

// gave writes down what a merge hands on.
func gave[T any](m *merging, cells []edge.Cell[T]) {
	m.passing.note(m.run, func() {
		for i := range cells {
			if t := &cells[i].Tag; t.Flags&edge.PassEnd == 0 && !m.lost {
				m.log = append(m.log, passedOf(engine.Gave, m.inputs[t.Source], t))
			}
		}
	})
}

func (m *merging) settle(at *standing) {
	own := m.latest(at)
	if own >= 0 {
		i, again := find(m.log, at.last[own])
		if i >= 0 && !again {
			i++
		}
		m.forget(max(0, i))
		if again { // it comes once more
			m.turn, m.epoch = int(m.log[0].input), m.log[0].epoch
		}
		m.see(at, m.from, at.order[own], own)
	}
	if at.state != nil && int64(m.epoch) == at.epoch {
		at.state.Merges = append(at.state.Merges, MergeState{m.n.id, m.turn})
	}
}

// forget does the first items to what is kept of before the log.
func (m *merging) forget(n int) {
	for i := range m.log[:n] {
		p := &m.log[i]
		m.seq++
		m.from[slices.Index(m.sources, int(p.source))] = reached{p.pos(), m.seq}
		m.turn, m.epoch = (int(p.input)+1)%len(m.n.ins), p.epoch
	}
	m.log = append(m.log[:0], m.log[n:]...)
}

// dropsBelow says that a stage below a merge may leave items out: what was delivered then does not tell how far the merge
// had come with each of its inputs.
func (b *builder) dropsBelow(merge *node) bool {
	grouped := false
	for n := merge.next; n != nil; n = n.next {
		s := b.stages[n.no]
		grouped = grouped || s.isGroup
		if s.drops || n.skips() && !grouped && !groupBelow(n, b.stages) {
			return true
		}
	}
	// The mark of a skipped item takes a turn, and is not delivered; nor is a group of nothing but marks.
	return groupAbove(merge, b.stages) == nil && slices.ContainsFunc(b.stages, func(s *stageRun) bool { return s.n.skips() })
}
