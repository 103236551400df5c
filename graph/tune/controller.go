package tune

import (
	"cmp"
	"math"
	"slices"
)

// Budget is what a controller may use.
type Budget struct {
	Cores   float64 // workers that compute, in all; 0: no limit
	Memory  int64   // bytes in queues and under workers; 0: no limit
	Waiting int     // workers of a stage that waits; 0 means [MostWaiting]
}

// Reading is what was measured in an interval.
type Reading struct {
	Second    float64 // since the start
	Rate      float64 // samples a second
	WaitRatio float64 // of the sink
	// Profile has the settings of the interval, and the service times that were measured in it.
	Profile Profile
}

// Move is one step of a knob.
type Move struct {
	Stage, Key string
	From, To   int
	Why        string
}

// Controller finds settings while a pipeline runs: it gets a reading after each interval and says what to change for the
// next one. It moves one knob at a time toward what the model says is best, up and down, never beyond its budget, and
// takes back what does not help. What it tried in vain it tries again only when what limits has changed. It holds no clock
// and no pipeline: the same readings give the same moves. Use it from one goroutine.
type Controller struct {
	budget  Budget
	pending *Move
	before  float64         // rate before the pending move
	vain    map[string]bool // moves that did not help, while limit stays
	limit   string
	log     []Decision
}

// NewController makes a controller.
func NewController(b Budget) *Controller {
	b.Waiting = cmp.Or(b.Waiting, MostWaiting)
	return &Controller{budget: b, vain: map[string]bool{}}
}

// Decisions is the log until now.
func (c *Controller) Decisions() []Decision { return slices.Clone(c.log) }

const (
	gains   = 1.02 // a move upwards must bring that much
	harmful = 0.98 // one downwards may cost that much
	hungry  = 0.05 // the sink is starved from this wait ratio on
	leap    = 4    // workers grow by this factor at most in one step
)

// Next judges the last move by a reading and gives the next one; ok is false where there is none.
func (c *Controller) Next(r Reading) (m Move, ok bool) {
	if c.pending != nil {
		if back, undo := c.judge(r); undo {
			return back, true
		}
	}
	p := r.Profile
	if l := c.limiting(p).By; l != c.limit {
		c.limit = l
		clear(c.vain)
	}
	for _, m := range c.candidates(r) {
		if m = c.clip(p, m); !c.vain[key(m)] && m.To != m.From && c.affords(p, m) {
			c.pending, c.before = &m, r.Rate
			return m, true
		}
	}
	return Move{}, false
}

func key(m Move) string {
	if m.To > m.From {
		return m.Stage + "." + m.Key + "+"
	}
	return m.Stage + "." + m.Key + "-"
}

// judge keeps the pending move or takes it back.
func (c *Controller) judge(r Reading) (back Move, undo bool) {
	m := *c.pending
	c.pending = nil
	kept := r.Rate >= gains*c.before
	switch next := c.limiting(r.Profile); {
	case m.To < m.From:
		kept = r.Rate >= harmful*c.before
	case !kept && m.Key == "workers" && next.By != m.Stage && r.Rate >= harmful*c.before && r.Rate >= 0.95*next.Rate:
		kept, m.Why = true, m.Why+"; "+next.By+" limits as well" // two in a row that are as slow as each other
	}
	c.log = append(c.log, Decision{Second: r.Second, Knob: m.Stage + "." + m.Key, From: figure(float64(m.From)), To: figure(float64(m.To)), Why: m.Why,
		Before: c.before, After: r.Rate, Kept: kept})
	if kept {
		return m, false
	}
	c.vain[key(m)] = true
	return Move{m.Stage, m.Key, m.To, m.From, "it did not help"}, true
}

// limiting is what the model says holds the pipeline back.
func (c *Controller) limiting(p Profile) Limit {
	p.Cores = c.budget.Cores
	return p.Predict()
}

// candidates are the moves worth a try, best first.
func (c *Controller) candidates(r Reading) (all []Move) {
	p := r.Profile
	p.Cores, p.Memory = c.budget.Cores, c.budget.Memory
	if r.WaitRatio < hungry {
		return c.fewer(p)
	}
	best := p.Allocate()
	limits := p.Limits()
	for _, l := range limits {
		at := p.index(l.By)
		if at < 0 || !p.Stages[at].movable() || l.Rate > best.Rate*1.001 {
			continue
		}
		if s := &p.Stages[at]; best.Workers[at] > s.Workers {
			all = append(all, Move{s.ID, "workers", s.Workers, min(best.Workers[at], leap*s.Workers), "it limits, at " + l.String()})
		}
	}
	if len(limits) > 0 && r.Rate < 0.95*limits[0].Rate { // slower than any mean explains: jitter
		all = append(all, c.smoother(p)...)
	}
	return append(all, c.fewer(p)...)
}

// smoother gives room behind the stages whose times vary most.
func (c *Controller) smoother(p Profile) (all []Move) {
	type uneven struct {
		s    *Stage
		much float64
	}
	var list []uneven
	for i := range p.Stages {
		if s := &p.Stages[i]; !s.Sink && s.Buffer > 0 {
			list = append(list, uneven{s, s.Time.Spread() * s.Work() / float64(max(1, s.Workers))})
		}
	}
	slices.SortStableFunc(list, func(a, b uneven) int { return cmp.Compare(b.much, a.much) })
	for _, x := range list[:min(2, len(list))] {
		if x.much == 0 {
			break
		}
		if x.s.Ordered && x.s.Workers > 1 {
			all = append(all, Move{x.s.ID, "window", x.s.Window, 2 * x.s.Window, "its times vary, and finished items wait behind slow ones"})
		}
		all = append(all, Move{x.s.ID, "buffer", x.s.Buffer, 2 * x.s.Buffer, "its times vary, and what waits behind it runs out"})
	}
	return all
}

// fewer takes workers from stages that have many more than the rate needs.
func (c *Controller) fewer(p Profile) (all []Move) {
	now := p.Predict().Rate / p.Samples
	for i := range p.Stages {
		s := &p.Stages[i]
		need := max(1, int(math.Ceil(1.25*now*s.Work())))
		if s.movable() && s.Workers >= 2*need {
			all = append(all, Move{s.ID, "workers", s.Workers, need, "fewer should do"})
		}
	}
	return all
}

// clip takes from a move what the cores do not allow.
func (c *Controller) clip(p Profile, m Move) Move {
	at := p.index(m.Stage)
	if s := &p.Stages[at]; m.Key != "workers" || m.To <= m.From || s.Waits || c.budget.Cores == 0 {
		return m
	}
	computing := 0
	for i := range p.Stages {
		if p.Stages[i].computes() {
			computing += p.Stages[i].Workers
		}
	}
	m.To = max(m.From, min(m.To, m.From+int(c.budget.Cores)-computing))
	return m
}

// computes tells that a stage's workers count against the cores.
func (s *Stage) computes() bool { return !s.Waits && !s.Sink && !s.Merge && s.Work() > 0 }

// affords tells whether a move keeps the budget.
func (c *Controller) affords(p Profile, m Move) bool {
	if m.To <= m.From {
		return true
	}
	p = p.Clone()
	s := &p.Stages[p.index(m.Stage)]
	switch m.Key {
	case "workers":
		s.Workers = m.To
	case "buffer":
		s.Buffer = m.To
	case "window":
		s.Window = m.To
	}
	if s.Waits && s.Workers > c.budget.Waiting {
		return false
	}
	bytes := 0.0
	for i := range p.Stages {
		bytes += p.Stages[i].held()
	}
	return c.budget.Memory == 0 || bytes <= float64(c.budget.Memory)
}

// held is the most bytes that a stage's workers and the queue behind it hold.
func (s *Stage) held() float64 {
	if s.Group > 0 && s.Slabs > 0 {
		return float64(s.Slabs) * s.Bytes
	}
	return float64(s.Workers+s.Buffer) * s.Bytes
}
