package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/shard"
)

// UnevenBy says what becomes of items that do not divide by the number of ranks.
type UnevenBy string

// The ways. Pad is the default: the epoch's first items come again, marked as padding, until all ranks have equally many.
// Drop leaves the last ones out. Keep lets some ranks have one item more than the others.
const (
	Pad  UnevenBy = "pad"
	Drop UnevenBy = "drop"
	Keep UnevenBy = "keep"
)

// Rank says that the pipeline is that of one process of a job: rank of world. Without it there is one process. All
// processes of a job declare the same pipeline; each then reads its own part of every source, see docs/ranks.md.
func Rank(rank, world int) PipelineOption {
	return func(p *Pipeline) { p.world, p.ranked = shard.World{Rank: rank, World: world}, true }
}

// Uneven says what becomes of items that do not divide by the number of ranks.
func Uneven(by UnevenBy) PipelineOption { return func(p *Pipeline) { p.uneven = by } }

// StepsPerEpoch ends each epoch after n deliveries of the sink. A source that has run out goes through its data again
// within the epoch, and the items that come again are marked as padding; what is left of a source that has not is left
// out and counted as dropped.
func StepsPerEpoch(n int) PipelineOption {
	return func(p *Pipeline) { p.steps, p.stepped = int64(n), true }
}

// World tells what [Rank] said: 0 of 1 without it.
func (p *Pipeline) World() (rank, world int) { return p.world.Rank, int(p.world.Size()) }

// Dropper is an optional method of a stage: whether it makes fewer or more items than it takes. Ranks then need
// [StepsPerEpoch], which Build says where it can tell.
type Dropper interface{ Drops() bool }

func (p *Pipeline) unevenBy() shard.Uneven {
	return map[UnevenBy]shard.Uneven{"": shard.Pad, Pad: shard.Pad, Drop: shard.Drop, Keep: shard.Keep}[p.uneven]
}

// checkRanks looks at the settings that concern a job of several processes.
func (p *Pipeline) checkRanks() {
	if err := p.world.Check(); err != nil || p.ranked && p.world.World == 0 {
		if err == nil {
			err = errors.New("world must be at least 1, got 0")
		}
		p.problem(nil, "rank", "field_range", "%s", err)
	}
	if p.uneven != "" && p.uneven != Pad && p.uneven != Drop && p.uneven != Keep {
		p.problem(nil, "uneven", "field_value", "uneven must be pad, drop or keep, got %q", string(p.uneven))
	}
	if p.stepped && (p.steps < 1 || p.steps > MaxSteps) {
		p.problem(nil, "steps_per_epoch", "field_range", "steps_per_epoch must be from 1 to %d, got %d", MaxSteps, p.steps)
	}
	if p.world.Size() == 1 || p.steps > 0 {
		return
	}
	for _, n := range p.nodes {
		if d, ok := n.decl.(Dropper); ok && d.Drops() {
			p.problem(n, "", "steps_needed", "%s", stepsNeeded)
		}
	}
}

// Limits of a job.
const (
	MaxWorld = shard.MaxWorld
	MaxSteps = 1<<31 - 1 // deliveries of an epoch
)

const stepsNeeded = "it may leave items out or make several of one, so the ranks would not make equally many steps; set steps_per_epoch"

// quota is how many of its items a source hands out in an epoch, where that is known from the steps: in each, and in
// the one in which a run goes on after another.
type quota struct{ each, first int64 }

// plan tells the sources how far they go, once all parts are open.
func (b *builder) plan() error {
	p := b.p
	loose := b.loose()
	if loose != nil && p.world.Size() > 1 && p.steps == 0 {
		return b.wrapOpen(loose, -1, "open", errors.New(stepsNeeded))
	}
	b.run.rows = b.rowsOf(loose)
	if err := b.sameWorld(); err != nil {
		return err
	}
	if p.steps == 0 {
		return nil
	}
	end := p.nodes[len(p.nodes)-1].ins[0]
	if loose != nil {
		return b.until(end, loose)
	}
	q := quota{p.steps, p.steps}
	if b.resume != nil {
		q.first = max(0, p.steps-b.resume.Batches)
	}
	b.share(end, q)
	return nil
}

// share passes a number of deliveries on to the sources, as the items of each that they are made of.
func (b *builder) share(n *node, q quota) {
	s := b.stages[n.no]
	if s.block > 0 {
		q.first += s.reread
	}
	if s.isGroup {
		q.each, q.first = q.each*int64(s.size), q.first*int64(s.size)
	}
	switch n.role {
	case sourceRole:
		s.steps(q)
	case mergeRole:
		k := int64(len(n.ins))
		turn := int64(b.turnOf(n))
		for i, in := range n.ins {
			at := int64(i)
			b.share(in, quota{each: (q.each - at + k - 1) / k, first: (q.first - (at-turn+k)%k + k - 1) / k})
		}
	default:
		b.share(n.ins[0], q)
	}
}

// loose is the first stage whose output does not tell which of its inputs were taken: it may leave items out, or make
// several of one.
func (b *builder) loose() *stageRun {
	for _, s := range b.stages {
		if s.drops || s.n.skips() && !groupBelow(s.n, b.stages) {
			return s
		}
	}
	return nil
}

// until is for pipelines in which a step is made of any number of items: the sources go on until the sink has had its
// steps. What was under way then is dropped.
func (b *builder) until(end *node, loose *stageRun) error {
	last, ordered := loose, true
	for _, s := range b.stages {
		if ordered = ordered && s.n.opts.order != CompletionOrder; s.drops || s.n.skips() && !groupBelow(s.n, b.stages) {
			last = s
		}
	}
	if groupAbove(last.n, b.stages) != nil {
		return b.wrapOpen(last, -1, "open", errors.New("it may leave batches out, and steps_per_epoch counts them; put it before the batches are made"))
	}
	below := b.sourcesOf(last.n)
	for _, s := range b.stages {
		if s.n.role == sourceRole {
			s.passes(ordered && slices.Contains(below, s.source))
		}
	}
	b.stages[b.head(last.n).no].onPass(b.lively(last, below))
	over := func(epoch int64) {
		for i := range b.run.sources {
			b.run.sources[i].finish(epoch)
		}
	}
	b.run.outlet.stepped(over)
	for n := end; n.role == stageRole && !b.stages[n.no].drops; n = n.ins[0] {
		if s := b.stages[n.no]; s.isGroup { // earlier than the sink knows it
			s.onFull(func(epoch int32, number int64) {
				if number == b.p.steps-1 {
					over(int64(epoch))
				}
			})
			break
		}
	}
	return nil
}

// lively ends a stream in which nothing comes any more: of each source the rank has gone through all that may be its own,
// which takes as many passes as there are ranks, and nothing has passed.
func (b *builder) lively(s *stageRun, sources []int) func(uint16, int64) error {
	ends, before := map[uint16]int{}, int64(0)
	return func(source uint16, passed int64) error {
		if passed != before {
			before = passed
			clear(ends)
		}
		ends[source]++
		for _, n := range sources {
			if ends[uint16(n)] < 2+int(b.p.world.Size()) { // one more, since splits overlap
				return nil
			}
		}
		return b.wrapOpen(s, -1, "process", errors.New("the data were gone through without an item passing, so the epoch would never have its steps"))
	}
}

// rowsOf is how many items of the only source a delivery is made of; 0 if there are several sources, which all go on
// alike on all ranks; -1 if the ranks' places do not follow from one another.
func (b *builder) rowsOf(loose *stageRun) int64 {
	p := b.p
	if loose != nil || p.inAnyOrder() != nil {
		return -1
	}
	rows := int64(1)
	for _, s := range b.stages {
		switch {
		case s.n.mixes(), s.iterable, s.block > 0: // what was taken does not follow from what another rank took
			return -1
		case s.n.role == mergeRole && p.uneven == Keep && p.steps == 0: // an input may end earlier on one rank
			return -1
		case s.n.role == mergeRole:
			rows = 0
		case s.isGroup:
			rows *= int64(s.size)
		}
	}
	return rows
}

// sameWorld refuses a state of another rank or world where this rank's place in the stream does not follow from it.
func (b *builder) sameWorld() error {
	s := b.resume
	if s == nil || !b.otherWorld() || b.run.rows >= 0 || s.fresh() || b.atEdge() {
		return nil
	}
	rank, world := b.p.World()
	change := fmt.Sprintf("the state is of rank %d of %d in the middle of an epoch, this is rank %d of %d, and what %s", s.Rank, s.World, rank, world,
		"a rank has read does not follow from what another one has; resume each rank from its own state, or take one from the end of an epoch")
	if b.p.force {
		b.run.warn("resumed by force: " + change)
		return nil
	}
	return &StageError{Pipeline: b.p.name, Op: "resume", Err: fmt.Errorf("%w: %s", ErrState, change)}
}

// atEdge says that the one rank whose state it is had come to the end of an epoch.
func (b *builder) atEdge() bool {
	s := b.resume
	for i, places := range b.places {
		if places == nil || i >= len(s.Sources) || s.Sources[i].Place < places.Len(s.Epoch) {
			return false
		}
	}
	return s.World == 1
}

// otherWorld says that the state is of another rank or of a job of another size.
func (b *builder) otherWorld() bool {
	rank, world := b.p.World()
	return b.resume.Rank != rank || b.resume.World != world
}

// fresh says that nothing of the epoch was delivered.
func (s *State) fresh() bool {
	for _, x := range s.Sources {
		if x.Place > 0 || len(x.Child) > 0 || x.Splits != nil {
			return false
		}
	}
	return s.Batches == 0
}

// settled is a state as a run goes on from it: where the epoch's steps are all done, at the next one's begin.
func (p *Pipeline) settled(s State) *State {
	s.World = max(1, s.World)
	s.Sources = slices.Clone(s.Sources)
	if p.steps > 0 && s.Batches >= p.steps {
		s.Epoch, s.Batches = s.Epoch+1, 0
		for i, x := range s.Sources {
			s.Sources[i] = SourceState{ID: x.ID, Len: x.Len, Fingerprint: x.Fingerprint}
		}
	}
	return &s
}
