package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	Epoch    int64         `json:"epoch"`
	Batches  int64         `json:"batches"` // of the epoch so far
	Digest   StateDigest   `json:"digest"`
	Sources  []SourceState `json:"sources"`
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
	ID          string `json:"id"`
	Len         int64  `json:"len"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Place       int64  `json:"place"`           // of the next item to read, in the state's epoch
	Child       []int  `json:"child,omitempty"` // outputs of that item up to this one were delivered
	Order       int64  `json:"order"`
}

const (
	stateVersion = 1
	maxStateSize = 1 << 20
)

// ErrState says that a state does not fit the pipeline.
var ErrState = errors.New("the state does not fit")

// Resume starts where a state was taken. A state of another stream or of other data is refused with what has changed;
// force takes it all the same, as far as it can be followed, and the report says so.
func Resume(s State, force bool) PipelineOption {
	return func(p *Pipeline) { p.resume, p.force = &s, force }
}

// OnDelivery calls f in the consumer's goroutine each time it is done with an item, with their number: there the run's
// State is exact.
func OnDelivery(f func(n int64)) PipelineOption { return func(p *Pipeline) { p.onDelivery = f } }

// streamLines describe what the stream depends on: not workers, buffers and how errors are retried, nor the sink.
func (p *Pipeline) streamLines() []string {
	lines := []string{fmt.Sprintf("seed %d", p.seed)}
	for _, n := range p.nodes {
		if n.role == sinkRole {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s", n.id, n.kind)
		n.describe(&b)
		if n.skips() {
			b.WriteString(" on_error=skip")
		}
		if o := n.opts.sampler; o != nil {
			fmt.Fprintf(&b, " sampler=%s%+v", kindOf(o), o)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// State is where the run stands. It is exact when asked from the consumer's own loop or from [OnDelivery]. It costs the
// same at any place of an epoch.
func (r *Run) State() (State, error) {
	if err := r.p.canResume(r.stages); err != nil {
		return State{}, err
	}
	s := r.outlet.state()
	s.Version, s.Pipeline, s.Stream = stateVersion, r.p.name, r.p.streamLines()
	for i := range s.Sources {
		src := r.sources[i]
		s.Sources[i].ID, s.Sources[i].Len, s.Sources[i].Fingerprint = src.id, src.len, src.fingerprint
	}
	return s, nil
}

// canResume says what keeps a pipeline from being resumed.
func (p *Pipeline) canResume(stages []*stageRun) error {
	for _, s := range stages {
		switch {
		case s.iterable:
			return fmt.Errorf("no state: the source %q is read forward, which cannot be resumed yet", s.n.id)
		case s.n.opts.order == CompletionOrder:
			return fmt.Errorf("no state: the stage %q has order: completion, so that no place divides what was delivered from what was not", s.n.id)
		case s.n.role == mergeRole:
			if err := dropsBelow(s.n, stages); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropsBelow refuses a stage below a merge that may leave items out: what was delivered then does not tell how far the
// merge had come with each of its inputs.
func dropsBelow(merge *node, stages []*stageRun) error {
	grouped := false
	for n := merge.next; n != nil; n = n.next {
		s := stages[n.no]
		grouped = grouped || s.isGroup
		if s.drops || n.skips() && !grouped && !groupBelow(n, stages) {
			return fmt.Errorf("no state: the stage %q may leave items out below the merge %q; put it before the merge", n.id, merge.id)
		}
	}
	return nil
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

// received notes that the consumer has got an item.
func (o *typedOutlet[T]) received(c *edge.Cell[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := &o.mark
	if m.last == nil {
		m.last = newMarker(len(o.r.sources)).last
		m.order = make([]int64, len(m.last))
	}
	if e := int64(c.Epoch); e != m.epoch {
		m.epoch, m.batches = e, 0
	}
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
		m.passed(posOf(&c.Tag))
	}
	o.chainAt, o.allAt = o.chain, o.all
}

// state takes the marks down.
func (o *typedOutlet[T]) state() State {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := &o.mark
	s := State{Epoch: m.epoch, Batches: m.batches, Sources: make([]SourceState, len(o.r.sources))}
	if o.hashed {
		s.Digest = StateDigest{o.chainAt.String(), o.allAt.String()}
	}
	for i, p := range m.last {
		x := &s.Sources[i]
		x.Order = m.order[i]
		switch {
		case p.Epoch != m.epoch:
		case p.Child != "":
			x.Place, x.Child = p.Place, p.Children()
		default:
			x.Place = p.Place + 1
		}
	}
	return s
}

// resumeAt prepares a run to go on at a state.
func (b *builder) resumeAt(s *State) error {
	if s == nil {
		return nil
	}
	b.resume = s
	changed := b.changes(s)
	if len(changed) > 0 && !b.p.force {
		return &StageError{Pipeline: b.p.name, Op: "resume", Err: fmt.Errorf("%w; what has changed:\n  %s", ErrState, strings.Join(changed, "\n  "))}
	}
	for _, c := range changed {
		b.run.warn("resumed by force: " + c)
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
	if len(x.Child) == 0 || t.Place != x.Place {
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
	o.chain, o.all = item.ParseChain(s.Digest.Epoch), item.ParseChain(s.Digest.Before)
	o.mark = newMarker(len(o.r.sources))
	o.mark.epoch, o.mark.batches = s.Epoch, s.Batches
	for i := range min(len(s.Sources), len(o.mark.last)) {
		x := s.Sources[i]
		o.mark.order[i], o.mark.count = x.Order, max(o.mark.count, x.Order)
		o.mark.last[i] = item.Pos{Epoch: s.Epoch, Source: i, Place: x.Place - 1}
		if len(x.Child) > 0 {
			o.mark.last[i].Place, o.mark.last[i].Child = x.Place, x.resumedChild()
		}
	}
	o.chainAt, o.allAt = o.chain, o.all
	o.carried = s.Digest.Epoch != ""
	o.hashed = o.carried
}

// Save writes the state to a file, whole or not at all: to a file beside it, which then takes its place.
func (s State) Save(path string) (err error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644) // one name, so that kills leave one file at most
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// LoadState reads a state that Save wrote. A file that is not one, or larger than 1 MiB, is an error.
func LoadState(path string) (s State, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxStateSize+1))
	if err != nil {
		return s, fmt.Errorf("state: %w", err)
	}
	if len(data) > maxStateSize {
		return s, fmt.Errorf("state %q is larger than %d bytes: it is not one", path, maxStateSize)
	}
	if s, err = ParseState(data); err != nil {
		return s, fmt.Errorf("state %q: %w", path, err)
	}
	return s, nil
}

// ParseState reads a state from JSON.
func ParseState(data []byte) (s State, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err = d.Decode(&s); err != nil {
		return State{}, fmt.Errorf("not a state: %w", err)
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("not a state: something follows it")
	}
	if s.Version != stateVersion {
		return State{}, fmt.Errorf("version %d of states is not known, wanted %d", s.Version, stateVersion)
	}
	if s.Epoch < 0 || s.Batches < 0 || s.Epoch > 1<<31-1 {
		return State{}, errors.New("not a state: a number is out of range")
	}
	for _, x := range s.Sources {
		if x.Place < 0 || x.Len < 0 || x.Place > x.Len || x.Order < 0 || len(x.Child) > 64 || slices.ContainsFunc(x.Child, func(c int) bool { return c < 0 }) {
			return State{}, fmt.Errorf("not a state: source %q is out of range", x.ID)
		}
	}
	return s, nil
}
