package doctor

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// cached is the arrow about a cache that is full, where the stages above it starve the sink also after the first epoch:
// a larger limit spares them. Rates here are of whole epochs after the first. found: an action came of it; more: look
// for another.
func (x *exam) cached(st *graph.StageStats) (found, more bool) {
	if x.now.v.Crowded && x.computes() { // with the cores to itself this pipeline may have another limit
		return false, false
	}
	c := x.cacheBelow(st)
	if c == nil || x.tried[c.ID+".limit"] || c.BestHitShare == nil || *c.BestHitShare >= 1 || *c.BestHitShare <= 0 {
		return false, false
	}
	x.tried[c.ID+".limit"] = true
	before := laterOf(&x.now.s)
	if !before.ok {
		x.Limits = append(x.Limits, fmt.Sprintf("the limit of the cache %s has room for %s of everything; what a larger one brings shows in whole epochs after the first, and the run had none: give it more time (--seconds)",
			quote(c.ID), percent(*c.BestHitShare)))
		return false, false
	}
	if c.HitShare == nil || *c.HitShare >= 1 || before.wait < worth {
		return false, false
	}
	a, proof, ok := x.larger(c, before.rate)
	if x.step("is a cache too small?", "yes", proof); !ok {
		return false, false
	}
	return x.enlarge(a, before.rate)
}

// larger is the action that raises a cache's limit to all that there is to hold, or to what the memory has room for.
func (x *exam) larger(c *graph.CacheStats, now float64) (a Action, proof string, ok bool) {
	set := float64(c.Limit) / *c.BestHitShare
	proof = fmt.Sprintf("%s is full: its limit of %s holds %s of everything (%s), and %s of the look-ups after the first epoch were hits",
		quote(c.ID), graph.SizeText(c.Limit), percent(*c.BestHitShare), graph.SizeText(int64(set)), percent(*c.HitShare))
	a = Action{Stage: c.ID, Knob: "limit"}
	to, text, all := tune.CacheLimit(set, x.room(c, set))
	a.Text = fmt.Sprintf("raise %s.limit to %s, which holds everything", c.ID, text)
	if !all {
		if to <= float64(c.Limit) {
			return a, proof + "; the memory has no room for more", false
		}
		proof += fmt.Sprintf("; the memory has room for %s, which is %s of everything", graph.SizeText(int64(to)), percent(to/set))
		a.Text = fmt.Sprintf("raise %s.limit to %s, which the memory has room for and holds %s of everything", c.ID, text, percent(to/set))
	}
	a.Text += " (rates of the epochs after the first)"
	a.Set = []string{c.ID + ".limit=" + text}
	a.Predicted = x.now.m.kept(c, to, now)
	a.Gain = a.Predicted/now - 1
	if a.Gain < worth {
		return a, proof + fmt.Sprintf("; by the model %s would bring %+.0f %%, so a larger one does not help", text, 100*a.Gain), false
	}
	return a, proof, true
}

// enlarge tries the action, and keeps it if it helps.
func (x *exam) enlarge(a Action, before float64) (found, more bool) {
	const ask = "does a larger cache help?"
	after, err := x.run(a.Set)
	if err != nil {
		x.untried(ask, a, err)
		return true, false
	}
	got := laterOf(&after.s)
	if !got.ok {
		x.step(ask, "not known", fmt.Sprintf("%s: the run had no whole epoch after the first", a.Set[0]))
		x.Actions = append(x.Actions, a)
		return true, false
	}
	proof := fmt.Sprintf("%s: predicted %s samples/s after the first epoch, measured %s (was %s)", a.Set[0], rate(a.Predicted), rate(got.rate), rate(before))
	if got.rate/before-1 < max(worth/2, helped*a.Gain) {
		x.step(ask, "no", proof)
		return false, false
	}
	x.step(ask, "yes", proof)
	a.Measured = &got.rate
	x.Actions, x.set, x.now = append(x.Actions, a), append(x.set, a.Set...), after
	return true, got.wait >= worth // what is left is the first epoch's
}

// cacheBelow is the cache that spares a stage; nil: none.
func (x *exam) cacheBelow(st *graph.StageStats) *graph.CacheStats {
	for i := range x.now.s.Caches {
		c := &x.now.s.Caches[i]
		at := x.now.m.stage(c.ID)
		if at == nil || at.Kind != "memory_cache" {
			continue
		}
		for at != nil && at.ID != st.ID && len(at.From) > 0 {
			at = x.now.m.stage(at.From[0])
		}
		if at != nil && at.ID == st.ID {
			return c
		}
	}
	return nil
}

// room is the largest limit that the memory has room for, in bytes of samples.
func (x *exam) room(c *graph.CacheStats, set float64) float64 {
	entries := int64(0)
	for _, first := range x.now.s.Epochs[0].Caches {
		if first.ID == c.ID {
			entries = first.Hits + first.Misses
		}
	}
	return tune.CacheRoom(&x.now.s, c, x.memory, 0, float64(entries), set)
}

// kept is the rate after the first epoch with another limit of a cache: by the simulation, as far as it explains what
// these epochs were like.
func (m *model) kept(c *graph.CacheStats, size, now float64) float64 {
	with := func(size float64) float64 {
		q, err := tune.ParseQuestion(fmt.Sprintf("%s.cache=%.0fB", c.ID, size))
		if err != nil {
			return 0
		}
		p, err := q.Apply(m.p)
		if err != nil {
			return 0
		}
		return m.simulate(p)
	}
	is, then := with(float64(c.Limit)), with(size)
	if is == 0 {
		return 0
	}
	scale := now / is
	if math.Abs(scale-1) > explains { // the smaller of the two answers
		scale = min(1, scale)
	}
	return then * scale
}

// later is what the whole epochs after the first were like.
type later struct {
	rate, wait float64 // samples a second; the share of the time that the sink waited
	ok         bool
}

func laterOf(s *graph.Snapshot) (l later) {
	if len(s.Epochs) < 2 {
		return l
	}
	samples, took, waited := int64(0), 0.0, 0.0
	for i, e := range s.Epochs[1:] {
		if i == len(s.Epochs)-2 && e.Samples < s.Epochs[0].Samples {
			break // broken off
		}
		samples, took, waited = samples+e.Samples, took+e.Elapsed.Seconds(), waited+e.Wait.Seconds()
	}
	if samples == 0 || took == 0 {
		return l
	}
	return later{float64(samples) / took, waited / took, true}
}
