package graph

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph/internal/host"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// MemoryEstimate is what a run will hold at most, worked out once: when the first deliveries have shown how large items
// are and which stage is the slowest. Queues before that stage are taken to be full, those behind it to be as empty as a
// stage that keeps up leaves them. Total is the sum of the parts, Full the same sum with every queue full, as they are
// when the consumer makes a long pause.
type MemoryEstimate struct {
	At       time.Duration // since Start
	Parts    []MemoryPart  // in order of declaration
	InFlight int64         // samples, as the budget counts them, and within it
	Slabs    int64         // memory of batches
	Caches   int64
	Full     int64
	Resident int64  // of the process: what it had at the start, and what all of this really takes; 0 is unknown
	Slowest  string // the stage
}

// Total is all that is held.
func (e *MemoryEstimate) Total() int64 { return e.InFlight + e.Slabs + e.Caches }

// Kinds of parts.
const (
	PartEdge  = "edge"  // items that a stage made and the next has not finished with
	PartHold  = "hold"  // items that a stage holds while it waits for more
	PartLists = "lists" // groups that keep their items
	PartSlabs = "slabs" // batches
	PartCache = "cache"
)

// MemoryPart is what one stage and the queue behind it hold. Each is what is set aside for an item: what it takes at the
// largest on its way. Size is what it takes there. Both are 0 for items that lie in a slab, or on a device.
type MemoryPart struct {
	Stage, Part string
	Items, Full int64 // at most; and with every queue full
	Each, Size  int64
}

// Bytes is what the items of the part are counted as.
func (p MemoryPart) Bytes() int64 { return p.Items * p.Each }

// EstimateMemory has each run estimate what it will hold, after its first deliveries. tell, if not nil, is told it once,
// from the goroutine of the consumer; the report sets it beside what was held. What the container has no room for is a
// warning. It costs nothing afterwards.
func EstimateMemory(tell func(MemoryEstimate)) PipelineOption {
	return func(p *Pipeline) { p.estimate = func(r *Run) { r.makeEstimate(tell) } }
}

// When the estimate is made: after so many deliveries of batches, or of samples, and not before slices have got their
// length.
const (
	estimateBatches = 4
	estimateSamples = 256
	estimateAfter   = 200 * time.Millisecond
)

// admitted counts what a source let in.
type admitted struct {
	items, stored, needs atomic.Int64
	sizes                meter.Histogram // what was set aside for the first item of each slice
	grow                 bool
	ratio                *atomic.Uint64
}

func (a *admitted) add(items, stored, needs, first int64) {
	if items > 0 {
		a.sizes.Add(first, 1)
		a.items.Add(items)
		a.stored.Add(stored)
		a.needs.Add(needs)
	}
}

func (a *admitted) read() *Admitted {
	x := &Admitted{Items: a.items.Load(), Bytes: a.needs.Load()}
	for _, b := range a.sizes.Read().Buckets {
		x.Sizes = append(x.Sizes, SizeRange{b.Upto, b.Count})
	}
	return x
}

// each is what is set aside for one item of the source.
func (a *admitted) each() float64 {
	n := float64(max(1, a.items.Load()))
	each := float64(a.needs.Load()) / n
	if a.grow { // the ratio only rises
		each = max(each, float64(a.stored.Load())/n*math.Float64frombits(a.ratio.Load()))
	}
	return each
}

// estimates is when a run makes its estimate.
func (r *Run) estimates() {
	if r.p.estimate == nil || r.p.sync || r.p.noTime {
		return
	}
	r.rss, _ = host.RSS()
	r.estimateAt = estimateSamples
	for _, s := range r.stages {
		if s.isGroup {
			r.estimateAt = estimateBatches
		}
	}
}

// makeEstimate makes it and keeps it. What the container does not have room for is told.
func (r *Run) makeEstimate(tell func(MemoryEstimate)) {
	switch now := time.Duration(r.clock.Now()); {
	case !r.bytes.known.Load():
		return
	case now < estimateAfter:
		r.estimateAt++
		return
	}
	e := newEstimator(r).make()
	e.At = time.Duration(r.clock.Now())
	r.estimate.Store(e)
	if limit := r.containerLimit(); limit > 0 && e.Total() > limit {
		r.warn("the run will hold about " + SizeText(e.Total()) + " (" + e.largest() + "), and the container's limit is " + SizeText(limit) +
			"; lower budget.memory, the limit of a cache or the size of batches, or give the container more")
	}
	if tell != nil {
		tell(*e)
	}
}

func (r *Run) containerLimit() int64 {
	if use := r.p.owner().memoryUse; use != nil {
		_, n := use()
		return n
	}
	n, _ := host.MemoryLimit()
	return n
}

// largest names the largest sum.
func (e *MemoryEstimate) largest() string {
	switch most := max(e.InFlight, e.Slabs, e.Caches); most {
	case e.Caches:
		return SizeText(most) + " of it in caches"
	case e.Slabs:
		return SizeText(most) + " of it in batches"
	default:
		return SizeText(most) + " of it in samples on their way"
	}
}
