package tune

import (
	"fmt"
	"math"
)

// Ceilings are what the parts of a pipeline do alone, beside what it does as a whole: the differential method of
// DS-Analyzer (Mohan and others, 2021). Rates are in samples a second at the sink; 0 is not measured.
type Ceilings struct {
	Whole Trial
	// Profile is of the whole run.
	Profile Profile
	// Replay is the sink with recorded batches: nothing before it can be slower. Prep is all before the sink, which is
	// left out, from warm data. Cold and Warm are the sources alone, before and after their data were in memory.
	Replay, Prep, Cold, Warm float64
	// Alone is each stage on recorded inputs, in order of the profile, after the first pass over them; 0: not measured.
	Alone []float64
	// WholeFirst is the first epoch of the whole, AloneFirst the first pass of each stage over what was recorded. Later is
	// the rate of the whole in later epochs; 0: none was over.
	WholeFirst First
	AloneFirst []First
	Later      float64
	// Caches are the stages that are caches.
	Caches map[string]bool
	// Why says why something was not measured, by name.
	Why map[string]string
}

// AtSink turns a rate of a stage's outputs into samples a second at the sink; 0: not known.
func (p Profile) AtSink(stage string, outputs float64) float64 {
	at := p.index(stage)
	if at < 0 {
		return 0
	}
	s := &p.Stages[at]
	each := s.Visits
	if len(s.From) > 0 {
		each *= s.Out
	}
	if !(each > 0) {
		return 0
	}
	return outputs / each * p.Samples
}

// Slowest is the lowest of the ceilings, and what it is of: "sink", "prep", "read" or "".
func (c Ceilings) Slowest() (string, float64) {
	name, least := "", math.Inf(1)
	read := c.Cold
	if read == 0 {
		read = c.Warm
	}
	for _, x := range []struct {
		name string
		rate float64
	}{{"sink", c.Replay}, {"prep", c.Prep}, {"read", read}} {
		if x.rate > 0 && x.rate < least {
			name, least = x.name, x.rate
		}
	}
	if name == "" {
		return "", 0
	}
	return name, least
}

// cold is the profile with the sources as slow as they are on cold data.
func (c Ceilings) cold() Profile {
	p := c.Profile.Clone()
	for i := range p.Stages {
		if s := &p.Stages[i]; len(s.From) == 0 && c.Cold > 0 && s.Time.Mean() > 0 {
			if now := p.hands(s) / s.Work() * p.Samples; now > c.Cold {
				s.Time = s.Time.Scaled(now / c.Cold)
			}
		}
	}
	return p
}

// Findings say in words what the ceilings mean, most important first.
func (c Ceilings) Findings() (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	name, least := c.Slowest()
	now := c.Whole.Rate
	switch {
	case name == "" || now == 0:
		say("too little was measured to say what limits")
	case name == "sink" && now >= 0.9*least:
		say("the sink itself limits: the whole does %s of the %s samples/s that it takes from memory", share(now, least), figure(least))
	case name == "sink":
		say("the sink could take %s samples/s and gets %s (%s), although all before it alone makes more: they are in each other's way, or the hand-over is",
			figure(least), figure(now), share(now, least))
	case name == "prep":
		say("preparing limits: %s samples/s without the sink, which could take %s", figure(least), orUnknown(c.Replay))
	case name == "read":
		say("reading limits: %s samples/s alone%s, while preparing makes %s", figure(least), coldWord(c), orUnknown(c.Prep))
	}
	if c.Cold > 0 && c.Warm > 0 && c.Cold < 0.9*c.Warm {
		say("cold data are read at %s samples/s, warm ones at %s: the first pass is that much slower", figure(c.Cold), figure(c.Warm))
	}
	c.passes(say)
	c.cache(say)
	c.cores(say)
	c.disk(say)
	return all
}

func coldWord(c Ceilings) string {
	if c.Cold > 0 {
		return " on cold data"
	}
	return ""
}

func orUnknown(x float64) string {
	if x == 0 {
		return "a rate that was not measured"
	}
	return figure(x)
}

func share(x, of float64) string { return fmt.Sprintf("%.0f %%", 100*x/of) }

// cache says how much memory would hide the store.
func (c Ceilings) cache(say func(string, ...any)) {
	p := c.cold()
	for i := range p.Stages {
		if len(p.Stages[i].From) > 0 {
			continue
		}
		bytes, ok := p.SmallestCache(i)
		switch data := p.data(i); {
		case !ok:
		case bytes == 0:
			say("no cache is needed to hide the store of %s", p.Stages[i].ID)
		default:
			say("a cache of %s of the %s behind %s would hide the store, from the second epoch on", size(bytes), size(data), p.Stages[i].ID)
		}
	}
}

// cores says how many cores the sink needs.
func (c Ceilings) cores(say func(string, ...any)) {
	if c.Replay == 0 || c.Profile.Computing() == 0 {
		return
	}
	need := c.Profile.CoresFor(c.Replay)
	have := ""
	if c.Profile.Cores > 0 {
		have = fmt.Sprintf("; there are %.3g", c.Profile.Cores)
	}
	say("to keep the sink busy takes %s cores%s", figure(need), have)
}

// disk says what reading twice as fast would bring.
func (c Ceilings) disk(say func(string, ...any)) {
	p := c.cold()
	before := p.Predict()
	for i := range p.Stages {
		if s := &p.Stages[i]; len(s.From) == 0 {
			s.Time = s.Time.Scaled(0.5)
		}
	}
	after := p.Predict()
	if before.Rate > 0 {
		say("a store twice as fast would bring %.2f x (%s)", after.Rate/before.Rate, after)
	}
}

// size is a number of bytes with its unit.
func size(bytes float64) string {
	for _, u := range []struct {
		name string
		of   float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if bytes >= u.of {
			return figure(bytes/u.of) + " " + u.name
		}
	}
	return figure(bytes) + " B"
}
