package report

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/graph"
)

// cores stands for the processor where a stage's id would stand, and is the knob that only the machine has.
const cores = "cores"

// What an advice may ask for at most.
const (
	mostWorkers = 4096
	mostItems   = 65536 // of a buffer or window
)

// advice is a change, in words, and the rate that the model expects of it in sink items a second (0: none).
type advice struct {
	next *Next
	text string
	rate float64
	then string
}

// advise maps a cause at a stage to the knob that moves it.
func (j *judge) advise(at int, cause string) advice {
	st := j.m.all[at].stage
	switch cause {
	case graph.CauseWindow:
		return j.holes(at, "window", st.Window, fmt.Sprintf(
			"Finished items are stuck behind a slow one in %s: raise its window", name(st.ID)))
	case graph.CauseSlabs:
		return j.slabs(at)
	case graph.CauseCopy:
		a := advice{next: &Next{Stage: st.ID, Knob: "depth"}, text: fmt.Sprintf("Next: let %s copy while the device "+
			"works (raise depth), or send fewer bytes.", name(st.ID))}
		for _, d := range j.s.Devices {
			if d.Stage == st.ID && d.StagedCopies > 0 {
				a.next.Knob = "pin"
				a.text = "Batches do not lie in page-locked memory, so each copy holds the host up and is slow. " +
					fmt.Sprintf("Next: put pin before %s.", name(st.ID))
			}
		}
		a.rate, a.then = j.without(at)
		return a
	case graph.CauseStart, graph.CauseEnd, graph.CauseUnattributed:
		return advice{text: "There is nothing to tune."}
	}
	if j.jitter(at) {
		return j.holes(at, "buffer", st.Buffer, fmt.Sprintf(
			"%s is fast enough on average, but its slow items leave holes: raise its buffer", name(st.ID)))
	}
	return j.workers(at, cause)
}

// workers gives a stage that cannot keep up more of them, as many as the next limit needs.
func (j *judge) workers(at int, cause string) advice {
	r, st := j.m.all[at], j.m.all[at].stage
	from := max(1, st.Workers)
	target, then := j.others(at)
	to := 2 * from
	if target > 0 && r.work > 0 {
		to = whole(target*r.work, from+1, mostWorkers)
	}
	waits := j.m.waits(st, &j.s)
	if !waits && j.m.cores > 0 {
		to = min(to, int(min(math.Ceil(j.m.cores), mostWorkers)))
	}
	if to <= from && !waits {
		return j.machine(at)
	}
	a := advice{next: &Next{Stage: st.ID, Knob: "workers", From: &from, To: &to}}
	a.rate, a.then = j.withWorkers(at, to, target, then)
	if a.then == cores && a.rate < littleGain*j.m.now && !j.m.crowded {
		return j.machine(at)
	}
	why := ""
	switch {
	case cause == graph.CauseQueue:
		why = "Items lie ready before it because no worker is free. "
	case waits:
		why = "Its workers wait rather than compute, so they may outnumber the cores. "
	}
	a.text = fmt.Sprintf("%sNext: raise workers of %s from %d to %d.", why, name(st.ID), from, to)
	return a
}

// withWorkers is the rate with that many workers at a stage, and what limits then.
func (j *judge) withWorkers(at, n int, target float64, then string) (float64, string) {
	r := j.m.all[at]
	if r.work == 0 {
		return 0, ""
	}
	can := ratio(float64(n), r.work)
	if can == nil {
		return 0, ""
	}
	rate, limit := *can, r.stage.ID
	if target > 0 && target <= rate {
		rate, limit = target, then
	}
	if c := j.m.ceiling(&j.s, -1); c > 0 && c < rate*0.999 {
		rate, limit = c, cores
	}
	return rate, limit
}

// machine is the advice when a computing stage already has all cores.
func (j *judge) machine(at int) advice {
	st := j.m.all[at].stage
	from := whole(j.m.cores, 1, mostWorkers)
	a := advice{text: j.enough(st, from)}
	if j.v.Oversubscribed && st.Workers > from {
		a.text += fmt.Sprintf(", and %d workers of %s would do as much as its %d", from, name(st.ID), st.Workers)
	}
	a.text += fmt.Sprintf(". Next: make %s cheaper, cache what it makes, or give it more cores.", name(st.ID))
	work, target, then := j.m.cost(&j.s), 0.0, ""
	for i, r := range j.m.all {
		if (i == j.m.sink || j.m.waits(r.stage, &j.s)) && r.can > 0 && (target == 0 || r.can < target) {
			target, then = r.can, r.stage.ID
		}
	}
	a.next = &Next{Stage: st.ID, Knob: cores, From: &from}
	if target == 0 || work == 0 {
		return a
	}
	to := whole(target*work, from+1, mostWorkers)
	a.next.To = &to
	a.text += fmt.Sprintf(" About %d cores would do, with as many workers.", to)
	if a.rate, a.then = target, then; to == mostWorkers {
		a.rate, a.then = float64(to)/work, cores
	}
	return a
}

// enough says why a stage needs no more workers.
func (j *judge) enough(st *graph.StageStats, n int) string {
	switch {
	case j.v.Compute:
		return "More workers or larger buffers bring nothing"
	case j.m.short:
		return j.keptBusy() + " already, so more workers bring nothing"
	case st.Workers >= n:
		return fmt.Sprintf("It has a worker for each of the %s already, so more workers bring nothing", plural(int64(n), "core"))
	}
	return fmt.Sprintf("More workers would find the %s at work for other stages", plural(int64(n), "core"))
}

// jitter tells that a stage keeps up on average and only its slow items make the sink wait.
func (j *judge) jitter(at int) bool {
	if at < 0 {
		return false
	}
	r, need := j.m.all[at], j.m.all[j.m.sink].can
	d := r.stage.Service
	if r.can == 0 || need == 0 || r.can < 1.1*need || d.Mean == 0 {
		return false
	}
	return d.P99 >= 3*d.Mean || d.Max >= 5*d.Mean
}

// holes is the advice to bridge single slow items with room: as many items as the stage finishes beside its slowest.
func (j *judge) holes(at int, knob string, from int, why string) advice {
	st := j.m.all[at].stage
	to := 2 * from
	if d := st.Service; d.Mean > 0 {
		beside := max(d.P99, d.Max).Seconds() / d.Mean.Seconds() * float64(max(1, st.Workers))
		to = max(to, power(beside))
	}
	if room := j.room(st); room > 0 {
		to = min(to, room)
	}
	to = min(max(to, from+1, 2), max(mostItems, from+1))
	a := advice{next: &Next{Stage: st.ID, Knob: knob, From: &from, To: &to}}
	a.text = fmt.Sprintf("%s from %d to %d, or see why they are slow.", why, from, to)
	a.rate, a.then = j.without(-1)
	return a
}

// room is how many items of a stage fit into a quarter of the byte budget; 0: unknown.
func (j *judge) room(st *graph.StageStats) int {
	if st.BytesOut == nil || *st.BytesOut == 0 || j.s.Memory.Limit == 0 {
		return 0
	}
	return int(min(float64(j.s.Memory.Limit)/4*float64(st.ItemsOut)/float64(*st.BytesOut), mostItems))
}

// slabs is the advice when a batch could not be begun because a stage held all memory for batches. A sink has no buffer,
// so there it is the stage before it.
func (j *judge) slabs(at int) advice {
	holder := j.m.all[at].stage
	st := holder
	if at == j.m.sink && len(st.From) > 0 && j.m.index(st.From[0]) >= 0 {
		st = j.m.all[j.m.index(st.From[0])].stage
	}
	from, to := st.Buffer, max(2, min(st.Buffer, mostItems)*2)
	a := advice{next: &Next{Stage: st.ID, Knob: "buffer", From: &from, To: &to}}
	a.text = fmt.Sprintf("%s holds all batches there are. Next: raise buffer of %s from %d to %d, or give batches "+
		"back sooner.", name(holder.ID), name(st.ID), from, to)
	a.rate, a.then = j.without(-1)
	return a
}

// others is the lowest rate of the stages but one, the sink included, and whose it is.
func (j *judge) others(at int) (float64, string) {
	i := j.m.slowest(at)
	if i < 0 {
		return 0, ""
	}
	return j.m.all[i].can, j.m.all[i].stage.ID
}

// without is the rate if one stage cost nothing (-1: all as they are), and what limits then.
func (j *judge) without(at int) (float64, string) {
	rate, limit := j.others(at)
	if c := j.m.ceiling(&j.s, at); c > 0 && (rate == 0 || c < rate*0.999) {
		return c, cores
	}
	return rate, limit
}

// whole rounds up, within bounds. A thousandth too much is no reason for one more.
func whole(x float64, least, most int) int {
	if !(x < float64(most)) {
		return max(least, most)
	}
	return max(least, int(math.Ceil(x-1e-3)))
}

// power is the next power of two, mostItems at most.
func power(x float64) int {
	n := 1
	for n < mostItems && float64(n) < x {
		n *= 2
	}
	return n
}
