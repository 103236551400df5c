package graph

import (
	"fmt"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/host"
	"github.com/penstock-go/penstock/graph/item"
)

// note counts an item and chains its hash.
func (o *typedOutlet[T]) note(c *edge.Cell[T]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.epoch == nil || o.epoch.Epoch != int64(c.Epoch) {
		o.turn(int64(c.Epoch))
	}
	s, e := &o.stats, o.epoch
	if o.h.bytes != nil {
		s.bytes += o.h.bytes(c.V)
	}
	if b, ok := any(c.V).(*item.Batch); ok {
		s.batches++
		e.Batches++
		for i := range b.Rows {
			row := &b.Rows[i]
			switch {
			case row.StandIn:
			case row.Padding:
				s.padded++
				o.hashed = o.hashed || row.Hash != 0 // an epoch may be made of padding alone
			default:
				s.samples++
				e.Samples++
				o.hash(row.Hash)
			}
		}
		return
	}
	n := int64(1)
	switch {
	case c.Ext != nil && c.Ext.Count > 0:
		n = int64(c.Ext.Count - c.Ext.Padded)
		s.padded += int64(c.Ext.Padded)
		s.batches++
		e.Batches++
	case c.Flags&edge.Padding != 0:
		s.padded++
		o.hashed = o.hashed || c.Ext != nil && c.Ext.Hash != 0
		return
	}
	s.samples += n
	e.Samples += n
	if c.Ext != nil {
		o.hash(c.Ext.Hash)
	} else {
		o.hash(0)
	}
}

func (o *typedOutlet[T]) hash(h uint64) {
	if h == 0 {
		o.opaque = true
		return
	}
	o.hashed = true
	o.chain.Add(h)
}

// turn begins an epoch and closes the one before.
func (o *typedOutlet[T]) turn(epoch int64) {
	if o.carried && epoch != o.p.resume.Epoch {
		o.carry()
	}
	o.carried = false
	now := o.r.clock.Now()
	o.closeEpoch(now, true)
	if o.epoch = (&EpochStats{Epoch: epoch}); len(o.stats.epochs) > 0 {
		o.waited = o.waitedNow() - o.sink.LastWait() // what the first item was waited for is of this epoch
	}
	if len(o.stats.epochs) > 0 {
		gap := time.Duration(o.sink.LastWait())
		o.epoch.EdgeGap = &gap
	}
	o.began = now
}

// carry closes the epoch that a resumed run was in and that had nothing left.
func (o *typedOutlet[T]) carry() {
	o.all.Add(o.chain.Sum())
	o.chain, o.carried = item.Chain{}, false
}

// waitedNow is what the sink has waited for items up to now.
func (o *typedOutlet[T]) waitedNow() (sum int64) {
	phases, _ := o.sink.Read()
	for _, p := range phases {
		sum += p.Wait
	}
	return sum
}

// closeEpoch ends the numbers of an epoch; edge says that the first item of the next one has come.
func (o *typedOutlet[T]) closeEpoch(now int64, edge bool) {
	e := o.epoch
	if e == nil {
		if o.carried && o.over {
			o.carry()
		}
		return
	}
	o.epoch = nil
	e.Elapsed = time.Duration(now - o.began)
	e.ItemsIn = map[string]int64{}
	for _, s := range o.r.stages {
		e.ItemsIn[s.n.id] = s.m.TakeEntered(e.Epoch)
	}
	e.Wait = time.Duration(o.waitedNow() - o.waited)
	if edge {
		e.Wait -= time.Duration(o.sink.LastWait())
	}
	for _, c := range o.r.caches {
		e.Caches = append(e.Caches, c.epoch(e.Epoch, true))
	}
	if o.digests() && !(o.mixed && e.Epoch == o.p.resume.Epoch) {
		d := o.chain.String()
		e.Digest = &d
		o.all.Add(o.chain.Sum())
	}
	o.chain = item.Chain{}
	e.PeakRSS = o.resident.at(now)
	e.Goroutines = runtime.NumGoroutine()
	e.InFlight = o.r.bytes.admit.Inside()
	o.stats.epochs = append(o.stats.epochs, *e)
}

func (o *typedOutlet[T]) digests() bool { return o.hashed && !o.opaque && o.ordered() }

func (o *typedOutlet[T]) ordered() bool { return o.p.inAnyOrder() == nil }

func (o *typedOutlet[T]) read() outletStats {
	phases, first := o.sink.Read()
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stats
	s.phases, s.first, s.waits = phases, first, o.waits.Read()
	s.epochs = append([]EpochStats(nil), s.epochs...)
	if o.epoch != nil {
		e := *o.epoch
		e.Elapsed = time.Duration(o.r.clock.Now() - o.began)
		e.Wait = time.Duration(o.waitedNow() - o.waited)
		for _, c := range o.r.caches {
			e.Caches = append(e.Caches, c.epoch(e.Epoch, false))
		}
		s.epochs = append(s.epochs, e)
	}
	switch {
	case o.p.noHash:
	case !o.ordered():
		o.r.warn("no digest: a stage has order: completion")
	case o.opaque:
		o.r.warn(fmt.Sprintf("no digest: items of type %T have no Hash method", *new(T)))
	case o.mixed:
		o.r.warn("no digest: the run that was resumed had none that this one could go on with, for it was of another rank or world, or kept none")
	case o.hashed:
		d := o.all
		if o.epoch != nil {
			d.Add(o.chain.Sum())
		}
		text := d.String()
		s.digest = &text
	}
	return s
}

// resident is the resident memory at the end of epochs. Reading it costs more than a small epoch does, so short epochs
// share a figure.
type resident struct{ bytes, due int64 }

func (r *resident) at(now int64) int64 {
	if now >= r.due {
		r.bytes, _ = host.RSS()
		r.due = now + int64(sampleEvery)
	}
	return r.bytes
}
