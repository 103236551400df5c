package doctor

import (
	"fmt"
	"math"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

const (
	// worth is the least gain of an action.
	worth = 0.05
	// helped is the part of a predicted gain that a run must show, for the action to count as the right one.
	helped = 0.5
	// mostTimes bounds a change in one go: what the model says of ten times as many is less sure with each doubling.
	mostTimes = 64
)

// treat finds one action for the pipeline as it is now, and tries it. It says whether to look for another.
func (x *exam) treat() bool {
	v := &x.now.v
	st := x.now.m.stage(v.Bottleneck)
	if st == nil {
		x.step("which stage?", "not known", v.Sentence)
		return false
	}
	share := "not known"
	if v.ShareOfWait != nil {
		share = percent(*v.ShareOfWait)
	}
	x.step("which stage, and what does it do?", fmt.Sprintf("%s: %s", quote(st.ID), trade(x.now.s.Stages, st)),
		fmt.Sprintf("it carries %s of the steady wait (%s); %s on average, %s at p99, with %s", share, v.Cause,
			seconds(st.Service.Mean.Seconds()), seconds(st.Service.P99.Seconds()), plural(st.Workers, "worker")))
	if x.copies(st) {
		return false
	}
	if found, more := x.cached(st); found {
		return more
	}
	if x.cores(st) {
		return false
	}
	c, ok := x.choose(st)
	if !ok {
		x.step("does any setting help?", "no", "neither workers nor room for slow items would bring 5 % by the model")
		return false
	}
	return x.try(st, c)
}

// cores is the arrow about the processor. True: no setting helps, and the action says so.
func (x *exam) cores(st *graph.StageStats) bool {
	v, next := &x.now.v, x.now.v.Next
	if !x.computes() {
		answer := "no"
		if v.Oversubscribed {
			answer = "nearly: workers compete for them"
		}
		x.step("are the cores the limit?", answer, fmt.Sprintf("%s of %s are kept busy", rate(x.now.m.p.Measured.CPU), rate(x.now.m.p.Cores)))
		return false
	}
	if v.Crowded { // with the cores to itself this pipeline may have another limit
		x.step("are the cores the limit?", "not known: other programs have them", "examine again when the machine is quiet")
		return true
	}
	x.step("are the cores the limit?", "yes", evidence(v.Evidence, "cores: ", "oversubscribed: "))
	a := Action{Stage: st.ID, Knob: "cores", Set: []string{}, Text: fmt.Sprintf("make %s cheaper, cache what it makes, or give it more cores", quote(st.ID))}
	if next != nil && next.To != nil {
		a.Text += fmt.Sprintf(": about %d would do", *next.To)
		a.Predicted = x.now.m.predict(fmt.Sprintf("cores=%d", *next.To), st.ID, 1)
		if v.Predicted != nil { // with as many workers, too
			a.Predicted = *v.Predicted
		}
	}
	x.act(a)
	return true
}

// computes says that the cores are the limit by the verdict.
func (x *exam) computes() bool {
	v := &x.now.v
	return v.Compute || v.Next != nil && v.Next.Knob == "cores"
}

// act adds an action that was not tried.
func (x *exam) act(a Action) {
	if x.now.m.rate > 0 && a.Predicted > 0 {
		a.Gain = a.Predicted/x.now.m.rate - 1
	}
	x.Actions = append(x.Actions, a)
}

// choose takes what the verdict says, unless the simulation, which knows more than means, expects next to nothing of it
// and more of another setting of the stage. Of changes that bring about the same, the first in the list is taken.
func (x *exam) choose(st *graph.StageStats) (change, bool) {
	var best change
	for _, k := range x.candidates(st) {
		if x.tried[k.set()] || k.to <= k.from {
			continue
		}
		times := 1.0
		if k.name == "workers" {
			times = float64(k.to) / float64(k.from)
		}
		c := change{knobs: []knob{k}}
		if c.rate = x.now.m.predict(c.question(), k.stage, times); c.rate > best.rate*(1+worth) {
			best = c
		}
	}
	if best.rate < x.now.m.rate*(1+worth) {
		c, ok := x.now.m.together()
		if !ok || x.tried[c.question()] || c.rate < x.now.m.rate*(1+worth) {
			return best, false
		}
		best = c
		x.step("would one stage alone do?", "no", "another is just as slow, so both have to change")
	}
	x.mean(st, best)
	return best, true
}

// mean is the arrow about averages and outliers.
func (x *exam) mean(st *graph.StageStats, c change) {
	answer := "slow on average"
	if c.knobs[0].name != "workers" {
		answer = "slow only now and then"
	}
	x.step("slow on average, or only now and then?", answer, fmt.Sprintf("a mean of %s beside %s at p50, %s at p99 and %s at worst",
		seconds(st.Service.Mean.Seconds()), seconds(st.Service.P50.Seconds()), seconds(st.Service.P99.Seconds()), seconds(st.Service.Max.Seconds())))
}

// varies tells that some items of a stage take many times as long as others.
func (x *exam) varies(st *graph.StageStats) bool {
	return st.Service.P99 >= 3*st.Service.Mean || st.Service.Max >= 5*st.Service.Mean
}

// candidates are the settings to look at: what the verdict says first, then workers, and for a stage whose times vary the
// room for slow items.
func (x *exam) candidates(st *graph.StageStats) []knob {
	var all []knob
	if n := x.now.v.Next; n != nil && n.To != nil && n.From != nil && (n.Knob == "workers" || n.Knob == "window" || n.Knob == "buffer") {
		all = append(all, knob{n.Stage, n.Knob, *n.From, min(*n.To, mostTimes*max(1, *n.From))})
	}
	w := max(1, st.Workers)
	most := math.MaxInt
	if st.Load == graph.CPU && x.now.m.p.Cores > 0 && !x.waitsAnyhow(st) {
		most = int(math.Ceil(x.now.m.p.Cores))
	}
	for _, to := range []int{2 * w, 4 * w} {
		all = append(all, knob{st.ID, "workers", w, min(to, most)})
	}
	if x.varies(st) {
		for _, name := range []string{"window", "buffer"} {
			from := st.Window
			if name == "buffer" {
				from = st.Buffer
			}
			if from > 0 {
				all = append(all, knob{st.ID, name, from, min(16*from, 65536)})
			}
		}
	}
	return all
}

// waitsAnyhow tells that a stage which is declared to compute cannot have.
func (x *exam) waitsAnyhow(st *graph.StageStats) bool {
	for i := range x.now.m.p.Stages {
		if s := &x.now.m.p.Stages[i]; s.ID == st.ID {
			return s.Waits
		}
	}
	return false
}

// try runs with a change. It is kept when it helps; when more workers do not, the stage's workers share something.
func (x *exam) try(st *graph.StageStats, c change) bool {
	k := c.knobs[0]
	x.tried[c.question()] = true
	ask := "does more concurrency help?"
	if k.name != "workers" {
		ask = "does room for slow items help?"
	}
	before := x.now
	after, err := x.run(c.set())
	a := Action{Stage: k.stage, Knob: k.name, Set: c.set(), Predicted: c.rate, Gain: c.rate/before.m.rate - 1, Text: c.text()}
	if err != nil {
		x.untried(ask, a, err)
		return false
	}
	proof := fmt.Sprintf("%s: predicted %s samples/s, measured %s (was %s)", strings.Join(a.Set, " "), rate(c.rate), rate(after.m.rate), rate(before.m.rate))
	gain := after.m.rate/before.m.rate - 1
	if gain >= helped*a.Gain && gain >= worth/2 {
		x.step(ask, "yes", proof)
		a.Measured = &after.m.rate
		x.Actions, x.set, x.now = append(x.Actions, a), append(x.set, a.Set...), after
		return true
	}
	x.step(ask, "no", proof)
	if k.name == "workers" && len(c.knobs) == 1 {
		x.shared(st, after)
		return false
	}
	return len(c.knobs) == 1 // another candidate: this one is not looked at again
}

// untried ends an examination with an action whose run could not be made.
func (x *exam) untried(ask string, a Action, err error) {
	x.step(ask, "not tried", err.Error())
	if err != errNoTime {
		x.Limits = append(x.Limits, fmt.Sprintf("the run with %s failed: %v", strings.Join(a.Set, " "), err))
	}
	x.Actions = append(x.Actions, a)
}

// shared is the case that more workers bring little: they wait for each other. A run with one worker tells what an item
// takes without that.
func (x *exam) shared(st *graph.StageStats, more finding) {
	const ask = "do its workers wait for each other?"
	grown := more.m.stage(st.ID)
	alone := st.Service.Mean
	if st.Workers > 1 {
		one, err := x.run([]string{st.ID + ".workers=1"})
		if s := one.m.stage(st.ID); err == nil && s != nil {
			alone = s.Service.Mean
		}
	}
	if grown == nil || alone == 0 || float64(grown.Service.Mean) < 1.3*float64(alone) {
		x.step(ask, "no", "an item takes as long with more of them; something else came to limit at once")
		return
	}
	thing := "a lock, a connection, a device"
	if len(st.From) == 0 {
		thing = "the disk, the server, a lock"
	}
	times := float64(st.Service.Mean) / float64(alone)
	x.step(ask, "yes", fmt.Sprintf("an item takes %s with one worker, %s with %d, %s with %d", seconds(alone.Seconds()),
		seconds(st.Service.Mean.Seconds()), st.Workers, seconds(grown.Service.Mean.Seconds()), grown.Workers))
	a := Action{Stage: st.ID, Knob: "sharing", Set: []string{}, Text: fmt.Sprintf("let the workers of %s share less (%s): more of them bring nothing", quote(st.ID), thing)}
	if times < 1.05 { // one worker: what the others would have to share is not seen yet, so the next step is to read or do less
		times = 2
		a.Text = fmt.Sprintf("make what the workers of %s share (%s) quicker: more of them bring nothing, twice as quick would", quote(st.ID), thing)
	}
	a.Predicted = x.now.m.predict(fmt.Sprintf("%s=%.3fx", st.ID, times), st.ID, times)
	x.act(a)
}

// trade says what sort of work a stage does.
func trade(all []graph.StageStats, st *graph.StageStats) string {
	switch {
	case len(st.From) == 0:
		return "storage, or what the source does"
	case strings.Contains(st.Kind, "decode"):
		return "decoding"
	case st.Kind == "collate" || st.Kind == "collect":
		return "putting batches together"
	case strings.Contains(st.Kind, "copy") || st.Kind == "pin":
		return "copying to the device"
	case st.Kind == "merge" || st.Kind == "mix":
		return "joining inputs"
	case strings.Contains(st.Kind, "cache"):
		return "the cache"
	}
	return "transforming"
}

// evidence picks lines by how they begin.
func evidence(lines []string, begins ...string) string {
	for _, l := range lines {
		for _, b := range begins {
			if strings.HasPrefix(l, b) {
				return l
			}
		}
	}
	return ""
}
