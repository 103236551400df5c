package graph

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/item"
)

func (o *typedOutlet[T]) firstEpoch() int64 {
	if o.p.resume == nil {
		return 0
	}
	return o.p.resume.Epoch
}

// outletStats are the numbers of the taking end.
type outletStats struct {
	phases                          [3]engine.PhaseTimes
	first                           int64
	waits                           meter.Summary
	samples, batches, bytes, padded int64
	epochs                          []EpochStats
	digest                          *string
}

// typedOutlet takes items, keeps the digest and the numbers of epochs, and gives items back after use.
type typedOutlet[T any] struct {
	p     *Pipeline
	r     *Run
	s     *stageRun
	sink  *engine.Sink[T]
	h     hooks[T]
	waits meter.Histogram

	held   *edge.Cell[T]
	ahead  bool // held has not been handed out yet
	over   bool
	told   bool
	failed error

	mu     sync.Mutex
	stats  outletStats
	epoch  *EpochStats
	began  int64
	waited int64 // by the sink, up to the epoch's start
	chain  item.Chain
	all    item.Chain
	hashed bool
	opaque bool // some item had no hash

	mark           marker
	forgets        bool              // some source is an iterable, which keeps what has not been delivered
	chainAt, allAt item.Chain        // as of the mark
	isOut          bool              // held was handed out
	atReturn       bool              // an item counts as delivered when the consumer is done with it, not when it gets it
	carried        bool              // chain is of the run before, in the epoch of its state
	mixed          bool              // the run before has no digest that goes on here
	until          func(epoch int64) // nil: the sources know how far they go
	at             stepAt
	handed         int64 // items that the consumer is done with
	resident       resident
}

func newOutlet[T any](b *builder, s *stageRun) *typedOutlet[T] {
	o := &typedOutlet[T]{p: b.p, r: b.run, s: s, h: hooksOf[T](b.index)}
	in := b.edges[s.n.ins[0].no].(*edge.Edge[T])
	o.sink = &engine.Sink[T]{Meter: s.m, In: in, Waits: &o.waits, Warmup: b.p.warmup}
	if b.p.sync {
		o.sink.From = b.pulls[s.n.ins[0].no].(engine.Pull[T])
	}
	if len(b.groups) > 0 {
		o.sink.Held = func(t *meter.Trail) {
			for _, f := range b.groups {
				f(t)
			}
		}
	}
	b.run.outlet = o
	o.continued(b.resume)
	b.late(func() {
		meters := make([]*meter.Stage, len(b.stages))
		for i, s := range b.stages {
			meters[i] = s.m
		}
		b.run.blamer = meter.NewBlamer(meters, s.m)
		o.sink.Blamer = b.run.blamer
	})
	return o
}

func (o *typedOutlet[T]) start(r *engine.Run) { o.sink.Start(r) }

// next hands the next item out and takes the one before back; nil at the end.
func (o *typedOutlet[T]) next() *edge.Cell[T] {
	c := o.peek()
	if c != nil {
		o.handOut(c)
	}
	return c
}

func (o *typedOutlet[T]) handOut(c *edge.Cell[T]) {
	o.ahead, o.isOut = false, true
	if !o.atReturn {
		o.received(c)
	}
}

// fetch takes the next item from the stream.
func (o *typedOutlet[T]) fetch() *edge.Cell[T] {
	o.giveBack()
	if o.p.limit > 0 && o.handed >= o.p.limit && !o.over {
		o.broken()
	}
	for !o.over {
		c := o.sink.Next()
		if c == nil {
			o.end(nil)
			break
		}
		if c.Skipped() {
			o.r.water.done(&c.Tag)
			c.End()
			continue
		}
		if o.until != nil && o.surplus(int64(c.Epoch)) {
			o.h.drop(c)
			continue
		}
		o.note(c)
		o.held = c
		return c
	}
	return nil
}

// peek gives the next item without handing it out.
func (o *typedOutlet[T]) peek() *edge.Cell[T] {
	if o.ahead {
		return o.held
	}
	c := o.fetch()
	o.ahead = c != nil
	return c
}

// reach drops items until one of the epoch comes. False: the stream has ended.
func (o *typedOutlet[T]) reach(epoch int64) bool {
	for c := o.peek(); c != nil; c = o.peek() {
		if int64(c.Epoch) >= epoch {
			return true
		}
		o.s.m.Dropped.Add(1)
		o.ahead = false
	}
	return o.p.epochs != Forever && epoch < int64(o.p.epochs) && o.failed == nil && !o.r.eng.Over()
}

// giveBack ends the use of the item that was handed out last.
func (o *typedOutlet[T]) giveBack() {
	c := o.held
	if c == nil {
		return
	}
	o.held = nil
	if o.isOut {
		o.isOut = false
		if o.atReturn {
			o.received(c)
		}
		if o.handed++; o.p.onDelivery != nil {
			o.p.onDelivery(o.handed)
		}
		if o.handed == o.r.estimateAt {
			o.p.estimate(o.r)
		}
	}
	if o.h.kept != nil && o.h.kept(c.V) {
		o.keep(c)
	}
	o.h.drop(c)
}

// keep sees to it that a group may make one more in place of an item that stays with the consumer, until that releases
// it too. The engine still has its own hold.
func (o *typedOutlet[T]) keep(c *edge.Cell[T]) {
	for _, f := range o.r.keeps {
		f(1)
	}
	if k, ok := any(c.V).(interface{ AfterRelease(func()) }); ok {
		k.AfterRelease(func() {
			for _, f := range o.r.keeps {
				f(-1)
			}
		})
	}
}

// end ends the stream for the consumer: with err, or with what the stream itself ended with.
func (o *typedOutlet[T]) end(err error) {
	if o.over {
		return
	}
	o.over = true
	if err == nil {
		if err = o.sink.Err; err == nil {
			err = o.sink.In.Err()
		}
		if o.r.eng.Over() || o.r.eng.Cancelled() != nil {
			err = o.r.eng.Cancelled()
		}
	}
	o.failed = err
	o.r.eng.End(err)
	o.mu.Lock()
	o.closeEpoch(o.r.clock.Now(), false)
	o.mu.Unlock()
}

// fail ends the run with an error of the sink itself.
func (o *typedOutlet[T]) fail(err error) {
	o.isOut = false // it was not delivered: a run that is resumed gets it again
	o.giveBack()
	o.sink.Abandon()
	o.end(err)
}

// broken ends the run because the consumer wants no more.
func (o *typedOutlet[T]) broken() {
	o.giveBack()
	o.ahead = false
	o.sink.Abandon()
	o.over = true
	o.r.eng.End(nil)
	o.mu.Lock()
	o.closeEpoch(o.r.clock.Now(), false)
	o.mu.Unlock()
}

// yieldError tells the consumer once what the run ended with.
func (o *typedOutlet[T]) yieldError(yield func(T, error) bool) {
	if o.failed == nil || o.told {
		return
	}
	o.told = true
	_ = o.r.Wait()
	var none T
	yield(none, o.failed)
}

// finish drops what the consumer left: all goroutines have ended.
func (o *typedOutlet[T]) finish() {
	o.giveBack()
	o.sink.Abandon()
	o.sink.In.Abort()
}

// waiting says that the consumer waits for an item.
func (o *typedOutlet[T]) waiting() bool { return o.sink.Waiting() }
