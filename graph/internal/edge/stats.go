package edge

import "github.com/penstock-go/penstock/graph/internal/meter"

// Stats are an edge's numbers; times are in nanoseconds.
type Stats struct {
	In, Out, Marks, Left int64 // Left: items still inside when the edge was dropped
	ItemTime             int64 // items in the ring times the time they were there
	FullTime             int64 // time in which it held something
	Seen                 int64 // until when the two above are counted
	Buffer, Most         int   // items that there is room for now, and may come to be
	Window               int   // items that may be finished ahead, once it has grown
	Grows                bool  // it has begun to
	Queued               int   // items in the ring now
	Slice                int   // length of the last producer's slices
	Leeway               int   // slices of each producer that an auto window may hold
}

// Stats reads the numbers.
func (e *Edge[T]) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Left += int64(e.count)
	s.ItemTime, s.FullTime, s.Seen = e.depth.Items, e.depth.Full, e.depth.Seen
	s.Buffer, s.Window, s.Queued, s.Slice = e.room(), e.farthest(), e.count, e.kp
	s.Most, s.Grows = e.most(), e.window.times > 0
	s.Leeway = Leeway(e.cfg.Producers)
	return s
}

// Depth is that of the ring over time. It is guarded by the edge's lock.
func (e *Edge[T]) Depth() *meter.Depth { return &e.depth }

// account adds the time since the last change to the sums.
func (e *Edge[T]) account(now int64) { e.depth.Account(now, e.count) }

// Note counts an item that went by without the ring, in a run without goroutines.
func (e *Edge[T]) Note(c *Cell[T]) {
	e.mu.Lock()
	e.stats.In++
	e.stats.Out++
	if c.Skipped() {
		e.stats.Marks++
	}
	e.mu.Unlock()
}
