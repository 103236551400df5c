package engine

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Cache is the running form of a stage that keeps what each index of a map-style source made. Its one worker takes what
// the source has read, keeps what there is room for, and hands it on; the workers of the source put what is there already
// on the same output edge, whose order is that of the tickets of [Lookup].
type Cache[T any] struct {
	Lookup
	Meter *meter.Stage
	In    *edge.Edge[T]
	Out   *edge.Edge[T]
	// Keep offers everything that an index made; what is kept is a copy. Find emits new items with the content of what
	// was kept.
	Keep func(index int64, made []T) bool
	Find func(index int64, emit func(T))
	// Whole says whether everything that a place makes is made: not where a run that was resumed leaves some out.
	Whole func(*edge.Tag) bool
	Size  func(T) int64
	Drop  func(*edge.Cell[T])
	// Found, if set, is told of how many items a place gives that the cache has.
	Found func(t *edge.Tag, items int)
	// Finish and Hash are as in Stage.
	Finish, Hash func(*edge.Cell[T])
	// Admit waits until there are bytes for the items of the first places from a ticket on, and says how many places
	// that is; counts[i] is the number of items of place i. 0: the run is over.
	Admit func(w *edge.Waiter, ticket int64, cells []edge.Cell[T], counts []int) (n int, waited bool)
	// StopFrom ends the admission of a ticket and of those after it.
	StopFrom func(ticket int64)

	// Hit counts the items that came out of the cache, Missed those that came by it.
	Hit, Missed atomic.Int64

	first, firstBytes atomic.Int64 // entries made in the first epoch of the run, and their bytes
	live              atomic.Int32
	r                 *Run
	place             []edge.Cell[struct{}] // wanted by a pull
}

// Prepare readies the cache before the source's workers start.
func (c *Cache[T]) Prepare(r *Run) {
	c.r = r
	c.Lookup.start()
	c.live.Store(2) // the cache's worker, and those of the source together
}

// Start starts the worker.
func (c *Cache[T]) Start(r *Run) {
	c.Out.Upstream(c.In.Cut)
	r.OnEnd(c.In.Abort)
	r.OnEnd(c.Out.Abort)
	r.Work(c.Meter, func() {
		w := &keeper[T]{c: c, m: c.Meter.NewWorker(r.Clock.Now()), k: 1}
		w.take.W = edge.NewWaiter()
		r.Watch(c.Meter, w.m)
		for w.slice() {
		}
		w.last()
		w.m.Left()
		c.Left()
	})
}

// Left says that the source's workers have left, or the cache's own: the last of them closes the output.
func (c *Cache[T]) Left() {
	if c.live.Add(-1) == 0 {
		c.Out.Close(c.In.Err())
	}
}

// Stop implements [Cached].
func (c *Cache[T]) Stop(ticket int64) { c.StopFrom(ticket) }

// Made is the number of entries made in the run's first epoch, and their bytes.
func (c *Cache[T]) Made() (entries, bytes int64) { return c.first.Load(), c.firstBytes.Load() }

// keeper is the worker that keeps.
type keeper[T any] struct {
	c    *Cache[T]
	m    *meter.Worker
	take edge.Taker[T]
	out  Out[T]
	part edge.Part[T]
	k    int
	lo   int64 // ordinal of the next input
	made []T
	runs []run // entries that are complete and not handed over
	open int   // where the items of the entry in out.cells begin that is not complete
	bad  bool  // some item of the open entry was skipped
}

// run is a run of entries with tickets one after the other, and where their items end in out.cells.
type run struct {
	ticket, n, epochLo int64
	end                int
	first              edge.Tag
}

// slice takes a slice of what was read. It says whether there may be more.
func (w *keeper[T]) slice() bool {
	c := w.c
	w.m.Doing(meter.WaitIn)
	sl := c.In.Take(&w.take, c.r.Clock, w.k, w.m.Last())
	if sl.Waited {
		w.m.Spent(meter.WaitIn, c.r.Clock.Now())
	}
	if !sl.OK {
		return false
	}
	t0 := w.m.Last()
	w.m.On(int64(sl.Cells[0].Epoch), sl.Cells[0].Place)
	w.m.Doing(meter.Busy)
	n := w.work(sl.Cells, sl.Lo, sl.EpochLo, sl.Waited)
	now := c.r.Clock.Now()
	w.m.Spent(meter.Busy, now)
	w.out.stamp(now)
	w.account(n, now-t0)
	if !w.hand() {
		c.In.Cut()
		c.In.Leave(&w.take)
		return false
	}
	return true
}

// work keeps what came and says how many items that was.
func (w *keeper[T]) work(cells []edge.Cell[T], lo, epochLo int64, fresh bool) (items int64) {
	c, o := w.c, &w.out
	o.begin(c.Meter, lo, epochLo, w.m.Last(), fresh) // what is in its cells is of an entry whose end has not come
	for i := range cells {
		x := &cells[i]
		if x.Flags&edge.EntryEnd != 0 {
			w.complete()
			continue
		}
		if w.bad = w.bad || x.Skipped(); !x.Skipped() {
			items++
		}
		w.add(o.Put(x.V, &x.Tag))
		if !c.Many {
			w.complete()
		}
	}
	clear(cells)
	return items
}

// add readies an item to go on.
func (w *keeper[T]) add(x *edge.Cell[T]) {
	if x.Skipped() {
		return
	}
	if w.c.Finish != nil {
		w.c.Finish(x)
	}
	if w.c.Hash != nil {
		t := w.c.r.Clock.Now()
		w.c.Hash(x)
		w.m.Digested(w.c.r.Clock.Now() - t)
	}
}

// complete ends the entry of the oldest place.
func (w *keeper[T]) complete() {
	c, cells := w.c, w.out.cells[w.open:]
	m, ok := c.next()
	if !ok {
		panic("engine: an entry without a place")
	}
	var kept *known
	if !w.bad && c.Whole(&m.tag) {
		w.gather(&m, cells)
		if m.offered && c.Keep(m.index, w.made) {
			kept = knownOf(cells)
		}
		clear(w.made)
	}
	c.arrived(&m, kept)
	w.open, w.bad = len(w.out.cells), false
	if k := len(w.runs); k > 0 && w.runs[k-1].ticket+w.runs[k-1].n == m.ticket && w.runs[k-1].epochLo == m.epochLo {
		w.runs[k-1].n++
		w.runs[k-1].end = w.open
		return
	}
	w.runs = append(w.runs, run{m.ticket, 1, m.epochLo, w.open, m.tag})
}

// gather lists the items of an entry, and counts them in the first epoch.
func (w *keeper[T]) gather(m *miss, cells []edge.Cell[T]) {
	c := w.c
	w.made = w.made[:0]
	bytes := int64(0)
	for i := range cells {
		w.made = append(w.made, cells[i].V)
		bytes += c.Size(cells[i].V)
	}
	if m.epochLo == 0 {
		c.first.Add(1)
		c.firstBytes.Add(bytes)
	}
}

// knownOf is what is remembered of an entry's items.
func knownOf[T any](cells []edge.Cell[T]) *known {
	k := &known{}
	trait := func(i int) (t trait) {
		if x := cells[i].Ext; x != nil {
			t.hash, t.child = x.Hash, x.Child
		}
		return t
	}
	if len(cells) == 1 {
		k.one = trait(0)
		return k
	}
	for i := range cells {
		k.many = append(k.many, trait(i))
	}
	return k
}

// account counts a slice and sets the length of the next one.
func (w *keeper[T]) account(n, took int64) {
	m := w.c.Meter
	if n == 0 {
		return
	}
	m.In.Add(n)
	m.Done.Add(n)
	for i := range w.out.cells {
		if c := &w.out.cells[i]; !c.Skipped() {
			m.Entered(w.m, int64(c.Epoch), n)
			break
		}
	}
	m.Service.Add(took/n, n)
	if n > 1 && !m.Sliced.Load() {
		m.Sliced.Store(true)
	}
	want := MaxSlice
	if each := took / n; each > 0 {
		want = int(min(int64(MaxSlice), target/each))
	}
	w.k = max(1, min(2*w.k, want, w.c.In.Bound()))
}

// hand puts the entries that are complete on the output edge.
func (w *keeper[T]) hand() bool {
	c, o := w.c, &w.out
	w.m.Doing(meter.WaitOut)
	from, ok := 0, true
	for _, r := range w.runs {
		if ok {
			ok = w.put(&r, o.cells[from:r.end], nil)
		} else {
			w.lose(o.cells[from:r.end])
		}
		from = r.end
	}
	w.runs = w.runs[:0]
	n := copy(o.cells, o.cells[from:])
	clear(o.cells[n:])
	o.cells, w.open = o.cells[:n], w.open-from
	if !ok {
		w.lose(o.cells)
		o.cells = o.cells[:0]
		c.StopFrom(0)
	}
	return ok
}

// put hands entries over, with an error after them.
func (w *keeper[T]) put(r *run, cells []edge.Cell[T], err error) bool {
	c, p := w.c, &w.part
	*p = edge.Part[T]{Lo: r.ticket, N: r.n, EpochLo: r.epochLo, Cells: append(p.Cells[:0], cells...), Err: err, First: r.first}
	if len(cells) == 0 {
		p.Hole = w.out.hole()
	}
	res := c.Out.Put(w.take.W, c.r.Clock, p, w.k, w.m.Last())
	if res.Waited {
		w.m.Spent(meter.WaitOut, c.r.Clock.Now())
	}
	c.Missed.Add(c.entered(&res, cells))
	return res.OK && err == nil
}

// entered is how many of the items, marks left out, a put has brought onto the edge.
func (c *Cache[T]) entered(res *edge.Put, cells []edge.Cell[T]) (n int64) {
	in := 0
	for i := range cells {
		x := &cells[i]
		if c.Out.OnPass != nil && x.Flags&edge.PassEnd != 0 {
			continue // the edge has taken it out
		}
		if in++; !res.OK && in > res.In {
			break
		}
		if !x.Skipped() {
			n++
		}
	}
	return n
}

// lose drops items that nobody will take.
func (w *keeper[T]) lose(cells []edge.Cell[T]) {
	for i := range cells {
		c := &cells[i]
		if !c.Skipped() {
			w.c.Meter.Lost.Add(1)
			w.c.Meter.Done.Add(-1)
		}
		w.c.Drop(c)
		*c = edge.Cell[T]{}
	}
}

// last ends the worker's part: an error that the stream ended with stands at the oldest place whose items have not all
// arrived, after those that have.
func (w *keeper[T]) last() {
	c, rest := w.c, w.out.cells[w.open:]
	m, ok := c.next()
	if err := c.In.Err(); err != nil && ok && !c.r.Over() {
		w.put(&run{m.ticket, 1, m.epochLo, 0, m.tag}, rest, err)
		clear(rest)
		return
	}
	w.lose(rest)
}
