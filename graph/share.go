package graph

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/engine"
)

// Share makes the pipeline live within the budget of p, another pipeline of the process, which has a budget of its own
// or the default one. Training and validation are the case it is for.
//
// Bytes: samples, slabs of batches and what stages reserve count against the one limit. Half of what slabs leave is
// kept, in equal parts for each run and at least for two; whoever comes first may take from the other half. So either
// goes on while the other stands still with its buffers full, and p alone has three quarters of its budget. The slabs of
// a run take an eighth of the budget where two share, but at least what they need to move. What is above the limit is the
// overdraft in the report, as without sharing: items that some stage waits for always pass. Memory is recycled from one to
// the other.
//
// Cores: workers: auto comes to what it does in p. They are not divided: a pipeline that stands still needs none, and two
// that compute share the cores as the system schedules them.
//
// Either may start and end first, any number of times; the part of a run is given back by its [Run.Wait]. What a
// consumer keeps beyond that is not counted. Declare it before p is started: a run that is under way without it keeps no
// part free until it has gone down to its own. Several pipelines may share p. A pipeline that shares has no budget of
// its own and cannot be shared; Build says so.
func Share(p *Pipeline) PipelineOption {
	return func(q *Pipeline) {
		q.share, q.shares = p, true
		if p != nil && p != q {
			p.common.open()
		}
	}
}

// owner is the pipeline whose budget this one takes from.
func (p *Pipeline) owner() *Pipeline {
	if p.share != nil {
		return p.share
	}
	return p
}

func (p *Pipeline) checkShare() {
	switch {
	case !p.shares:
		return
	case p.share == nil:
		p.problem(nil, "share", "share", "there is no pipeline to share the budget of, got nil")
		return
	case p.share == p:
		p.problem(nil, "share", "share", "a pipeline cannot share its budget with itself; give the other pipeline")
		return
	case p.share.shares:
		p.problem(nil, "share", "share", "pipeline %q has no budget of its own, since it shares that of another one; share that", p.share.name)
	}
	if p.budget != (Budget{}) {
		p.problem(nil, "budget", "share", "the budget is that of pipeline %q; set it there", p.share.name)
	}
	if b := p.share.budget; b.CPU < 0 || b.CPU > 1 || b.Memory < 0 {
		p.problem(nil, "share", "share", "the budget of pipeline %q is out of range", p.share.name)
	}
}

// common is what the runs of one budget take from. It is made for the first that is under way and lasts until the last
// has ended.
type common struct {
	mu     sync.Mutex
	shared bool
	live   int
	memory *memory
	bytes  *engine.Joint
}

// open says that other pipelines may come.
func (c *common) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared = true; c.bytes != nil {
		c.bytes.Share()
	}
}

func (c *common) enter(limit int64) (*memory, *engine.Joint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live++; c.live == 1 {
		c.memory, c.bytes = newMemory(limit), engine.NewJoint(limit)
		if c.shared {
			c.bytes.Share()
		}
	}
	return c.memory, c.bytes
}

func (c *common) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live--; c.live == 0 {
		c.memory, c.bytes = nil, nil
	}
}

// takeBudget gives the run its way to the budget and to recycled memory.
func (r *Run) takeBudget() {
	r.owner = r.p.owner()
	mem, joint := r.owner.common.enter(r.p.memoryLimit())
	r.memory = mem
	for _, p := range []*Pipeline{r.owner, r.p} {
		if p.buffers != nil {
			r.memory = p.buffers
		}
	}
	r.bytes = newByteBook(joint, r.p.hold(), func(line string) { r.degraded("", line) })
	if m, ok := r.memory.(*memory); ok {
		r.bytes.kept = m.pool
	}
}

// leaveBudget gives the run's part back. Everything that it held has been given back before.
func (r *Run) leaveBudget() {
	given := r.bytes.admit.Leave()
	if r.bytes.kept != nil {
		r.bytes.kept.Shrink(-given)
	}
	r.owner.common.leave()
}
