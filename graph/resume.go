package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/item"
)

// resumeAt prepares a run to go on at a state.
func (b *builder) resumeAt(s *State) error {
	defer b.countsPlaces()
	if s == nil {
		return nil
	}
	b.resume = b.p.settled(*s)
	changed := b.changes(s)
	if len(changed) > 0 && !b.p.force {
		return &StageError{Pipeline: b.p.name, Op: "resume", Err: fmt.Errorf("%w; what has changed:\n  %s", ErrState, strings.Join(changed, "\n  "))}
	}
	for _, c := range changed {
		b.run.warn("resumed by force: " + c)
	}
	if n := s.Repeats(); n > 0 {
		b.run.warn(fmt.Sprintf("resumed from an inexact state: up to %d places of the sources that were done with come again, and what was delivered in part of others", n))
	}
	return nil
}

// changes lists what makes a state that of another stream.
func (b *builder) changes(s *State) (changed []string) {
	now := b.p.streamLines()
	for _, l := range s.Stream {
		if !slices.Contains(now, l) {
			changed = append(changed, "was: "+l)
		}
	}
	for _, l := range now {
		if !slices.Contains(s.Stream, l) {
			changed = append(changed, "is:  "+l)
		}
	}
	if b.p.epochs != Forever && s.Epoch >= int64(b.p.epochs) {
		changed = append(changed, fmt.Sprintf("the state is of epoch %d, the pipeline has %d", s.Epoch, b.p.epochs))
	}
	return changed
}

// sourceAt finds a source's part of the state and checks that its data are the same.
func (b *builder) sourceAt(s *stageRun, number int, r sourceRun) (*SourceState, error) {
	if b.resume == nil {
		return nil, nil
	}
	if number >= len(b.resume.Sources) {
		if b.p.force {
			return nil, nil
		}
		return nil, b.wrapOpen(s, -1, "resume", fmt.Errorf("%w: it has no such source", ErrState))
	}
	x := &b.resume.Sources[number]
	if x.Len != r.len || x.Fingerprint != r.fingerprint {
		change := fmt.Sprintf("the data of %q had %d items, now %d", s.n.id, x.Len, r.len)
		if x.Len == r.len {
			change = fmt.Sprintf("the data of %q are others (their list of %d items has another fingerprint)", s.n.id, r.len)
		}
		if !b.p.force {
			return nil, b.wrapOpen(s, -1, "resume", fmt.Errorf("%w; what has changed:\n  %s", ErrState, change))
		}
		b.run.warn("resumed by force: " + change)
	}
	return x, nil
}

// resumedChild is the last output of an item that was delivered before the state was taken, as a path.
func (x *SourceState) resumedChild() string {
	p := item.Pos{}
	for _, c := range x.Child {
		p = p.Down(c)
	}
	return p.Child
}

// seen says that an output of a flat-map was delivered before the state was taken. An output that only leads to the last
// one delivered is made again: others of it may be due.
func (b *builder) seen(t *edge.Tag, child string) bool {
	if b.resume == nil || int64(t.Epoch) != b.resume.Epoch || int(t.Source) >= len(b.resume.Sources) {
		return false
	}
	x := &b.resume.Sources[t.Source]
	place := x.Place
	if sp := x.Splits; sp != nil {
		place = item.SplitPlace(sp.Split, sp.Record)
	}
	if len(x.Child) == 0 || t.Place != place {
		return false
	}
	last := x.resumedChild()
	return child <= last && (child == last || !strings.HasPrefix(last, child))
}

// turnOf is the input of a merge after the one that gave what was delivered last.
func (b *builder) turnOf(n *node) int {
	if b.resume == nil {
		return 0
	}
	for _, m := range b.resume.Merges {
		if m.ID == n.id && m.Turn >= 0 && m.Turn < len(n.ins) {
			return m.Turn
		}
	}
	best, turn := int64(0), 0
	for i, in := range n.ins {
		for _, s := range b.sourcesOf(in) {
			if s < len(b.resume.Sources) && b.resume.Sources[s].Order > best {
				best, turn = b.resume.Sources[s].Order, i+1
			}
		}
	}
	return turn % len(n.ins)
}

// sourcesOf lists the numbers of the sources above a node.
func (b *builder) sourcesOf(n *node) (numbers []int) {
	if n.role == sourceRole {
		return []int{b.stages[n.no].source}
	}
	for _, in := range n.ins {
		numbers = append(numbers, b.sourcesOf(in)...)
	}
	return numbers
}

// continued restores the digest of an outlet.
func (o *typedOutlet[T]) continued(s *State) {
	if s == nil {
		return
	}
	other := s.World != int(o.p.world.Size()) || s.Rank != o.p.world.Rank
	if o.mixed = other || s.Digest.Epoch == ""; !o.mixed {
		o.chain, o.all = item.ParseChain(s.Digest.Epoch), item.ParseChain(s.Digest.Before)
	}
	o.mark = newMarker(len(o.r.sources))
	o.mark.epoch, o.mark.batches = s.Epoch, s.Batches
	for i := range min(len(s.Sources), len(o.mark.last)) {
		x := s.Sources[i]
		o.mark.order[i], o.mark.count = x.Order, max(o.mark.count, x.Order)
		o.mark.last[i] = x.last(s.Epoch, i)
	}
	o.chainAt, o.allAt = o.chain, o.all
	o.carried = !o.mixed
	o.hashed = o.carried
}
