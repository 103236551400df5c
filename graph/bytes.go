package graph

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/pool"
)

// byteBook keeps a run's byte budget.
type byteBook struct {
	admit *engine.Admission
	limit int64 // 0: none
	hold  int64 // the oldest items of each source that pass whatever there is room for
	known atomic.Bool
	held  atomic.Int64 // slabs
	holds sync.Pool
	kept  *pool.Memory // recycled buffers; nil: somebody else's
	warn  func(string)
}

// firstRatio is how much larger than at the source an item is taken to grow, before any has been seen.
const firstRatio = 4

func newByteBook(j *engine.Joint, hold int64, warn func(string)) *byteBook {
	b := &byteBook{admit: j.Join(hold), limit: j.Limit(), hold: hold, warn: warn}
	b.holds.New = func() any { return new(edge.Hold) }
	b.known.Store(true)
	return b
}

// slabs takes the memory of a ring of slabs off the budget. It makes the ring shorter where it would take more than
// half the budget, or of a shared one half of what is kept for each; fewer than least, which is at least two, would lock
// up.
func (b *byteBook) slabs(each int64, n, least int) (int, error) {
	if b.limit > 0 {
		all, half, word := b.limit, b.limit/2, "memory budget"
		if parts := b.admit.Parts(); parts > 1 {
			all, half, word = b.limit/parts, b.limit/parts/4, "shared memory budget"
		}
		fit := int(half / max(each, 1))
		if need := int64(least) * each; fit < least && need > all {
			of := SizeText(b.limit)
			if all < b.limit {
				of += ", of which each pipeline may have " + SizeText(all) + " for batches"
			}
			return 0, fmt.Errorf("%s batches of %s need %s, the %s is %s; make the batch smaller or raise budget.memory",
				countText(least), SizeText(each), SizeText(need), word, of)
		}
		if fit = max(least, fit); fit < n {
			b.warn(fmt.Sprintf("the %s of %s leaves room for %d batches of %s instead of %d", word, SizeText(b.limit), fit, SizeText(each), n))
			n = fit
		}
	}
	b.held.Add(each * int64(n))
	b.shrink(each * int64(n))
	return n, nil
}

func countText(n int) string {
	if n == 2 {
		return "two"
	}
	return strconv.Itoa(n)
}

// reserve takes memory off the budget that a stage keeps.
func (b *byteBook) reserve(n int64) bool {
	if b.limit > 0 && b.admit.Limit()-n < b.admit.Most()/2 {
		return false
	}
	b.shrink(n)
	return true
}

// shrink takes memory that is held for good off what items may take, and off what is kept to be used again: all of it
// together is the budget.
func (b *byteBook) shrink(n int64) {
	b.admit.Shrink(n)
	if b.kept != nil {
		b.kept.Shrink(n)
	}
}

// SizeText writes a number of bytes for messages, as "1.5 MiB".
func SizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// sized notes the size of an item that left a stage. It and its siblings, which a flat-map made of the same item, may
// hold more than was reserved.
func (b *byteBook) sized(x *edge.Ext, size int64) {
	h := x.Hold
	live := h.Live.Add(size - x.Size)
	x.Size = size
	for old := h.Bytes.Load(); live > old; old = h.Bytes.Load() {
		if h.Bytes.CompareAndSwap(old, live) {
			b.admit.Grow(live - old)
		}
	}
	if h.Source > 0 {
		r := float64(live) / float64(h.Source)
		for old := h.Ratio.Load(); r > math.Float64frombits(old) && !h.Ratio.CompareAndSwap(old, math.Float64bits(r)); old = h.Ratio.Load() {
		}
	}
}

// bind ties the shares of several items together, for an output that keeps them: they are given back with it. What comes
// of the output and grows beyond them is counted with the first.
func (b *byteBook) bind(parts []*edge.Ext) (*edge.Hold, int64) {
	h := b.holds.Get().(*edge.Hold)
	var all []*edge.Ext
	var bytes, live int64
	var last *edge.Hold // siblings share one
	for _, x := range parts {
		if x == nil || x.Hold == nil {
			(&edge.Tag{Ext: x}).End()
			continue
		}
		if all = append(all, x); x.Hold != last {
			bytes, last = bytes+x.Hold.Bytes.Load(), x.Hold
		}
		live += x.Size
	}
	h.Bytes.Store(bytes)
	h.Live.Store(live)
	h.Source = 0
	h.Users.Store(1)
	h.Free = func(h *edge.Hold) {
		for i, x := range all {
			if i == 0 {
				x.Hold.Bytes.Add(h.Bytes.Load() - bytes)
			}
			(&edge.Tag{Ext: x}).End()
		}
		b.holds.Put(h)
	}
	return h, live
}

// gate admits the outputs of one source.
type gate[T any] struct {
	book *byteBook
	lane *engine.Lane
	size func(T) int64
	peak func(T) int64 // 0: unknown
	grow bool          // stages without a Peak stand below
	sums *admitted
	// ratio is the largest of what an item became to what it was here; a cache gives items that have grown already.
	ratio atomic.Uint64
	fail  func(c *edge.Cell[T], err error) error
	free  func(*edge.Hold)
}

func newGate[T any](b *byteBook, size, peak func(T) int64, grow bool, fail func(*edge.Cell[T], error) error) *gate[T] {
	return gateOf(b, b.admit.Lane(), &admitted{grow: grow}, size, peak, grow, fail)
}

func gateOf[T any](b *byteBook, lane *engine.Lane, sums *admitted, size, peak func(T) int64, grow bool, fail func(*edge.Cell[T], error) error) *gate[T] {
	g := &gate[T]{book: b, lane: lane, sums: sums, size: size, peak: peak, grow: grow, fail: fail}
	g.ratio.Store(math.Float64bits(firstRatio))
	if sums.ratio == nil {
		sums.ratio = &g.ratio
	}
	g.free = func(h *edge.Hold) {
		g.lane.Free(h.Bytes.Load())
		b.holds.Put(h)
	}
	return g
}

// need is the most that an item will take on its way. What is only thought never exceeds the limit: whether an item is
// refused must not depend on what others looked like before it.
func (g *gate[T]) need(v T, limit int64) (size, need int64) {
	size = g.size(v)
	if need = g.peak(v); need == 0 && g.grow {
		need = int64(float64(size) * math.Float64frombits(g.ratio.Load()))
		if limit > 0 {
			need = min(need, limit)
		}
	}
	return size, max(size, need)
}

func tooLarge(need, limit int64) error {
	if limit == 0 || need <= limit {
		return nil
	}
	return fmt.Errorf("the item needs %s, the memory budget leaves %s; raise budget.memory or leave the item out", SizeText(need), SizeText(limit))
}

// Refuse implements [engine.Gate].
func (g *gate[T]) Refuse(c *edge.Cell[T]) error {
	limit := g.book.admit.Limit()
	_, need := g.need(c.V, limit)
	if err := tooLarge(need, limit); err != nil {
		return g.fail(c, err)
	}
	return nil
}

// Admit implements [engine.Gate].
func (g *gate[T]) Admit(w *edge.Waiter, lo int64, cells []edge.Cell[T]) (n int, waited bool, err error) {
	if g.book.limit == 0 {
		g.count(cells)
		return len(cells), false, nil
	}
	return g.admit(w, lo, cells)
}

// count keeps the books where there is no limit: everything passes.
func (g *gate[T]) count(cells []edge.Cell[T]) {
	var sum, stored, n, first int64
	for i := range cells {
		c := &cells[i]
		if c.Skipped() {
			continue
		}
		size, need := g.need(c.V, 0)
		g.hold(c, size, need)
		if n == 0 {
			first = need
		}
		sum, stored, n = sum+need, stored+size, n+1
	}
	g.sums.add(n, stored, sum, first)
	g.lane.Count(sum)
}

func (g *gate[T]) admit(w *edge.Waiter, lo int64, cells []edge.Cell[T]) (n int, waited bool, err error) {
	var needs, sizes [engine.MaxSlice]int64
	limit := g.book.admit.Limit()
	m := 0
	for ; m < len(cells) && m < len(needs); m++ {
		if cells[m].Skipped() {
			continue
		}
		sizes[m], needs[m] = g.need(cells[m].V, limit)
		if err = tooLarge(needs[m], limit); err != nil {
			break
		}
	}
	if m == 0 {
		_, waited = g.lane.Admit(w, lo, nil)
		if err != nil {
			err = g.fail(&cells[0], err)
		}
		return 0, waited, err
	}
	n, waited = g.lane.Admit(w, lo, needs[:m])
	var sum, stored, items, first int64
	for i := range cells[:n] {
		c := &cells[i]
		if c.Skipped() {
			g.lane.Free(0)
			continue
		}
		g.hold(c, sizes[i], needs[i])
		if items == 0 {
			first = needs[i]
		}
		sum, stored, items = sum+needs[i], stored+sizes[i], items+1
	}
	g.sums.add(items, stored, sum, first)
	return n, waited, nil
}

// hold ties bytes to an item.
func (g *gate[T]) hold(c *edge.Cell[T], size, need int64) {
	h := g.book.holds.Get().(*edge.Hold)
	h.Bytes.Store(need)
	h.Live.Store(size)
	h.Source, h.Ratio, h.Free = size, &g.ratio, g.free
	h.Users.Store(1)
	if c.Ext == nil {
		c.Ext = edge.NewExt()
	}
	c.Ext.Hold, c.Ext.Size = h, size
}
