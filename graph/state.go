package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/item"
)

// State is where a run stands: after the last item that the consumer has received. A pipeline that is started with it
// (see [Resume]) delivers what an unbroken run would have delivered next, whatever its workers and buffers. It is small:
// its size depends on the number of stages, not on the data.
type State struct {
	Version  int           `json:"version"`
	Pipeline string        `json:"pipeline"`
	Stream   []string      `json:"stream"` // what the stream depends on, a line a stage
	Rank     int           `json:"rank"`
	World    int           `json:"world"`
	Epoch    int64         `json:"epoch"`
	Batches  int64         `json:"batches"` // of the epoch so far
	Digest   StateDigest   `json:"digest"`
	Sources  []SourceState `json:"sources"`
	Mixes    []MixState    `json:"mixes,omitempty"`
	Merges   []MergeState  `json:"merges,omitempty"`
	Blocks   []BlockState  `json:"blocks,omitempty"`
	Open     *OpenState    `json:"open,omitempty"`

	// Inexact says that a stage has order: completion, so that no place divides what was delivered from what was not. The
	// sources then stand at the low-water mark: everything before it was delivered or left out, and what was delivered of
	// the places after it comes again.
	Inexact bool `json:"inexact,omitempty"`
}

// StateDigest is the digest so far, of the epoch and of the epochs before it, as hexadecimal numbers; empty where there
// is none.
type StateDigest struct {
	Epoch  string `json:"epoch"`
	Before string `json:"before"`
}

// SourceState is where one source stands. Order is larger the later it was delivered from, 0 if it was not yet: a merge
// goes on after the latest one.
type SourceState struct {
	ID          string      `json:"id"`
	Len         int64       `json:"len"`
	Fingerprint string      `json:"fingerprint,omitempty"`
	Base        int64       `json:"base,omitempty"`   // the place, in the state's epoch, from which on it is this world that reads
	Place       int64       `json:"place"`            // of the job's next item to read, in the state's epoch
	Child       []int       `json:"child,omitempty"`  // outputs of that item up to this one were delivered
	Splits      *SplitState `json:"splits,omitempty"` // of an iterable, instead of places; nil: nothing of the epoch was delivered
	Order       int64       `json:"order"`
	Ahead       int64       `json:"ahead,omitempty"` // of an inexact state: so many places after Place were done with as well
}

const (
	stateVersion = 1
	maxStateSize = 1 << 20
)

// ErrState says that a state does not fit the pipeline.
var ErrState = errors.New("the state does not fit")

// Resume starts where a state was taken. A state of another stream or of other data is refused with what has changed;
// force takes it all the same, as far as it can be followed, and the report says so. Start reads it: given to a pipeline
// that runs, it is for the next run, and the one under way goes on.
func Resume(s State, force bool) PipelineOption {
	return func(p *Pipeline) { p.resume, p.force = &s, force }
}

// OnDelivery calls f in the consumer's goroutine each time it is done with an item, with their number: there the run's
// State is exact.
func OnDelivery(f func(n int64)) PipelineOption { return func(p *Pipeline) { p.onDelivery = f } }

// streamLines describe what the stream depends on: not workers, buffers and how errors are retried, nor the sink.
func (p *Pipeline) streamLines() []string {
	lines := []string{fmt.Sprintf("seed %d", p.seed)}
	if p.uneven != "" {
		lines = append(lines, fmt.Sprintf("uneven %s", p.uneven))
	}
	if p.steps > 0 {
		lines = append(lines, fmt.Sprintf("steps_per_epoch %d", p.steps))
	}
	for _, n := range p.nodes {
		if n.role == sinkRole {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s", n.id, n.kind)
		if s, ok := n.decl.(Streamer); ok {
			b.WriteString(" " + s.Stream())
			for _, in := range n.ins {
				fmt.Fprintf(&b, " from=%s", in.id)
			}
		} else {
			n.describe(&b)
		}
		if n.skips() {
			b.WriteString(" on_error=skip")
		}
		if n.opts.order == CompletionOrder {
			b.WriteString(" order=completion")
		}
		if s, ok := n.opts.sampler.(Streamer); ok {
			fmt.Fprintf(&b, " sampler=%s%s", kindOf(s), s.Stream())
		} else if o := n.opts.sampler; o != nil {
			fmt.Fprintf(&b, " sampler=%s%+v", kindOf(o), o)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// State is where the run stands. It is exact when asked from the consumer's own loop or from [OnDelivery], but where a
// stage has order: completion: there it is [State.Inexact], and the report says so. It costs the same at any place of an
// epoch.
func (r *Run) State() (State, error) {
	if err := r.hasState(); err != nil {
		return State{}, err
	}
	s := r.outlet.state()
	s.Version, s.Pipeline, s.Stream = stateVersion, r.p.name, r.p.streamLines()
	s.Rank, s.World = r.p.World()
	for i := range s.Sources {
		src := r.sources[i]
		s.Sources[i].ID, s.Sources[i].Len, s.Sources[i].Fingerprint = src.id, src.len, src.fingerprint
	}
	return s, nil
}

// hasState says what keeps a pipeline from being resumed.
func (r *Run) hasState() error {
	if first := r.p.inAnyOrder(); first != nil {
		if err := r.p.noLowWater(first); err != nil {
			return err
		}
		r.warn(fmt.Sprintf("the state is inexact: the stage %q has order: completion, so what was delivered out of order comes again in a run that goes on from it", first.id))
		return nil
	}
	return r.book.checkPassages(r.stages)
}

func groupBelow(n *node, stages []*stageRun) bool {
	for ; n != nil; n = n.next {
		if stages[n.no].isGroup {
			return true
		}
	}
	return false
}

// sourceRun is what a run's state tells of a source.
type sourceRun struct {
	id          string
	len         int64
	fingerprint string
	after       func(epoch, place, rows int64) int64
	base        func(epoch int64) int64
	finish      func(epoch int64)
	finished    func(epoch, last int64)
	forward     *forward // of an iterable
}

// marker keeps where the consumer is. It belongs to the outlet's lock.
type marker struct {
	epoch   int64
	batches int64
	count   int64
	last    []item.Pos // by source
	order   []int64
}

func newMarker(sources int) marker {
	m := marker{last: make([]item.Pos, sources), order: make([]int64, sources)}
	for i := range m.last {
		m.last[i] = item.Pos{Epoch: -1}
	}
	return m
}

func (m *marker) passed(p item.Pos) {
	m.count++
	m.last[p.Source], m.order[p.Source] = p, m.count
}

// passedTag is passed for an item, without a copy of what seldom changes.
func (m *marker) passedTag(t *edge.Tag) {
	m.count++
	l := &m.last[t.Source]
	l.Epoch, l.Source, l.Place = int64(t.Epoch), int(t.Source), t.Place
	if t.Ext != nil {
		l.Child = t.Ext.Child
	} else if l.Child != "" {
		l.Child = ""
	}
	m.order[t.Source] = m.count
}

// received notes that the consumer has got an item.
func (o *typedOutlet[T]) received(c *edge.Cell[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := &o.mark
	if m.last == nil {
		m.last = newMarker(len(o.r.sources)).last
		m.order = make([]int64, len(m.last))
		o.forgets = slices.ContainsFunc(o.r.sources, func(s sourceRun) bool { return s.forward != nil })
	}
	if e := int64(c.Epoch); e != m.epoch {
		m.epoch, m.batches = e, 0
		o.r.water.enter(e)
	}
	o.r.water.done(&c.Tag)
	m.batches++
	b, ok := any(c.V).(*item.Batch)
	if ok {
		m.batches = b.Number + 1
	}
	switch {
	case ok && len(m.last) == 1:
		m.passed(b.Rows[len(b.Rows)-1].Pos)
	case ok:
		for i := range b.Rows {
			m.passed(b.Rows[i].Pos)
		}
	default:
		m.passedTag(&c.Tag)
	}
	switch {
	case !o.forgets:
	case o.r.water != nil:
		if m.count%forgetEvery == 0 {
			o.forget(o.r.water.lows())
		}
	case len(o.r.book.passages) == 0:
		o.forget(m.last)
	}
	o.chainAt, o.allAt = o.chain, o.all
	if o.until != nil && m.batches == o.p.steps {
		for i, p := range m.last {
			if p.Epoch != m.epoch {
				p.Place = -1
			}
			if f := o.r.sources[i].finished; f != nil { // nobody knows what is left of an iterable
				f(m.epoch, p.Place)
			}
		}
	}
}

// standing is a copy of the marks.
func (o *typedOutlet[T]) standing() *standing {
	m := o.mark
	if m.last == nil {
		m.last, m.order = newMarker(len(o.r.sources)).last, make([]int64, len(o.r.sources))
	}
	return &standing{epoch: m.epoch, last: slices.Clone(m.last), order: slices.Clone(m.order)}
}

// settle lets the stages that keep what is under way forget what was delivered.
func (o *typedOutlet[T]) settle() {
	o.mu.Lock()
	at := o.standing()
	o.mu.Unlock()
	o.r.book.settle(at)
	o.forget(at.last)
}

// forgetEvery is after how many deliveries low-water marks are looked at.
const forgetEvery = 64

// forget lets the iterables forget what comes before the last items.
func (o *typedOutlet[T]) forget(last []item.Pos) {
	for i, p := range last {
		if f := o.r.sources[i].forward; f != nil && p.Epoch >= 0 && p.Place != -1 {
			f.passed(p)
		}
	}
}

// state takes the marks down.
func (o *typedOutlet[T]) state() State {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := &o.mark
	s := State{Epoch: m.epoch, Batches: m.batches, Sources: make([]SourceState, len(o.r.sources))}
	at := o.standing()
	at.state = &s
	var ahead []int64
	switch w := o.r.water; {
	case w != nil:
		s.Inexact = true
		at.last, ahead = w.stand()
		clear(at.order)
	default:
		ahead = make([]int64, len(at.last))
		if o.hashed && !o.mixed {
			s.Digest = StateDigest{o.chainAt.String(), o.allAt.String()}
		}
		o.r.book.settle(at)
	}
	for i, p := range at.last {
		x := &s.Sources[i]
		x.Order, x.Ahead = at.order[i], ahead[i]
		src := &o.r.sources[i]
		if src.forward != nil {
			if p.Epoch == m.epoch && p.Place != -1 {
				x.Splits, x.Child = src.forward.state(p), p.Children()
			}
			continue
		}
		x.Base = src.base(m.epoch)
		switch {
		case p.Epoch != m.epoch: // a merge above begins the epoch with its first input
			x.Place, x.Order = x.Base, 0
		case o.r.rows >= 0 && o.r.p.world.Size() > 1:
			x.Place = src.after(p.Epoch, p.Place, o.r.rows)
		case p.Child != "":
			x.Place, x.Child = p.Place, p.Children()
		default:
			x.Place = p.Place + 1
		}
	}
	return s
}
