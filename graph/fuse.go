package graph

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Fuser is an optional method of a stage's declaration: it joins the stage with the one that follows, for work that is
// cheaper when done together. next is the later declaration; ok is false when the two do not fit. What comes back is a
// declaration with the input of the first and the output of the last, which may be a Fuser again. It is asked only where
// the later stage pins none of workers, buffer, window and order.
//
// The Map of a fused stage takes the calls of its members from [Call.Of], tells which member failed with [InMember], and
// may say what it spends its time on with [Call.Lap] if it implements Phaser.
type Fuser interface {
	Fuse(next any) (fused any, ok bool)
}

// Phaser names the phases of a fused stage.
type Phaser interface{ Phases() []string }

// group is a run of stages that are joined. The first one stands for all in the engine.
type group struct {
	decl    any
	members []*node
	phases  []string
	spent   []atomic.Int64
}

func (g *group) last() *node { return g.members[len(g.members)-1] }

// fuse finds the stages that can be joined.
func (b *builder) fuse() {
	b.fused = map[*node]*group{}
	if b.p.sync || b.p.noFuse {
		return
	}
	for _, head := range b.p.nodes {
		if head.role != stageRole || b.fused[head] != nil || head.opts.set["retry"] || head.opts.set["timeout"] {
			continue
		}
		g := &group{decl: head.decl, members: []*node{head}}
		for m := head.next; m != nil && m.role == stageRole && m.pinsNothing(); m = m.next {
			f, ok := g.decl.(Fuser)
			if !ok {
				break
			}
			decl, ok := f.Fuse(m.decl)
			if !ok {
				break
			}
			g.decl, g.members = decl, append(g.members, m)
		}
		if len(g.members) == 1 {
			continue
		}
		if p, ok := g.decl.(Phaser); ok {
			g.phases = p.Phases()
			g.spent = make([]atomic.Int64, len(g.phases))
		}
		for _, m := range g.members {
			b.fused[m] = g
		}
	}
}

// pinsNothing says that none of the options is set which make a stage one of its own. on_error is not among them: each
// member's failures are treated as it says.
func (n *node) pinsNothing() bool {
	o := &n.opts
	return o.workers == 0 && o.buffer == 0 && o.window == 0 && !o.set["order"] && !o.set["retry"] && !o.set["timeout"] && !o.waits
}

// skipsAny says whether the stage, or one that it works for, skips failing items; skipsFor whether the one does that an
// error belongs to.
func (s *stageRun) skipsAny() bool {
	any := s.n.skips()
	for _, a := range s.absorbed {
		any = any || a.n.skips()
	}
	return any
}

func (s *stageRun) skipsFor(err error) bool {
	at, _ := s.culprit(err)
	return at.n.skips()
}

// head is the stage that stands for n in the engine.
func (b *builder) head(n *node) *node {
	if g := b.fused[n]; g != nil {
		return g.members[0]
	}
	return n
}

// last is the last member of the group that n stands for, or n.
func (b *builder) last(n *node) *node {
	if g := b.fused[n]; g != nil {
		return g.last()
	}
	return n
}

// absorb records a stage that is worked by another.
func (b *builder) absorb(n *node) {
	g := b.fused[n]
	head := b.stages[g.members[0].no]
	s := b.begin(n)
	s.workers, s.group, s.slabbed = 0, g, head.slabbed
	if n == g.last() {
		s.stats = head.stats
		head.stats = nil
	}
	b.edges[n.no] = b.edges[g.members[0].no]
	head.absorbed = append(head.absorbed, s)
}

// InMember says that member i of a fused stage failed.
func InMember(i int, err error) error {
	if err == nil {
		return nil
	}
	return &memberError{i, err}
}

type memberError struct {
	i   int
	err error
}

func (m *memberError) Error() string { return m.err.Error() }
func (m *memberError) Unwrap() error { return m.err }

// culprit is the stage that an error belongs to: the member of a fused group that failed, or the stage itself. The
// members before it have done their part.
func (s *stageRun) culprit(err error) (*stageRun, int) {
	var m *memberError
	if len(s.absorbed) == 0 || !errors.As(err, &m) || m.i <= 0 || m.i > len(s.absorbed) {
		return s, 0
	}
	return s.absorbed[m.i-1], m.i
}

// charge moves a failed or skipped input, which the engine has counted at the first stage, to the member that failed.
// The members before it have done their part. It says which stage that is.
func (s *stageRun) charge(err error, t *edge.Tag, count func(*meter.Stage) *atomic.Int64) *stageRun {
	c, i := s.culprit(err)
	if i == 0 {
		return s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.charged == nil {
		s.charged = s.absorbedMeters()
	}
	count(s.m).Add(-1)
	s.m.Done.Add(1)
	for j, a := range s.absorbed[:i] {
		s.charged.entered(j, int64(t.Epoch))
		if j < i-1 {
			a.m.Done.Add(1)
		}
	}
	count(c.m).Add(1)
	return c
}

func failedItems(m *meter.Stage) *atomic.Int64  { return &m.Failed }
func skippedItems(m *meter.Stage) *atomic.Int64 { return &m.Skipped }

// absorbedMeters counts for the absorbed stages of one worker.
type absorbedMeters struct {
	s       *stageRun
	workers []*meter.Worker
}

func (s *stageRun) absorbedMeters() *absorbedMeters {
	m := &absorbedMeters{s: s}
	for _, a := range s.absorbed {
		m.workers = append(m.workers, a.m.NewWorker(0))
	}
	return m
}

func (m *absorbedMeters) entered(j int, epoch int64) {
	a := m.s.absorbed[j]
	a.m.In.Add(1)
	a.m.Entered(m.workers[j], epoch, 1)
}

// passed counts an input that went through all absorbed stages.
func (m *absorbedMeters) passed(epoch int64) {
	for j, a := range m.s.absorbed {
		m.entered(j, epoch)
		a.m.Done.Add(1)
	}
}

// Of is the call of member i of a fused stage: the random numbers are those that the member would have had alone.
func (c *Call) Of(i int) *Call {
	if i == 0 || i > len(c.members) {
		return c
	}
	return &c.members[i-1]
}

// Lap puts the time since the last lap of this worker into phase i of a fused stage.
func (c *Call) Lap(i int) {
	if c.group == nil || i >= len(c.group.spent) {
		return
	}
	now := c.clock.Now()
	c.group.spent[i].Add(now - c.lapped)
	c.lapped = now
}

// phasesOf lists the phases of a fused group.
func (g *group) phasesOf() []Phase {
	var all []Phase
	for i, name := range g.phases {
		all = append(all, Phase{name, time.Duration(g.spent[i].Load())})
	}
	return all
}
