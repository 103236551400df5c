package engine

import (
	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Cached is what a source's workers know of the cache below it.
type Cached[A any] interface {
	// Slice is how many places to take where the worker would read k.
	Slice(k int) int
	// Number is the ordinal at the source's output of what the place with this ordinal at its input makes.
	Number(ticket int64) int64
	// Marks says whether a mark follows what a place makes.
	Marks() bool
	// Hits is the worker's way to hand over what the cache has.
	Hits(w *edge.Waiter, m *meter.Worker) Hits[A]
	// Stop says that nothing from this ordinal on is wanted.
	Stop(ticket int64)
	// Left says that the source's last worker has left.
	Left()
}

// Hits hands the items of places over that the cache has.
type Hits[A any] interface {
	// Pass says whether there may be more.
	Pass(sl edge.Slice[A]) bool
}

// hit hands a slice over whose places are all in the cache.
func (w *worker[A, B]) hit(sl edge.Slice[A]) bool {
	w.m.On(int64(sl.Cells[0].Epoch), sl.Cells[0].Place)
	if w.hits.Pass(sl) {
		return true
	}
	w.s.Cached.Stop(sl.Lo)
	w.s.In.Cut()
	w.s.In.Leave(&w.take)
	return false
}

// asMisses numbers a part as the edges between a source and its cache count, where there is one, and marks where the
// items of each place end.
func (w *worker[A, B]) asMisses(p *edge.Part[B]) {
	c := w.s.Cached
	if c == nil {
		return
	}
	p.Lo = c.Number(p.Lo)
	if !c.Marks() || len(p.Cells) == 0 {
		return
	}
	out := w.ends[:0]
	for i := range p.Cells {
		x := &p.Cells[i]
		out = append(out, *x, entryEnd[B](&x.Tag, x.Trail))
	}
	clear(p.Cells)
	w.ends, p.Cells = p.Cells[:0], out
}

// entryEnd is the mark after all that one place made.
func entryEnd[B any](t *edge.Tag, trail *meter.Trail) edge.Cell[B] {
	return edge.Cell[B]{Tag: edge.Tag{Place: t.Place, Epoch: t.Epoch, Source: t.Source, Flags: edge.Skipped | edge.EntryEnd, Trail: trail}}
}
