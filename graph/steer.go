package graph

import (
	"fmt"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
)

// steering is how a mix below a source acts on it.
type steering struct {
	skipTo func(epoch int64)
	pass   func(t *edge.Tag) int64 // how often the source had been gone through in the item's epoch
	bears  atomic.Bool             // a mix has got something of it
}

// steered lets the mixes below a map-style source act on its feed.
func (b *builder) steered(n *node, f *feed, in *edge.Edge[struct{}]) {
	st := &steering{skipTo: func(epoch int64) { in.WithLock(func() { f.skipTo(epoch) }) }, pass: f.pass}
	b.steer = append(b.steer, st)
	mix, between := repeatedBy(n)
	if mix == nil {
		return
	}
	f.again = func(places int64) error {
		if places < between || st.bears.Load() {
			return nil
		}
		return &StageError{Pipeline: b.p.name, Stage: mix.id, Worker: -1, Op: "mix", Err: fmt.Errorf(
			"stop: repeat would never end: %d items of the source %q have been read and nothing of it has come through", places, n.id)}
	}
	in.Source = func(buf []edge.Cell[struct{}], k int) ([]edge.Cell[struct{}], bool) {
		cells, done := f.next(buf, k)
		in.SourceErr = f.err
		return cells, done
	}
}

// ahead is how many places there are until the end of the epoch, or of the pass where another one follows.
func (f *feed) ahead() int64 {
	n := f.count(f.epoch)
	if f.again == nil || n == 0 {
		return n - f.number
	}
	if f.number%n == 0 && f.number > 0 {
		if f.err = f.again(f.number); f.err != nil {
			f.stopped.Store(true)
			return 0
		}
	}
	return n - f.number%n
}

// pass is how often the rank's places had all been given out before an item's.
func (f *feed) pass(t *edge.Tag) int64 {
	epoch := int64(t.Epoch)
	return f.world.Number(t.Place-f.baseOf(epoch)) / max(1, f.count(epoch))
}

// skipTo leaves out what is left before an epoch.
func (f *feed) skipTo(epoch int64) {
	if f.epoch < epoch && !f.stopped.Load() {
		f.leave()
		f.epoch, f.number = epoch, 0
	}
}
