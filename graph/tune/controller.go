package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/penstock-go/penstock/graph"
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
type Move = graph.Move

// Controller finds settings while a pipeline runs: it gets a reading after each interval and says what to change for the
// next one. It moves one knob at a time toward what the model says is best, up and down, never beyond its budget, and
// takes back what does not help. What it tried in vain it tries again when what limits has changed, or after a while that
// doubles each time. It holds no clock and no pipeline: the same readings give the same moves. Use it from one goroutine.
// [Auto] lets one at a run.
type Controller struct {
	budget  Budget
	knobs   map[string]graph.Knob // that may be moved; nil: all
	pending *Move
	since   float64         // when it was made
	before  float64         // rate before the pending move
	best    float64         // rate with what limits now
	noise   float64         // by what share rates differ that should not
	last    float64         // rate of the reading before, with the same settings; 0: they were others
	vain    map[string]vain // moves that did not help
	n       int             // readings
	waits   int             // for a steady one
	limit   string
	log     []graph.Decision
}

// vain is a move that did not help.
type vain struct {
	limit string
	fails int
	until int // the reading from which it may be tried again
}

// NewController makes a controller.
func NewController(b Budget) *Controller {
	b.Waiting = cmp.Or(b.Waiting, MostWaiting)
	return &Controller{budget: b, vain: map[string]vain{}}
}

// Decisions is the log until now.
func (c *Controller) Decisions() []graph.Decision {
	all := slices.Clone(c.log)
	if c.pending != nil {
		all = append(all, graph.Decision{Move: *c.pending, Second: c.since, Before: c.before, Kept: true, Open: true})
	}
	return all
}

const (
	gains   = 1.02 // a move upwards must bring that much
	harmful = 0.98 // one downwards may cost that much
	rough   = 0.25 // noise is not believed beyond that
	spare   = 2.0  // as many workers as the rate needs by their mean times are left, times this
	pause   = 8    // readings until what was in vain is tried again, the first time
	hungry  = 0.05 // the sink is starved from this wait ratio on
	leap    = 4    // workers grow by this factor at most in one step
)

// Next judges the last move by a reading and gives the next one; ok is false where there is none.
func (c *Controller) Next(r Reading) (m Move, ok bool) {
	c.n++
	if c.pending != nil {
		if back, undo := c.judge(r); undo {
			c.last = 0
			return back, true
		}
	} else if c.last > 0 && !c.steady(r) {
		return Move{}, false
	}
	p := r.Profile
	if l := c.limiting(p).By; l != c.limit {
		c.limit, c.best = l, 0
	}
	c.best, c.last = max(c.best, r.Rate), r.Rate
	crowded := false
	for _, m := range c.candidates(r) {
		m = c.allowed(m)
		want := m.To
		m = c.clip(p, m)
		crowded = crowded || m.To < want
		if m.To < m.From && p.Stages[p.index(m.Stage)].computes() && !crowded {
			continue // an idle worker that computes costs nothing, unless another stage wants the core
		}
		for m.To > m.From && !c.affords(p, m) {
			m.To = m.From + (m.To-m.From)/2
		}
		if !c.skips(m) && m.To != m.From {
			c.pending, c.before, c.since, c.last = &m, r.Rate, r.Second, 0
			if m.To < m.From {
				c.before = c.best // else one could lose a little each time
			}
			return m, true
		}
	}
	return Move{}, false
}

// steady says whether a reading is like the one before. If not, the pipeline has changed within it, or its rate goes up
// and down: the next one is waited for, some times.
func (c *Controller) steady(r Reading) bool {
	off := math.Abs(r.Rate/c.last - 1)
	if off > max(0.05, 2*c.noise) && c.waits < 2 {
		c.waits++
		c.last, c.best = r.Rate, 0
		c.noise = min(rough, 0.7*c.noise+0.3*min(off, rough))
		return false
	}
	c.waits = 0
	c.noise = min(rough, 0.7*c.noise+0.3*off)
	return true
}

// skips says that a move is not to be tried now.
func (c *Controller) skips(m Move) bool {
	v, ok := c.vain[key(m)]
	return ok && c.n < v.until && (v.limit == c.limit || v.fails > 1)
}

// fails notes that a move did not help.
func (c *Controller) fails(m Move) {
	v := c.vain[key(m)]
	v.fails++
	v.limit, v.until = c.limit, c.n+pause<<min(v.fails, 8)
	c.vain[key(m)] = v
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
	if now := r.Profile.setting(m); m.Key == "workers" && now > 0 {
		m.To = now // it may have got fewer than it asked for
	}
	harm := harmful - c.noise
	kept := r.Rate >= (gains+c.noise)*c.before
	switch next := c.limiting(r.Profile); {
	case m.To == m.From:
		kept = false
	case m.To < m.From:
		kept = r.Rate >= harm*c.before
	case !kept && m.Key == "workers" && next.By != m.Stage && r.Rate >= harm*c.before && r.Rate >= 0.95*next.Rate:
		kept, m.Why = true, m.Why+"; "+next.By+" limits as well" // two in a row that are as slow as each other
	}
	c.log = append(c.log, graph.Decision{Move: m, Second: c.since, Before: c.before, After: r.Rate, Kept: kept})
	if kept {
		return m, false
	}
	c.fails(m)
	return Move{Stage: m.Stage, Key: m.Key, From: m.To, To: m.From, Why: "it did not help"}, m.To != m.From
}

// setting is what a move would change, as it is now; 0: there is no such stage.
func (p *Profile) setting(m Move) int {
	at := p.index(m.Stage)
	if at < 0 {
		return 0
	}
	switch s := &p.Stages[at]; m.Key {
	case "workers":
		return s.Workers
	case "buffer":
		return s.Buffer
	default:
		return s.Window
	}
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
			all = append(all, Move{Stage: s.ID, Key: "workers", From: s.Workers, To: min(best.Workers[at], leap*s.Workers), Why: "it limits, at " + figure(l.Rate) + " samples/s"})
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
			all = append(all, Move{Stage: x.s.ID, Key: "window", From: x.s.Window, To: 2 * x.s.Window, Why: "its times vary, and finished items wait behind slow ones"})
		}
		all = append(all, Move{Stage: x.s.ID, Key: "buffer", From: x.s.Buffer, To: 2 * x.s.Buffer, Why: "its times vary, and what waits behind it runs out"})
	}
	return all
}

// fewer takes workers from stages that have many more than the rate needs; from those that compute, any that they do not need.
func (c *Controller) fewer(p Profile) (all []Move) {
	now := p.Predict().Rate / p.Samples
	for i := range p.Stages {
		s := &p.Stages[i]
		room, many := spare, 2
		if s.computes() { // another stage wants its core
			room, many = 1.25, 1
		}
		need := max(1, int(math.Ceil(room*now*s.Work())))
		if s.movable() && s.Workers > need && s.Workers >= many*need {
			all = append(all, Move{Stage: s.ID, Key: "workers", From: s.Workers, To: need, Why: "fewer should do"})
		}
	}
	return all
}

// allowed keeps a move within its knob.
func (c *Controller) allowed(m Move) Move {
	if c.knobs == nil {
		return m
	}
	k, ok := c.knobs[m.Stage+"."+m.Key]
	switch {
	case !ok:
		m.To = m.From
	case m.To > m.From:
		m.To = max(m.From, min(m.To, k.Most))
	}
	return m
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
		s.resize(m.To)
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
