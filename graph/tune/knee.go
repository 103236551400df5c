package tune

import "fmt"

// explain finds the knee of a curve, why it lies there, and what makes things worse.
func (c *Curve) explain() {
	best := 0
	for i, p := range c.Points {
		if p.Rate > c.Points[best].Rate {
			best = i
		}
	}
	top := c.Points[best]
	for c.Knee < best && c.Points[c.Knee].Rate < asGood*top.Rate {
		c.Knee++
	}
	knee := c.Points[c.Knee]
	last := c.Points[len(c.Points)-1]
	if last.Rate < asGood*top.Rate && last.High < top.Low {
		c.Worse = fmt.Sprintf("%s makes it worse by %.0f %%: %s", last.Value, 100*(1-last.Rate/top.Rate), c.growth(knee, last))
	}
	switch {
	case c.Key == CacheKey:
		c.Why = c.kept(knee)
	case c.Knee == len(c.Points)-1 && len(c.Points) > 1 && knee.Rate > worth*c.Points[0].Rate:
		c.Why = "the largest value tried is the best; a larger one may do more"
	case knee.Rate <= worth*c.Points[0].Rate && c.Knee == 0:
		c.Why = "more of it brings nothing: " + c.limited(knee)
	default:
		c.Why = c.limited(knee)
	}
}

// limited says what holds a point back.
func (c *Curve) limited(p Point) string {
	cores := coresOf(p)
	last := c.Points[len(c.Points)-1]
	switch {
	case p.Crowded:
		return "other programs had the cores, so this tells little; run it again when the machine is quiet"
	case cores > 0 && p.CPU >= 0.85*cores:
		return fmt.Sprintf("the cores are used up, %.2g of %.4g", p.CPU, cores)
	case p.limit != "" && p.limit != c.Stage:
		return "then " + p.limit + " limits"
	case p.WaitRatio < 0.05:
		return "the sink hardly waits any more"
	}
	return c.growth(p, last)
}

// growth says why more workers do not do more, from what an item then costs.
func (c *Curve) growth(few, many Point) string {
	cores := coresOf(few)
	slower := few.Service > 0 && many.Service >= 1.3*few.Service
	switch {
	case slower && cores > 0 && many.CPU >= 0.85*cores:
		return "they wait for a core"
	case slower && few.each > 0 && many.each >= 1.3*few.each:
		return "each item costs more processor time the more are at work: memory bandwidth, or caches"
	case slower && waits(few, c.Stage):
		return "the store answers later the more it is asked"
	case slower:
		return "items take longer although cores are free: a lock, or another thing that the workers share"
	}
	return "items wait for their turn: order, window or buffer"
}

func coresOf(p Point) float64 {
	if len(p.trials) == 0 {
		return 0
	}
	return p.trials[0].Snapshot.Environment.CoresQuota
}

func waits(p Point, stage string) bool {
	if len(p.trials) == 0 {
		return false
	}
	prof, err := Of(p.trials[0].Snapshot)
	if err != nil {
		return false
	}
	at := prof.index(stage)
	return at >= 0 && prof.Stages[at].Waits
}

// decide takes a curve's knee over if it helps, or does as well with half of the workers, and writes that down.
func (r *Result) decide(c Curve) (now Point, kept bool) {
	for _, p := range c.Points {
		if p.Value == c.Now {
			now = p
		}
	}
	knee := c.Points[c.Knee]
	d := Decision{Second: r.spent, Knob: c.Name(), From: c.Now, To: knee.Value, Why: c.Why, Before: now.Rate, After: knee.Rate}
	better := knee.Rate >= worth*now.Rate && knee.Low > now.High
	fewer := c.Key == "workers" && knee.Rate >= asGood*now.Rate && 2*number(knee.Value) <= number(c.Now) && knee.steady() && now.steady()
	switch {
	case knee.Value == c.Now:
		d.Why = "it is best as it is: " + c.Why
	case c.Show:
		d.Why = "only shown, since it changes more than speed: " + c.Why
	case better:
		d.Kept = true
	case fewer:
		d.Kept, d.Why = true, "fewer do as well: "+c.Why
	default:
		d.Why = "no clear gain, put back: " + c.Why
	}
	r.Decisions = append(r.Decisions, d)
	if !d.Kept {
		return now, false
	}
	s := Setting{c.Stage, c.Key, knee.Value}
	r.keep(s, c.Now)
	before := r.Steps[len(r.Steps)-1].Rate
	if c.Key == CacheKey { // those before it had their first epoch in them
		before = now.Rate
	}
	r.Steps = append(r.Steps, Step{"+ " + s.words(), knee.Rate, knee.Rate/max(before, 1e-12) - 1, knee.RSS})
	return knee, true
}

// steady tells that the trials of a point agree well enough to say that two points are alike.
func (p Point) steady() bool { return !p.Crowded && p.High-p.Low <= 0.1*p.Rate }

func (r *Result) keep(s Setting, was string) {
	name := s.Stage + "." + s.Key
	if _, ok := r.Was[name]; !ok {
		r.Was[name] = was
	}
	for i := range r.Settings {
		if x := &r.Settings[i]; x.Stage == s.Stage && x.Key == s.Key {
			x.Value = s.Value
			return
		}
	}
	r.Settings = append(r.Settings, s)
}

func number(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}
