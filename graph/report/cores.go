package report

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

const (
	// coresShort is the share of the cores from which on they count as the limit: whatever else is mended, the rate can
	// grow by a quarter at most.
	coresShort = 0.8
	// takenAt is the share of the time that the process wanted a core, and did not get one, from which on other
	// programs are said to take them; takenLeast is how many threads must have waited, on average.
	takenAt, takenLeast = 0.25, 0.1
	// idleBelow is the utilisation under which a stage had workers free, so that what lay before it waited for a core.
	idleBelow = 0.5
	// littleGain is how many times as fast a change must make things to be worth it.
	littleGain = 1.05
	// fullAt is the utilisation from which on the workers of a stage were at it without a break.
	fullAt = 0.9
)

// causeCore stands for [graph.CauseQueue] where a worker was free, and only a core was missing.
const causeCore = "no core free"

// demand finds who had the cores.
func (m *model) demand(s *graph.Snapshot) {
	elapsed := s.Totals.Elapsed.Seconds()
	if r := ratio(s.CPU.Seconds(), elapsed); r != nil {
		m.used = *r
	}
	lost := 0.0
	if r := ratio(s.CPUWait.Seconds(), elapsed); r != nil && m.used > 0 {
		lost = *r
		m.taken = lost / (lost + m.used)
	}
	if m.cores == 0 {
		return
	}
	m.crowded = m.used < coresShort*m.cores && m.taken >= takenAt && lost >= takenLeast
	m.short = !m.crowded && m.used+lost >= coresShort*m.cores
}

// computing shares out the processor time among the computing stages, by their busy times. busy is the sum of these, in
// seconds; whole the processor time, or busy where that is more, since a worker that waits for a core counts as busy.
func (m *model) computing(s *graph.Snapshot) (busy, whole float64) {
	for i := range m.all {
		busy += m.computed(i, s)
	}
	return busy, max(busy, s.CPU.Seconds())
}

// computed is the busy time of a stage that computes, in seconds; 0 for one that waits, and for the sink, whose busy
// time is another's program.
func (m *model) computed(i int, s *graph.Snapshot) float64 {
	st := m.all[i].stage
	if i == m.sink || st.FusedInto != "" || m.waits(st, s) {
		return 0
	}
	return st.Busy.Seconds()
}

// share is the part of all computing that a stage does.
func (m *model) share(i int, s *graph.Snapshot) float64 {
	if i < 0 {
		return 0
	}
	_, whole := m.computing(s)
	if r := ratio(m.computed(i, s), whole); r != nil {
		return *r
	}
	return 0
}

// hungriest is the stage that computes most, -1 without one.
func (m *model) hungriest(s *graph.Snapshot) int {
	at, most := -1, 0.0
	for i := range m.all {
		if x := m.computed(i, s); x > most {
			at, most = i, x
		}
	}
	return at
}

// cost is the processor time of one item of the sink, in seconds; 0: unknown. Where the cores are the limit it is
// measured. Else it is the sum of what the stages should take.
func (m *model) cost(s *graph.Snapshot) float64 {
	if m.short && m.sink >= 0 {
		if r := ratio(s.CPU.Seconds(), float64(m.all[m.sink].stage.ItemsIn)); r != nil && *r > 0 {
			return *r
		}
	}
	sum := 0.0
	for i, r := range m.all {
		if i != m.sink && !m.waits(r.stage, s) {
			sum += r.work
		}
	}
	return sum
}

// ceiling is the rate that the cores allow when every computing stage but without (-1: none) has its work done on
// them; 0: no limit known.
func (m *model) ceiling(s *graph.Snapshot, without int) float64 {
	sum := m.cost(s)
	if without >= 0 && without != m.sink && !m.waits(m.all[without].stage, s) {
		if m.short {
			sum *= 1 - m.share(without, s)
		} else {
			sum -= m.all[without].work
		}
	}
	if c := ratio(m.cores, sum); c != nil {
		return *c
	}
	return 0
}

// idle tells that a stage had a worker free most of the time. The sink that waits for an item is always free for it.
func (m *model) idle(i int) bool {
	if i < 0 {
		return false
	}
	u := m.utilisation(i)
	return i == m.sink || u != nil && *u < idleBelow
}

// utilisation is the busy share of the workers of a stage; nil: unknown.
func (m *model) utilisation(i int) *float64 {
	st := m.all[i].stage
	if st.Utilisation != nil {
		return st.Utilisation
	}
	return ratio(st.Busy.Seconds(), (st.WaitIn + st.Busy + st.WaitOut).Seconds())
}

// coreless tells that a charge is really a wait for a core: an item lay before a stage that had a worker free for it,
// while the cores were in use.
func (m *model) coreless(stage, cause string) bool {
	return cause == graph.CauseQueue && (m.short || m.crowded) && m.idle(m.index(stage))
}

// coreless is the share of the wait in which only a core was missing, and the stages before which it mostly was.
func (j *judge) coreless() (share float64, before []string) {
	for _, c := range j.blame {
		t := c.of(causeCore)
		if t == 0 {
			continue
		}
		part := c.share * t / c.time
		if share += part; part >= 0.01 {
			before = append(before, name(c.stage))
		}
	}
	return share, before
}

// computes tells that the cores, and no stage's settings, are what the sink waits for. at is the stage that blame names,
// -1: none, and share what it carries.
func (j *judge) computes(at int, share float64) bool {
	if !j.m.short && !j.m.crowded || j.m.hungriest(&j.s) < 0 {
		return false
	}
	if core, _ := j.coreless(); at < 0 || core >= share {
		return true
	}
	if busy, whole := j.m.computing(&j.s); busy < whole/2 {
		return false // the cores are kept busy by the loop body, perhaps at other times than when it waits
	}
	if c := j.m.ceiling(&j.s, -1); j.m.short && c > 0 && c < littleGain*j.m.now {
		return true
	}
	// What waits needs no core for that. Workers that never rest are a limit of their own, unless there is one for each
	// core already.
	st, u := j.m.all[at].stage, j.m.utilisation(at)
	return !j.m.waits(st, &j.s) && (u == nil || *u < fullAt || float64(st.Workers) >= j.m.cores)
}

// compute is the judgement when the cores are the limit.
func (j *judge) compute() string {
	at := j.m.hungriest(&j.s)
	id := j.m.all[at].stage.ID
	j.v.Bottleneck, j.v.Cause, j.v.Limit = id, graph.CauseService, id
	share := 0.0
	for _, c := range j.blame {
		if c.stage == id {
			share += c.share
		}
	}
	j.v.ShareOfWait = &share
	if j.m.crowded {
		return fmt.Sprintf(" As far as can be told it waits for computing, of which %s does %s.", j.group(at),
			percent(j.m.share(at, &j.s)))
	}
	text := fmt.Sprintf(" The cores are the limit: %s, and %s does %s of all computing.", j.keptBusy(), j.group(at),
		percent(j.m.share(at, &j.s)))
	a := j.machine(at)
	j.v.Next = a.next
	return text + " " + a.text + j.predict(a)
}

// keptBusy is "1.9 of 2 cores are kept busy".
func (j *judge) keptBusy() string {
	return fmt.Sprintf("%s of %s cores are kept busy", digits(min(j.m.used, j.m.cores), 2), digits(j.m.cores, 2))
}

// crowd says that other programs had the cores, before the judgement that suffers from it.
func (j *judge) crowd() string {
	if !j.m.crowded {
		return ""
	}
	return fmt.Sprintf("Other programs had the cores for %s of the time in which this one wanted them, so these figures "+
		"are not to be trusted. ", percent(j.m.taken))
}

// coresLine is the evidence on the processor.
func (j *judge) coresLine() string {
	switch {
	case j.m.crowded:
		return fmt.Sprintf("cores: this program kept %s of %s busy; its threads ran for %s in all and waited for a core "+
			"for %s; service times include such waits", digits(j.m.used, 2), digits(j.m.cores, 2), duration(j.s.CPU),
			duration(j.s.CPUWait))
	case !j.m.short:
		return ""
	}
	line := "cores: " + j.keptBusy()
	if c := j.m.ceiling(&j.s, -1); c > 0 {
		line += fmt.Sprintf("; a %s costs %s of processor time, so they can do %s", j.unit(),
			seconds(j.m.cost(&j.s)), j.perSecond(c))
	}
	return line
}

// sharesLine lists the stages by what they compute, and what is computed outside of them.
func (j *judge) sharesLine() string {
	if !j.v.Starved || !j.m.short && !j.m.crowded {
		return ""
	}
	var parts []string
	for i := range j.m.all {
		if x := j.m.share(i, &j.s); x >= 0.05 {
			parts = append(parts, fmt.Sprintf("%s %s", name(j.m.all[i].stage.ID), percent(x)))
		}
	}
	busy, whole := j.m.computing(&j.s)
	if rest := 1 - busy/whole; whole > 0 && rest >= 0.05 {
		parts = append(parts, percent(rest)+" outside of stages that compute (the loop body, garbage collection, reading)")
	}
	if len(parts) == 0 {
		return ""
	}
	return "computing: " + strings.Join(parts, ", ")
}
