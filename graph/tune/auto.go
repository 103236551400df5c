package tune

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// Auto is a tuner for [graph.Tuned]: it reads the run every quarter of a second, or every two seconds where there is
// nothing to do, and moves what is auto toward what the model says is best (see [Controller]). A stage that computes
// gets no more workers where all that compute would be more than the cores; what the items under way may take stays
// within the memory budget, as far as their size is known.
func Auto(may graph.Tunable) graph.Tuner {
	a := &auto{c: NewController(Budget{Cores: float64(may.Cores), Memory: may.Memory}), every: quick}
	a.c.knobs = map[string]graph.Knob{}
	for _, k := range may.Knobs {
		a.c.knobs[k.Stage+"."+k.Key] = k
	}
	return a
}

const (
	quick = 250 * time.Millisecond
	slow  = 2 * time.Second
	// An interval has so many items of the sink, or it lasts longer: up to so many times as long, and then until it has a
	// few.
	plenty = 40
	longer = 8
	few    = 5
)

// auto reads a run for a controller.
type auto struct {
	c      *Controller
	from   *graph.Snapshot // the beginning of the interval; nil: what comes next is its beginning
	settle bool            // a move has been made: its effect is waited for first
	every  time.Duration
}

// Next implements [graph.Tuner].
func (a *auto) Next(s graph.Snapshot) (m graph.Move, ok bool, again time.Duration) {
	switch {
	case s.Totals.FirstBatch == nil:
		return m, false, quick
	case a.settle:
		a.settle = false
		return m, false, a.every
	case a.from == nil:
		a.from = &s
		return m, false, a.every
	}
	took, items := s.Totals.Elapsed-a.from.Totals.Elapsed, taken(s)-taken(*a.from)
	if items < plenty && took < longer*quick || items < few {
		return m, false, a.least()
	}
	r, ok := reading(*a.from, s)
	if a.from = &s; !ok {
		return m, false, a.every
	}
	switch m, ok = a.c.Next(r); {
	case ok:
		a.from, a.settle, a.every = nil, true, a.least()
	case a.c.waits > 0:
		a.every = a.least()
	default:
		a.every = min(2*a.every, slow)
	}
	return m, ok, a.every
}

// least is how long an interval is at least: longer where the rate goes up and down.
func (a *auto) least() time.Duration {
	return min(quick+time.Duration(a.c.noise/0.05*float64(quick)), slow/2)
}

// Decisions implements [graph.Tuner].
func (a *auto) Decisions() []graph.Decision { return a.c.Decisions() }

// reading is what happened between two snapshots of a run; ok is false where that says nothing.
func reading(from, to graph.Snapshot) (r Reading, ok bool) {
	t := Between(from, to)
	d := between(from, to)
	p, err := d.profile()
	if err != nil || t.Rate == 0 || math.IsInf(t.Rate, 0) {
		return r, false
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		s.Waits = d.first(s.ID).Load == string(graph.Wait) // it is believed: the cores are a budget
	}
	return Reading{Second: to.Totals.Elapsed.Seconds(), Rate: t.Rate, WaitRatio: t.WaitRatio, Profile: p}, true
}

// between is a report of what happened between two snapshots. How many outputs an input has is taken from all that
// happened, since there may be as many under way as in an interval.
func between(from, to graph.Snapshot) *document {
	d := &document{Pipeline: to.Pipeline}
	d.Totals.Samples = to.Totals.Samples - from.Totals.Samples
	d.Totals.Seconds = (to.Totals.Elapsed - from.Totals.Elapsed).Seconds()
	cpu, wait := (to.CPU - from.CPU).Seconds(), (to.CPUWait - from.CPUWait).Seconds()
	if cpu > 0 {
		d.Totals.CPU, d.Totals.CPUWait = &cpu, &wait
	}
	d.Sink.SteadyItems = to.Sink.SteadyItems - from.Sink.SteadyItems
	d.Sink.SteadyBusy = (to.Sink.SteadyBusy - from.Sink.SteadyBusy).Seconds()
	for i := range to.Stages {
		d.Stages = append(d.Stages, stageBetween(&from.Stages[i], &to.Stages[i], i == len(to.Stages)-1))
	}
	return d
}

func stageBetween(from, to *graph.StageStats, sink bool) stageDoc {
	x := stageDoc{ID: to.ID, Kind: to.Kind, Load: string(to.Load), Order: to.Order, From: to.From, Workers: to.Workers, Buffer: to.Buffer,
		Window: to.Window, Group: to.Group, Slabs: to.Slabs, In: to.ItemsIn, Out: to.ItemsOut, FusedInto: to.FusedInto}
	under := int64(to.Workers + to.Window + to.Buffer)
	switch {
	case sink:
		x.In -= from.ItemsIn
	case to.Group > 0:
		x.Out = 0
		if full := x.In / int64(to.Group); full > 0 {
			x.In, x.Out = full*int64(to.Group), full
		}
	case len(to.From) > 0 && max(x.In-x.Out, x.Out-x.In) <= under:
		x.Out = x.In // they are under way
	}
	busy := (to.Busy - from.Busy).Seconds()
	x.Busy = &busy
	if to.BytesOut != nil {
		b := float64(*to.BytesOut)
		x.BytesOut = &b
		if x.Out > 0 && to.ItemsOut > 0 {
			b *= float64(x.Out) / float64(to.ItemsOut)
		}
	}
	before := map[time.Duration]int64{}
	for _, b := range from.Service.Buckets {
		before[b.Upto] = b.Count
	}
	n := to.Service.Count - from.Service.Count
	if n <= 0 {
		if to.Service.Count > 0 { // none just now: it is as it was
			mean := to.Service.Mean.Seconds()
			x.Service.Mean = &mean
		}
		return x
	}
	mean := (to.Service.Sum - from.Service.Sum).Seconds() / float64(n)
	x.Service.Mean = &mean
	for _, b := range to.Service.Buckets {
		if c := b.Count - before[b.Upto]; c > 0 {
			x.Service.Buckets = append(x.Service.Buckets, bucket{b.Upto.Seconds(), c})
		}
	}
	return x
}
