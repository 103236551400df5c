package graph

import (
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
)

// BlockState is where a stage that hands blocks on stands in the state's epoch: in which block, and how many of its items
// were delivered. The sources stand before the block, which is read again.
type BlockState struct {
	ID     string `json:"id"`
	Block  int64  `json:"block"`
	Offset int64  `json:"offset"`
}

// OpenState is an item of which a flat-map below such a stage had some outputs delivered, up to Child.
type OpenState struct {
	Source int   `json:"source"`
	Place  int64 `json:"place"`
	Child  []int `json:"child"`
}

// blocks is the passage of a stage that hands blocks on.
type blocks struct {
	route
	run  *Run
	now  []reached // as of the last block noted
	from []reached // as of before the block that the run stands in
	at   BlockState
	of   int64 // the epoch of at
	list []blockMark
	size int // items in list
	most int
}

// blockMark is a block that was handed on.
type blockMark struct {
	epoch         int32
	number        int64
	before, after []reached
	items         []passed // as they left
}

func openBlock[T any](b *builder, s *stageRun, in *edge.Edge[T], d *Block) error {
	s.workers, s.block = 1, max(1, d.Size)
	h := hooksOf[T](b.index)
	k := &blocks{run: b.run, most: 4096, of: -1}
	k.route, k.from = b.route(s.n)
	k.now = slices.Clone(k.from)
	e := &engine.Block[T]{
		Meter: s.m, In: in, Out: newEdge[T](b, s), Size: s.block, Drop: h.dropQuietly,
		Order: func(epoch int32, number int64, n int) func(int) int { return d.Order(int64(epoch), number, n) },
		Wrap:  func(err error) error { return b.wrapOpen(s, 0, "process", err) },
		Book: func(epoch int32, number int64, came, leaves []edge.Cell[T]) {
			m := blockMark{epoch: epoch, number: number, before: k.now, after: slices.Clone(k.now), items: make([]passed, len(leaves))}
			for i := range came {
				k.seq++
				p := passedOf(engine.Gave, 0, &came[i].Tag)
				m.after[slices.Index(k.sources, int(p.source))] = reached{p.pos(), k.seq}
				m.items[i] = passedOf(engine.Gave, 0, &leaves[i].Tag)
			}
			k.note(m)
		},
	}
	if b.resume != nil {
		k.of, k.at, e.FirstEpoch = b.resume.Epoch, BlockState{ID: s.n.id}, int32(b.resume.Epoch)
		for _, x := range b.resume.Blocks {
			if x.ID == s.n.id && x.Block >= 0 && x.Offset >= 0 {
				k.at, e.FirstNumber, e.Skip, s.reread = x, x.Block, x.Offset, x.Offset
			}
		}
	}
	if b.run.water == nil {
		b.run.book.passages = append(b.run.book.passages, k)
	} else {
		e.Book = nil
	}
	b.launch(func() { e.Start(b.eng) })
	if b.p.sync {
		b.pulls[s.n.no] = e.Pull(b.eng, b.pulls[s.n.ins[0].no].(engine.Pull[T]))
	}
	return nil
}

func (k *blocks) note(m blockMark) {
	book := &k.run.book
	book.mu.Lock()
	k.now = m.after
	k.list = append(k.list, m)
	k.size += len(m.items)
	full := k.size >= k.most
	book.mu.Unlock()
	if full {
		k.run.outlet.settle()
		book.mu.Lock()
		k.most = max(4096, 2*k.size)
		book.mu.Unlock()
	}
}

// find is the block and the place in it of an item that was delivered.
func (k *blocks) find(q item.Pos) (block, at int, again bool) {
	for i := range k.list {
		if at, again = find(k.list[i].items, q); at >= 0 {
			return i, at, again
		}
	}
	return -1, -1, false
}

func (k *blocks) settle(at *standing) {
	own := k.latest(at)
	if own >= 0 {
		q := at.last[own]
		if i, off, again := k.find(q); i >= 0 {
			k.stand(i, off, again)
			if again && at.state != nil && at.state.Open == nil {
				at.state.Open = &OpenState{q.Source, q.Place, q.Children()}
			}
		}
		k.see(at, k.from, at.order[own], -1)
	}
	if at.state != nil && k.of == at.epoch {
		at.state.Blocks = append(at.state.Blocks, k.at)
	}
}

// stand notes that item off of block i was the last one delivered, and forgets the blocks before.
func (k *blocks) stand(i, off int, again bool) {
	for _, m := range k.list[:i] {
		k.size -= len(m.items)
	}
	k.list = append(k.list[:0], k.list[i:]...)
	m := &k.list[0]
	if !again {
		off++
	}
	k.of, k.from, k.at = int64(m.epoch), m.before, BlockState{k.n.id, m.number, int64(off)}
	if off == len(m.items) {
		k.from, k.at = m.after, BlockState{k.n.id, m.number + 1, 0}
	}
}

// seenAt is [builder.seen] for a flat-map: below a stage that hands blocks on, what was delivered of the item that was
// open; above it, what came before the block.
func (b *builder) seenAt(n *node) func(*edge.Tag, string) bool {
	for up := n; len(up.ins) == 1; up = up.ins[0] {
		if b.stages[up.ins[0].no].block > 0 {
			return b.seenOpen
		}
	}
	return b.seen
}

func (b *builder) seenOpen(t *edge.Tag, child string) bool {
	x := b.resume.Open
	if x == nil || int64(t.Epoch) != b.resume.Epoch || int(t.Source) != x.Source || t.Place != x.Place {
		return false
	}
	last := (&SourceState{Child: x.Child}).resumedChild()
	return child <= last && (child == last || !strings.HasPrefix(last, child))
}
