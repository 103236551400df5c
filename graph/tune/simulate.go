package tune

import (
	"math"
	"slices"
)

// Options are those of a simulation.
type Options struct {
	Seed  uint64
	Items int64 // of the sink; 0: as many as the recorded run
	Most  int64 // events after which it is broken off; 0: 200 million
}

// Outcome is what a simulation gives. Times are in seconds of the simulated pipeline, shares between 0 and 1.
type Outcome struct {
	Rate      float64 // samples a second in the steady phase
	WaitRatio float64 // of the sink, in the steady phase
	Waits     Waits   // of the sink: one for each item
	Seconds   float64
	Items     int64
	Cores     float64 // kept busy on average by stages
	Stages    []StageOutcome
	Events    int64
}

// Waits is a distribution of times.
type Waits struct{ Mean, P50, P95, P99, Max float64 }

// StageOutcome is what a stage's workers did, as shares of their time, and how full the queue behind it was on average.
type StageOutcome struct {
	ID                    string
	Busy, WaitIn, WaitOut float64
	Queue                 float64
}

// mostEvents bounds a simulation: one of a profile with a tiny ratio would not end.
const mostEvents = 200_000_000

// Simulate runs a pipeline in virtual time: workers, queues, windows, order, groups and their slabs as the engine has
// them, service times drawn from the recorded ones, the cores as a resource that the computing workers share evenly, and
// the byte budget, by which items, of sizes drawn from the recorded ones, are let in at the sources. The same profile and
// seed give the same outcome. Not simulated are what a shuffle holds back, slices of quick items, epoch edges in stages
// whose order is completion or behind a mix, an input of a mix that is gone through again, and that the first items take
// longer. Cost is that of its events, one for each item of each stage: go test -v -run ALargeMachine ./graph/tune prints
// how many it does a second.
func Simulate(p Profile, o Options) Outcome {
	w := newWorld(p, o)
	for _, st := range w.stations {
		w.feed(st)
	}
	for w.step() {
	}
	return w.outcome()
}

// world is a simulation.
type world struct {
	p        Profile
	stations []*station
	sink     *station
	now      float64
	timed    calendar // jobs that end at a time
	shared   calendar // jobs that end when so much has been computed for each
	computed float64  // seconds of processor time that each computing job had until now
	cores    float64
	seq      uint64
	limit    int64
	most     int64

	waits  []float64
	epoch  int32
	wait   float64 // steady
	busy   float64
	steady int64
	cpu    float64
	events int64
	warm   float64 // when each of several sinks had had an item
	last   float64 // delivery

	account *account // nil: without a byte budget
}

func newWorld(p Profile, o Options) *world {
	w := &world{p: p.Clone(), limit: o.Items, most: o.Most, epoch: -1}
	if w.most == 0 {
		w.most = mostEvents
	}
	if w.cores = p.Cores; p.Cores > 0 && p.Overhead > 0 { // what is computed elsewhere takes its part of the cores
		if all := p.Computing(); all > p.Overhead {
			w.cores *= 1 - p.Overhead/all
		}
	}
	for i := range w.p.Stages {
		s := &w.p.Stages[i]
		st := newStation(i, s, w.cores > 0, o.Seed)
		for _, from := range s.From {
			st.ins = append(st.ins, w.stations[from])
			w.stations[from].next = st
		}
		if len(s.From) == 0 {
			st.each = max(1, s.Epoch)
			if st.left = st.each * max(1, s.Epochs); o.Items > 0 {
				st.left = int64(float64(o.Items)*max(s.Visits, 1e-9)) + 2*st.each
			}
		}
		w.stations = append(w.stations, st)
	}
	w.sink = w.stations[len(w.stations)-1]
	w.account = newAccount(&w.p, w.stations, o.Seed)
	for range w.sink.free {
		w.sink.asked = append(w.sink.asked, 0)
	}
	return w
}

// step lets the next event happen. It says whether there was one.
func (w *world) step() bool {
	if w.limit > 0 && w.sink.items >= w.limit || w.events >= w.most {
		return false
	}
	speed := 1.0
	if n := float64(len(w.shared)); n > w.cores {
		speed = w.cores / n
	}
	var e event
	switch {
	case len(w.shared) > 0:
		at := w.now + (w.shared[0].at-w.computed)/speed
		if len(w.timed) == 0 || at < w.timed[0].at {
			e = w.shared.pop()
			w.pass(at, speed, e.at)
			break
		}
		fallthrough
	case len(w.timed) > 0:
		e = w.timed.pop()
		w.pass(e.at, speed, w.computed+(e.at-w.now)*speed)
	default:
		return false
	}
	w.events++
	if w.finish(w.stations[e.st], e.job); w.account != nil {
		w.admit()
	}
	return true
}

// pass moves the clock.
func (w *world) pass(to, speed, computed float64) {
	to = max(to, w.now)
	w.cpu += (to - w.now) * min(float64(len(w.shared)), w.cores)
	w.now, w.computed = to, computed
}

// begin starts a job.
func (w *world) begin(st *station, ord int64, m mark) {
	st.free--
	n := st.spare[len(st.spare)-1]
	st.spare = st.spare[:len(st.spare)-1]
	st.jobs[n] = job{w.now, ord, m}
	e := event{st: st.no, job: n, seq: w.seq}
	w.seq++
	if d := st.deck.deal(); st.cpu {
		e.at = w.computed + d
		w.shared.push(e)
	} else {
		e.at = w.now + d
		w.timed.push(e)
	}
}

// finish ends a job.
func (w *world) finish(st *station, n int32) {
	j := st.jobs[n]
	st.spare = append(st.spare, n)
	st.busy += w.now - j.began
	st.items++
	switch {
	case st.next == nil:
		w.delivered(st, j)
	case st.s.Group > 0:
		p := st.part(j.ord)
		if st.s.Keeps {
			p.mark.hold = w.account.tie(p.mark.hold, j.mark.hold)
		} else {
			w.account.end(j.mark.hold)
		}
		if p.left--; p.left == 0 {
			p.left = 1
			w.put(st, j.ord)
		} else {
			st.free++
		}
	case st.gate != nil:
		j.mark.hold = w.account.ask(st.gate)
		*st.part(j.ord) = part{mark: j.mark, left: 1, at: w.now}
		st.gate.waiting = append(st.gate.waiting, j.ord)
	default:
		p := st.part(j.ord)
		*p = part{mark: j.mark, left: st.outputs()}
		w.account.split(j.mark.hold, p.left)
		w.put(st, j.ord)
	}
	w.feed(st)
	if st.next != nil {
		w.feed(st.next)
	}
}

// put hands a finished part over; the worker stays with it while window or queue have no room.
func (w *world) put(st *station, ord int64) {
	p := st.part(ord)
	p.done, p.at = true, w.now
	if !st.s.Ordered {
		st.waiting = append(st.waiting, ord)
		p.held = true
	} else if p.held = ord == st.out || ord >= st.out+int64(st.s.window()); !p.held {
		st.free++
	}
	w.release(st)
}

// release moves finished parts into the queue as far as it has room.
func (w *world) release(st *station) {
	if !st.s.Ordered {
		for len(st.waiting) > 0 && w.flush(st, st.waiting[0]) {
			st.waiting = st.waiting[1:]
		}
		return
	}
	for w.flush(st, st.out) {
		st.out++
		if p := st.part(st.out + int64(st.s.window()) - 1); p.done && p.held && st.s.window() > 1 {
			w.let(st, p) // the window has come to it
		}
	}
}

// flush moves one part into the queue; it says whether it is all there.
func (w *world) flush(st *station, ord int64) bool {
	p := st.part(ord)
	if !p.done {
		return false
	}
	for ; p.left > 0; p.left-- {
		if st.count >= st.s.room() {
			return false
		}
		st.push(p.mark, w.now)
	}
	if p.held {
		w.let(st, p)
	}
	*p = part{}
	return true
}

// let gives a part's worker free.
func (w *world) let(st *station, p *part) {
	p.held = false
	st.free++
	st.held += w.now - p.at
}

// feed gives a station's free workers what there is to do.
func (w *world) feed(st *station) {
	for st.free > 0 {
		switch {
		case len(st.ins) == 0:
			if st.left == 0 {
				return
			}
			st.left--
			w.begin(st, st.taken, mark{epoch: int32(st.taken / st.each)})
			st.taken++
		case st.s.Group > 0:
			if !w.assign(st) {
				return
			}
		default:
			in := st.input()
			if in == nil {
				return
			}
			m := w.take(in)
			if st.given != nil { // the epochs of its inputs say nothing about its own
				m.epoch = 0
			}
			if st.next == nil {
				w.arrived(st, m)
			}
			w.begin(st, st.taken, m)
			st.taken++
		}
	}
}

// input is the station that the next item is taken from; nil: wait. A merge takes one of each in turn,
// within each epoch.
func (st *station) input() *station {
	if st.given != nil {
		i := st.due()
		if i < 0 {
			return nil
		}
		st.given[i]++
		return st.ins[i]
	}
	if len(st.ins) == 1 {
		if st.ins[0].count == 0 {
			return nil
		}
		return st.ins[0]
	}
	for passed := 0; passed < 2*len(st.ins); passed++ {
		in := st.ins[st.turn]
		if in.count == 0 && !in.over() {
			return nil
		}
		st.turn = (st.turn + 1) % len(st.ins)
		if in.count > 0 && in.ring[in.head].epoch <= st.openEpoch {
			return in
		}
		if passed+1 == len(st.ins) { // all have come to the end of the epoch
			st.openEpoch, st.turn = st.nextEpoch(), 0
		}
	}
	return nil
}

// nextEpoch is the first epoch that an input of a merge has something of.
func (st *station) nextEpoch() int32 {
	next := int32(math.MaxInt32)
	for _, in := range st.ins {
		if in.count > 0 {
			next = min(next, in.ring[in.head].epoch)
		}
	}
	return next
}

// take takes an item, which makes room for others.
func (w *world) take(in *station) mark {
	m := in.pop(w.now)
	w.release(in)
	w.feed(in)
	return m
}

// arrived notes the sink's wait for an item.
func (w *world) arrived(st *station, m mark) {
	d := w.now - st.asked[0]
	st.asked = st.asked[1:]
	w.waits = append(w.waits, d)
	switch {
	case len(w.waits) == 1: // the start
	case m.epoch != w.epoch: // the edge of an epoch
	default:
		w.wait += d
	}
	w.epoch = m.epoch
}

// delivered ends the use of an item.
func (w *world) delivered(st *station, j job) {
	st.free++
	st.asked = append(st.asked, w.now)
	w.account.end(j.mark.hold)
	if w.last = w.now; st.items == int64(len(st.jobs)) {
		w.warm = w.now
	}
	if st.items > 1 {
		w.busy += w.now - j.began
		w.steady++
	}
	if j.mark.slab > 0 {
		g := w.stations[j.mark.slab-1]
		g.used--
		w.feed(g)
	}
}

func (w *world) outcome() Outcome {
	o := Outcome{Seconds: w.now, Items: w.sink.items, Events: w.events}
	if took := w.wait + w.busy; took > 0 {
		o.Rate = float64(w.steady) / took * w.p.Samples
		o.WaitRatio = w.wait / took
	}
	if n := int64(len(w.sink.jobs)); n > 1 && w.last > w.warm && o.Items > n { // what some wait for at the end never comes
		o.Rate = float64(o.Items-n) / (w.last - w.warm) * w.p.Samples
	}
	if n := len(w.waits); n > 0 {
		sum := 0.0
		for _, x := range w.waits {
			sum += x
		}
		slices.Sort(w.waits)
		at := func(q int) float64 { return w.waits[(n*q+99)/100-1] }
		o.Waits = Waits{sum / float64(n), at(50), at(95), at(99), w.waits[n-1]}
	}
	if w.now == 0 {
		return o
	}
	o.Cores = w.cpu / w.now
	for _, st := range w.stations {
		st.account(w.now)
		all := w.now * float64(len(st.jobs))
		x := StageOutcome{ID: st.s.ID, Busy: st.busy / all, WaitOut: st.held / all, Queue: st.queued / w.now}
		x.WaitIn = max(0, 1-x.Busy-x.WaitOut)
		o.Stages = append(o.Stages, x)
	}
	return o
}
