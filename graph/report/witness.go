package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// charge is what one stage was blamed for.
type charge struct {
	stage  string
	time   float64 // seconds
	share  float64 // of all blame of the phase
	causes []causeTime
}

type causeTime struct {
	cause string
	time  float64
}

// main is the cause that most of it is due to.
func (c charge) main() string {
	if len(c.causes) == 0 {
		return ""
	}
	return c.causes[0].cause
}

// tunable tells whether a stage can be at fault for a cause.
func tunable(cause string) bool {
	return cause != graph.CauseStart && cause != graph.CauseEnd && cause != graph.CauseUnattributed
}

// of is the time that is due to a cause.
func (c charge) of(cause string) float64 {
	for _, x := range c.causes {
		if x.cause == cause {
			return x.time
		}
	}
	return 0
}

// without is a charge less what is due to a cause.
func (c charge) without(cause string) charge {
	t := c.of(cause)
	if t == 0 {
		return c
	}
	less := charge{stage: c.stage, time: c.time - t, share: c.share * (1 - t/c.time)}
	for _, x := range c.causes {
		if x.cause != cause {
			less.causes = append(less.causes, x)
		}
	}
	return less
}

// charges adds up the blame of a phase ("": all) by stage, the largest first. What no stage is at fault for (start,
// end, unattributed) stands under the cause's name with an empty stage. Waits for a core bear that name.
func (m *model) charges(s *graph.Snapshot, phase string) []charge {
	sum, by := 0.0, map[string]*charge{}
	var order []string
	for _, b := range s.Blame {
		if phase != "" && b.Phase != phase || b.Time == 0 {
			continue
		}
		key, id := b.Stage, b.Stage
		if !tunable(b.Cause) {
			key, id = "\x00"+b.Cause, ""
		}
		c := by[key]
		if c == nil {
			c = &charge{stage: id}
			by[key], order = c, append(order, key)
		}
		t := b.Time.Seconds()
		sum, c.time = sum+t, c.time+t
		if m.coreless(b.Stage, b.Cause) {
			c.add(causeCore, t)
		} else {
			c.add(b.Cause, t)
		}
	}
	all := make([]charge, 0, len(order))
	for _, key := range order {
		c := *by[key]
		c.share = c.time / sum
		slices.SortStableFunc(c.causes, func(a, b causeTime) int { return cmp.Compare(b.time, a.time) })
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b charge) int { return cmp.Compare(b.time, a.time) })
	return all
}

func (c *charge) add(cause string, t float64) {
	for i := range c.causes {
		if c.causes[i].cause == cause {
			c.causes[i].time += t
			return
		}
	}
	c.causes = append(c.causes, causeTime{cause, t})
}

// edgeState is how full the queues around a stage are, 0 to 1.
type edgeState struct {
	before, after float64
	known         bool
}

// distinct is the least difference between the queue before a stage and the one after it that says something.
const distinct = 0.5

// queues is the second witness: work piles up before the slowest stage and runs out behind it. -1: no clear picture.
// Before a stage that had a worker free it piles up for want of a core; free is the last such stage, or -1.
func (m *model) queues() (at, free int, around []edgeState) {
	at, free = -1, -1
	around = make([]edgeState, len(m.all))
	for i := range m.all {
		if m.all[i].stage.FusedInto != "" {
			continue
		}
		e := m.around(i)
		around[i] = e
		switch {
		case !e.known || e.before-e.after < distinct:
		case i != m.sink && len(m.all[i].stage.From) > 0 && (m.short || m.crowded) && m.idle(i):
			free = i
		default:
			at = i // the last one is what the sink sees
		}
	}
	return at, free, around
}

// around is the state before and after one stage. A source always has something before it, a sink never after it.
func (m *model) around(i int) edgeState {
	e := edgeState{before: 1, known: true}
	if from := m.all[i].stage.From; len(from) > 0 {
		e.before = 0
		for _, id := range from {
			f, ok := m.full(m.index(id))
			if !ok {
				return edgeState{}
			}
			e.before += f / float64(len(from))
		}
	}
	if i == m.sink {
		return e
	}
	last := i
	for k := range m.all {
		if m.all[k].stage.FusedInto == m.all[i].stage.ID {
			last = k
		}
	}
	e.after, e.known = m.full(last)
	return e
}

// full is the mean fill of a stage's output queue.
func (m *model) full(i int) (float64, bool) {
	if i < 0 {
		return 0, false
	}
	st := m.all[i].stage
	if st.Queue.Mean == nil || st.Buffer == 0 {
		return 0, false
	}
	return min(1, *st.Queue.Mean/float64(st.Buffer)), true
}

// Witnesses are the stages that the three kinds of evidence name; "" where one has nothing to say.
type Witnesses struct {
	Blame    string // the stage that the steady waits of the sink are charged to
	Queues   string // the stage with a full queue before it and an empty one behind it
	Capacity string // the stage that can do the least
}

// agree tells whether no two of them name different stages.
func (w Witnesses) agree() bool {
	first := ""
	for _, id := range []string{w.Blame, w.Queues, w.Capacity} {
		if id != "" && first != "" && id != first {
			return false
		}
		if id != "" {
			first = id
		}
	}
	return true
}

// testimony is the evidence in words, one line a witness, and whether they agree.
func (j *judge) testimony() {
	j.say(j.blameLine())
	j.say(j.queueLine())
	j.say(j.capacityLine())
	w := j.v.Witnesses
	if w.agree() || !j.v.Measured {
		return
	}
	follows := "the wait that was measured"
	switch {
	case j.v.Compute:
		follows = "the processor time"
	case w.Blame != "":
		follows = "blame, which is measured wait by wait"
		if j.jitter(j.m.index(w.Blame)) {
			follows += ", while capacities are means and hide slow items"
		}
	case j.v.Starved:
		follows = "capacity"
	}
	j.say(fmt.Sprintf("the witnesses disagree: blame names %s, the queues %s, capacity %s; the verdict follows %s",
		orNone(w.Blame), orNone(w.Queues), orNone(w.Capacity), follows))
}

func orNone(id string) string {
	if id == "" {
		return "none"
	}
	return name(id)
}

func (j *judge) blameLine() string {
	if len(j.blame) == 0 {
		return ""
	}
	var parts []string
	for _, c := range j.blame[:min(3, len(j.blame))] {
		if len(parts) > 0 && c.share < 0.01 {
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s)", percent(c.share), who(c.stage), c.words()))
	}
	core, before := j.coreless()
	if len(before) > 0 {
		parts[len(parts)-1] += fmt.Sprintf("; for %s of it there was a worker free but no core, before %s", percent(core),
			strings.Join(before, ", "))
	}
	return "blame for " + j.phaseWord() + ": " + strings.Join(parts, ", ")
}

// who is a stage's name, or "no stage".
func who(id string) string {
	if id == "" {
		return "no stage"
	}
	return name(id)
}

// words lists the causes of a charge.
func (c charge) words() string {
	var parts []string
	for _, x := range c.causes {
		if x.time >= 0.05*c.time {
			parts = append(parts, x.cause)
		}
	}
	return strings.Join(parts, " and ")
}

func (j *judge) queueLine() string {
	at, free, around := j.m.queues()
	switch {
	case at < 0 && free >= 0:
		return fmt.Sprintf("queues: %s full before %s, which had a worker free, but no core", percent(around[free].before),
			name(j.m.all[free].stage.ID))
	case at < 0 && slices.ContainsFunc(around, func(e edgeState) bool { return e.known }):
		return "queues: no stage has a full one before it and an empty one after it"
	case at < 0:
		return ""
	}
	e, st := around[at], j.m.all[at].stage
	j.v.Witnesses.Queues = st.ID
	switch {
	case at == j.m.sink:
		return fmt.Sprintf("queues: the one before %s is %s full", name(st.ID), percent(e.before))
	case len(st.From) == 0:
		return fmt.Sprintf("queues: the one after the source %s is only %s full", name(st.ID), percent(e.after))
	}
	return fmt.Sprintf("queues: %s full before %s, %s full after it", percent(e.before), name(st.ID), percent(e.after))
}

func (j *judge) capacityLine() string {
	at := j.m.slowest(-1)
	if at < 0 {
		return ""
	}
	id := j.m.all[at].stage.ID
	j.v.Witnesses.Capacity = id
	line := fmt.Sprintf("capacity: %s can do %s, the least", name(id), j.perSecond(j.m.all[at].can))
	if next := j.m.slowest(at); next >= 0 {
		line += fmt.Sprintf("; then %s with %s", name(j.m.all[next].stage.ID), j.perSecond(j.m.all[next].can))
	}
	return line
}
