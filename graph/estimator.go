package graph

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

// station is one stage in the estimate; those that were fused into another are part of that.
type station struct {
	st        *stageRun
	x         StageStats
	e         edge.Stats
	to        *station // nil: the sink
	from      []*station
	out       float64 // outputs of an input
	visits    float64 // inputs of an item of the sink
	demand    float64 // seconds of its workers for one
	each      float64 // set aside for an output
	full, now int64   // outputs between it and the end of the next stage's work
	hold      int64
	groups    int64 // outputs of a group
	all       int64 // the same with every queue full
}

type estimator struct {
	r    *Run
	all  []*station
	sink *station
	slow *station
}

func newEstimator(r *Run) *estimator {
	t := &estimator{r: r}
	of := make([]*station, len(r.stages))
	for i, st := range r.stages {
		if st.group != nil {
			of[i] = of[st.group.members[0].no]
			continue
		}
		x := &station{st: st}
		if st.behind != nil {
			x.e = st.behind()
		}
		x.x = r.stageStats(st, x.e)
		for _, in := range st.n.ins {
			x.from = append(x.from, of[in.no])
			of[in.no].to = x
		}
		of[i] = x
		t.all = append(t.all, x)
	}
	t.sink = t.all[len(t.all)-1]
	return t
}

func (t *estimator) make() *MemoryEstimate {
	t.flow()
	t.slow = t.slowest()
	t.sizes()
	t.fill()
	return t.sum()
}

// flow follows the ratios of in to out from the sink upwards.
func (t *estimator) flow() {
	cores := float64(t.r.p.cores())
	for i := len(t.all) - 1; i >= 0; i-- {
		s := t.all[i]
		in, made := s.st.m.In.Load(), s.e.In-s.e.Marks
		switch s.out = 1; {
		case s.st.isGroup:
			s.out = 1 / float64(max(1, s.st.size))
		case s.to != nil && len(s.from) > 0 && in > 0 && made > 0:
			if s.out = float64(made) / float64(in); math.Abs(s.out-1) < 0.1 && s.st.maps {
				s.out = 1 // the rest is under way
			}
		}
		if s.to == nil {
			s.visits = 1
		} else {
			s.visits = s.to.visits * s.share() / s.out
		}
		hands := float64(max(1, s.x.Workers))
		if s.x.Load == CPU && s.to != nil {
			hands = min(hands, cores)
		}
		s.demand = s.visits * s.x.Service.Mean.Seconds() / hands
	}
}

// share is the part of the next stage's inputs that come from s.
func (s *station) share() float64 {
	sum := 0.0
	for _, x := range s.to.from {
		sum += float64(x.e.Out)
	}
	if sum == 0 {
		return 1 / float64(len(s.to.from))
	}
	return float64(s.e.Out) / sum
}

// slowest is the last stage that takes as long as the slowest, or nearly so: what comes before it waits for it.
func (t *estimator) slowest() (at *station) {
	most := 0.0
	for _, s := range t.all {
		most = max(most, s.demand)
	}
	for _, s := range t.all {
		if s.demand >= 0.9*most {
			at = s
		}
	}
	return at
}

// sizes finds what is set aside for an item on each edge.
func (t *estimator) sizes() {
	for _, s := range t.all {
		switch {
		case s.st.admitted != nil && len(s.from) == 0:
			s.each = s.st.admitted.each()
		case len(s.from) == 0:
		case s.st.isGroup && !s.st.lists: // they lie in slabs
		default:
			for _, in := range s.from {
				s.each += in.each * in.share()
			}
			if s.st.isGroup {
				s.each *= float64(s.st.size)
			} else if s.out > 1 { // siblings share what was set aside
				s.each /= s.out
			}
			if a := s.st.admitted; a != nil { // what a cache gives is let in anew
				each := s.size()
				if a.grow {
					each *= math.Float64frombits(a.ratio.Load())
				}
				s.each = max(s.each, each)
			}
		}
	}
}

// fill counts the items on each edge.
func (t *estimator) fill() {
	below := map[*station]bool{}
	for s := t.slow; s != nil; s = s.to {
		below[s] = true
	}
	for _, s := range t.all {
		if s.to == nil {
			continue
		}
		s.full, s.now = s.crowd(true), s.crowd(s.e.Grows)
		if s.to.to == nil || s.to == t.slow {
			s.full, s.now = s.full+s.to.hands(), s.now+s.to.hands()
		}
		if below[s] && !s.st.cache {
			s.now = min(s.now, s.passing(t.slow.demand))
		}
		if h, ok := s.st.n.decl.(interface{ Holds() int64 }); ok {
			if s.hold = h.Holds(); s.st.block > 0 && !below[s] {
				s.hold *= 2 // one block leaves while the next is gathered
			}
		}
	}
	for i := len(t.all) - 1; i >= 0; i-- {
		if s := t.all[i]; s.st.isGroup {
			s.groups = s.outputs(func(x *station) int64 { return x.now }, func(x *station) int64 { return x.groups })
			s.all = s.outputs(func(x *station) int64 { return x.full }, func(x *station) int64 { return x.all })
		}
	}
}

// crowd is how many outputs a stage has finished, or holds because there is no room for them, when the next one takes
// none: then each worker stands with the outputs of its last inputs. An auto buffer is taken to have grown, an auto window
// only if grown says so: it begins with one slice of each worker.
func (s *station) crowd(grown bool) int64 {
	if s.st.cache && s.st.run.p.epochs != 1 {
		return s.hits()
	}
	workers, k := int64(max(1, s.x.Workers)), s.slice()
	o := &s.st.n.opts
	buffer, window := int64(s.e.Most), int64(s.e.Window)
	if o.buffer == 0 && !s.st.slabbed {
		buffer = max(buffer, 4*k)
	}
	if o.window == 0 {
		slices := int64(max(1, s.e.Leeway))
		if !grown {
			window, slices = window/slices, 1
		}
		window = min(max(window, slices*k*workers), edge.MostKept(int(workers)))
	}
	held := k
	if !s.st.isGroup && len(s.from) > 0 {
		held = int64(math.Ceil(float64(k) * s.out))
	}
	n := buffer + workers*held
	if s.x.Order != string(CompletionOrder) && workers > 1 { // the oldest is at the queue, others finish behind it
		n += max(0, window-held)
	}
	return n
}

// slice is how many items a worker takes at once, when it is at work for long.
func (s *station) slice() int64 {
	if s.st.isGroup || s.x.Timeout > 0 || traitsOf(s.st.n.decl).Serial {
		return 1
	}
	k := int64(edge.LongestSlice(max(1, s.x.Workers)))
	if each := int64(s.x.Service.P50); each > 0 {
		k = min(k, engine.Target/each)
	}
	o := &s.st.n.opts
	if o.buffer > 0 || s.st.slabbed {
		k = min(k, int64(s.e.Buffer)/2)
	}
	if o.window > 0 && s.x.Order != string(CompletionOrder) && s.x.Workers > 1 {
		k = min(k, int64(o.window)/int64(2*s.x.Workers))
	}
	return max(1, k, int64(s.e.Slice))
}

// hits is how many outputs a cache has ready in epochs that it has the items of: it takes no time to find them, so slices
// are as long as they may be.
func (s *station) hits() int64 {
	o, p := &s.st.n.opts, s.st.run.p
	top := s
	for len(top.from) > 0 {
		top = top.from[0]
	}
	b := top.st
	hands := b.hands() + 1 // of the source, and the cache
	k := int64(max(1, edge.LongestSlice(hands)))
	buffer, window := int64(o.buffer), int64(o.window)
	if buffer == 0 {
		buffer = 4 * k
	}
	if window == 0 {
		window = min(int64(edge.Leeway(hands))*k*int64(hands), edge.MostKept(hands))
	}
	n := buffer + window
	if p.epochs != Forever {
		n = int64(min(float64(n), float64(p.epochs-1)*float64(b.feeds.len))) // the product may be beyond an int64
	}
	return n
}

// hands is how many inputs a stage works on at once.
func (s *station) hands() int64 {
	switch {
	case s.to == nil:
		return 1
	case s.st.isGroup: // an input is let go as soon as it is copied
		return 0
	}
	return int64(max(1, s.x.Workers)) * s.slice()
}

// heldUp is for how long a worker has no core now and then, be it for others' sake: what comes meanwhile has to wait.
const heldUp = 0.02

// passing is how many outputs there are of a stage behind the slowest: those that the next works on, those that come
// while it is held up, and those that wait for an older one, where service times differ. pace is the time for one item of
// the sink.
func (s *station) passing(pace float64) int64 {
	n := int64(1)
	if pace > 0 {
		n += int64(min(1e9, heldUp/pace*s.visits*s.out))
	}
	if next := s.to.hands(); next > 1 && pace > 0 {
		n += min(next, int64(math.Ceil(s.to.demand/pace*float64(next)))) - 1
	}
	if d := s.x.Service; s.x.Workers > 1 && d.P95 > d.P50+d.P50/5 {
		n += int64(s.x.Workers - 1)
	}
	return n
}

// outputs is how many outputs of a group there are: the one that is filled, and what lies below it, up to a stage that
// keeps its output itself.
func (s *station) outputs(on, groups func(*station) int64) int64 {
	n := 1 + on(s)
	for x := s.to; x != nil && x.to != nil; x = x.to {
		if x.st.isGroup {
			n += groups(x) * int64(x.st.size)
			break
		}
		if traitsOf(x.st.n.decl).Releases {
			break
		}
		n += on(x)
	}
	return min(n, int64(s.st.slabs()))
}

// sum adds all up.
func (t *estimator) sum() *MemoryEstimate {
	e := &MemoryEstimate{Slowest: t.slow.st.n.id}
	var full, resident float64
	add := func(s *station, part string, now, all int64, each, size float64) {
		e.Parts = append(e.Parts, MemoryPart{Stage: s.st.n.id, Part: part, Items: now, Full: all, Each: int64(each), Size: int64(size)})
		resident += float64(now) * size
		if part == PartSlabs {
			e.Slabs += now * int64(each)
			full += float64(all) * each
		}
	}
	inFlight, inFull := 0.0, 0.0
	grouped := map[*station]bool{}
	for _, s := range t.all {
		if s.to == nil {
			continue
		}
		size := s.size()
		if s.st.cache {
			size = 0 // it is the cache's memory
		}
		for _, in := range s.from {
			grouped[s] = grouped[s] || in.st.isGroup || grouped[in]
		}
		switch {
		case s.st.isGroup && !s.st.lists:
			each := float64(s.st.slab.Load())
			add(s, PartSlabs, s.groups, s.all, each, each)
			continue
		case s.st.isGroup:
			add(s, PartLists, s.groups, s.all, s.each, size)
			inFlight, inFull = inFlight+float64(s.groups)*s.each, inFull+float64(s.all)*s.each
			continue
		case grouped[s]: // counted with the group
			continue
		}
		add(s, PartEdge, s.now, s.full, s.each, size)
		inFlight, inFull = inFlight+float64(s.now)*s.each, inFull+float64(s.full)*s.each
		if s.hold > 0 {
			add(s, PartHold, s.hold, s.hold, s.each, size)
			inFlight, inFull = inFlight+float64(s.hold)*s.each, inFull+float64(s.hold)*s.each
		}
	}
	limit := math.Inf(1)
	if n := t.r.bytes.admit.Limit(); n > 0 {
		limit = float64(n)
	}
	e.InFlight = int64(min(inFlight, limit))
	t.caches(e)
	e.Full = int64(min(inFull, limit)+full) + e.Caches
	if t.r.rss > 0 {
		e.Resident = t.r.collected(int64(min(resident, limit+float64(e.Slabs))) + e.Caches)
	}
	return e
}

// collected is what the process will take that holds so much. The garbage collector lets the heap grow to
// (1 + GOGC / 100) times what is used before it begins, unless that is above its limit. With little garbage it takes long
// to come there.
func (r *Run) collected(held int64) int64 {
	percent := int64(100)
	if word := os.Getenv("GOGC"); word == "off" {
		percent = 1 << 20
	} else if n, err := strconv.ParseInt(word, 10, 32); err == nil && n >= 0 {
		percent = n
	}
	all := r.rss + held
	grown := float64(all) + float64(held)*float64(percent)/100
	return int64(max(float64(all), min(grown, float64(debug.SetMemoryLimit(-1)))))
}

// size is what an output takes, as far as it tells.
func (s *station) size() float64 {
	if made := s.e.In - s.e.Marks; s.x.BytesOut != nil && made > 0 {
		return float64(*s.x.BytesOut) / float64(max(made, s.st.m.Done.Load()))
	}
	return 0
}

// caches adds what caches will keep: the whole set, as far as the limit has room for it.
func (t *estimator) caches(e *MemoryEstimate) {
	for _, c := range t.r.caches {
		x := c.read()
		will := x.Bytes
		if x.BestHitShare != nil {
			will = x.Limit
			if set := c.set(); set > 0 {
				will = min(will, set)
			}
		}
		e.Caches += will
		e.Parts = append(e.Parts, MemoryPart{Stage: c.id, Part: PartCache, Items: 1, Full: 1, Each: will, Size: will})
	}
}
