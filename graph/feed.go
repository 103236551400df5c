package graph

import (
	"math"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/shard"
)

// feed gives out the places of a map-style source: epoch after epoch, in the sampler's order, and of them those that are
// the rank's.
type feed struct {
	source  uint16
	places  Places
	epochs  int
	workers func() int
	world   shard.World
	uneven  shard.Uneven
	quota   *quota // nil: the epoch's length decides
	left    func(n int64)
	endless bool // an epoch goes on, pass after pass, until it is over
	marks   bool // the ends of passes are marked
	water   *lowWater
	over    atomic.Int64 // epochs before this one are over

	resumed int64 // the epoch in which the run goes on after another; -1: none
	base    int64 // places of it that the job took in another world
	from    int64 // and of the rank's places after them

	epoch   int64
	number  int64       // of the rank's next place in the epoch, after base
	stopped atomic.Bool // also by Stop, in a run without goroutines

	again func(places int64) error // nil: another pass does not follow in the same epoch
	err   error
}

// feedOf makes the feed of a source that is open.
func (b *builder) feedOf(s *stageRun, number int, me sourceRun, places Places) (*feed, error) {
	at, err := b.sourceAt(s, number, me)
	if err != nil {
		return nil, err
	}
	f := &feed{
		source: uint16(number), places: places, epochs: b.p.epochs, workers: s.hands,
		world: b.p.world, uneven: b.p.unevenBy(), resumed: -1, water: b.run.water, left: func(n int64) { s.m.Dropped.Add(n) },
	}
	if at != nil {
		f.resumed, f.base = b.resume.Epoch, at.Base
		if int64(b.resume.World) != b.p.world.Size() {
			f.base = at.Place
		}
		f.from = f.world.Number(at.Place - f.base)
		f.epoch, f.number = f.resumed, f.from
	}
	s.steps = func(q quota) { f.quota = &q }
	s.passes = func(marks bool) { f.endless, f.marks = true, marks }
	src := &b.run.sources[number]
	src.after, src.base, src.finish, src.finished = f.after, f.baseOf, f.finish, f.finished
	return f, nil
}

// next is the hook of the source's input edge, called under its lock.
func (f *feed) next(buf []edge.Cell[struct{}], k int) ([]edge.Cell[struct{}], bool) {
	left := int64(0)
	for !f.stopped.Load() {
		if f.epochs != Forever && f.epoch >= int64(f.epochs) {
			f.stopped.Store(true)
			break
		}
		if left = f.ahead(); left > 0 {
			break
		}
		f.leave()
		f.epoch, f.number = f.epoch+1, 0
	}
	if f.stopped.Load() {
		return buf, true
	}
	n := min(int64(k), max(1, left/int64(f.workers())), left)
	all, step := f.places.Len(f.epoch), f.world.Size()
	t := edge.Tag{Place: f.baseOf(f.epoch) + f.world.Place(f.number), Epoch: int32(f.epoch), Source: f.source}
	f.number += n
	for ; n > 0; n, t.Place = n-1, t.Place+step {
		if t.Flags, t.Ext = 0, nil; t.Place >= all && f.again == nil {
			t.Flags = edge.Padding
		}
		buf = append(buf, edge.Cell[struct{}]{Tag: t})
		if f.marks && t.Place/all != (t.Place+step)/all {
			t.Flags, t.Ext = edge.Skipped|edge.PassEnd, edge.NewExt()
			buf = append(buf, edge.Cell[struct{}]{Tag: t})
		}
	}
	if f.water != nil {
		f.water.cameAll(int32(step), buf)
	}
	return buf, false
}

func (f *feed) baseOf(epoch int64) int64 {
	if epoch == f.resumed {
		return f.base
	}
	return 0
}

// count is the number of the rank's places in an epoch, after those that the job took in another world.
func (f *feed) count(epoch int64) int64 {
	n := f.places.Len(epoch)
	switch {
	case n == 0:
		return 0
	case f.endless && epoch < f.over.Load():
		return 0
	case f.endless:
		return math.MaxInt64
	case f.quota == nil:
		return f.world.Count(max(0, n-f.baseOf(epoch)), f.uneven)
	case epoch == f.resumed:
		return f.from + f.quota.first
	}
	return f.quota.each
}

// leave counts the rank's own places that are left out at the end of an epoch.
func (f *feed) leave() {
	own := f.world.Number(max(0, f.places.Len(f.epoch)-f.baseOf(f.epoch)))
	if own > f.number && f.left != nil && !f.endless {
		f.left(own - f.number)
	}
}

// finish ends the epochs up to one, where they have no end of their own.
func (f *feed) finish(epoch int64) { endUpTo(&f.over, epoch) }

// endUpTo raises the number of the first epoch that is not over.
func endUpTo(over *atomic.Int64, epoch int64) {
	for o := over.Load(); o <= epoch && !over.CompareAndSwap(o, epoch+1); o = over.Load() {
	}
}

// finished counts the rank's own places that come after the last one that was delivered, -1 for none.
func (f *feed) finished(epoch, last int64) {
	base := f.baseOf(epoch)
	f.left(max(0, f.world.Number(max(0, f.places.Len(epoch)-base))-f.world.Number(max(0, last+1-base))))
}

// after is the first place of the job that comes after the rank's place in an epoch, where every rank has come as far:
// rows is how many places a step takes, 0 where that is not known.
func (f *feed) after(epoch, place, rows int64) int64 {
	base, all := f.baseOf(epoch), f.places.Len(epoch)
	number := f.world.Number(place + 1 - base)
	if f.quota == nil && f.uneven != shard.Keep && number >= f.count(epoch) {
		return max(all, base+number*f.world.Size()) // all ranks have come to the epoch's end
	}
	if rows > 0 {
		number = (number + rows - 1) / rows * rows // a short step is the last one
	}
	return base + number*f.world.Size()
}

// around lets places beyond the last one stand for the first ones again.
type around struct{ Places }

func (a around) Index(epoch, place int64) int64 {
	if n := a.Len(epoch); place >= n && n > 0 {
		place %= n
	}
	return a.Places.Index(epoch, place)
}
