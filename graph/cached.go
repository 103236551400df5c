package graph

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

// feeding is where the places of a map-style source come from.
type feeding struct {
	in     *edge.Edge[struct{}]
	next   func(buf []edge.Cell[struct{}], k int) ([]edge.Cell[struct{}], bool)
	places Places
	len    int64
	lane   *engine.Lane // through which its items are admitted; nil: they do not tell their size
	cached func(engine.Cached[struct{}])
}

// sourceOf is the source above a node, where there is one line.
func (b *builder) sourceOf(n *node) *node {
	for len(n.ins) > 0 {
		n = n.ins[0]
	}
	return n
}

func openCache[T any](b *builder, s *stageRun, k *Cache[T]) error {
	n := s.n
	source := b.stages[b.sourceOf(n).no]
	in, same := b.edges[n.ins[0].no].(*edge.Edge[T])
	h := hooksOf[T](b.index)
	if err := cacheFits(b, s, source, h.bytes != nil, same && isCache(n)); err != nil {
		return b.wrapOpen(s, -1, "open", err)
	}
	s.workers, s.cache = 1, true
	e := &engine.Cache[T]{Meter: s.m, In: in, Out: newEdge[T](b, s), Keep: k.Keep, Find: k.Find, Size: h.bytes,
		Whole: b.whole, Drop: h.dropQuietly}
	e.Lookup = engine.Lookup{Source: source.feeds.in, Feed: source.feeds.next, Index: b.index, Full: k.Full,
		Bound: min(engine.MaxSlice, e.Out.Bound()), Many: !b.oneToOne(n)}
	if w := b.run.water; w != nil {
		e.Found = w.found
	}
	e.Admit, e.StopFrom = admitHits(b, s, source, &h)
	finish(b, s, &h, &e.Finish, &e.Hash)
	e.Prepare(b.eng)
	source.feeds.in.Upstream(nil) // an error below must not stop hits that come before it
	source.feeds.cached(e)
	source.feeds.next = e.Places
	b.run.caches = append(b.run.caches, cacheOf(n, source, k, e))
	if !b.p.sync {
		b.launch(func() { e.Start(b.eng) })
		return nil
	}
	source.feeds.next = e.Place
	b.pulls[n.no] = e.Pull(b.eng, b.pulls[n.ins[0].no].(engine.Pull[T]))
	return nil
}

// cacheFits says what keeps a cache from working where it stands.
func cacheFits(b *builder, s, source *stageRun, sized, same bool) error {
	switch {
	case !same:
		return errors.New("a cache gives what it gets, and its declaration has a CacheLimit")
	case source.iterable:
		return fmt.Errorf("the source %q is read forward and its items have no index; a cache needs a map-style source", source.n.id)
	case !sized:
		return errors.New("items without a method Bytes cannot be cached: nobody would know how much they take")
	}
	for m := s.n.ins[0]; m.role == stageRole; m = m.ins[0] {
		switch x := b.stages[m.no]; {
		case x.isGroup:
			return fmt.Errorf("%q makes one item of several; put the cache before it", m.id)
		case x.block > 0: // what comes to a cache is told apart by its order
			return fmt.Errorf("%q hands items on in another order; put the cache before it", m.id)
		}
	}
	return nil
}

// oneToOne says that each place gives one item at the cache.
func (b *builder) oneToOne(n *node) bool {
	for m := n.ins[0]; m.role == stageRole; m = m.ins[0] {
		if b.head(m) == m && !b.stages[m.no].maps {
			return false
		}
	}
	return true
}

// whole says that everything a place makes is made: a run that was resumed leaves out what was delivered before.
func (b *builder) whole(t *edge.Tag) bool {
	if b.resume == nil || int64(t.Epoch) != b.resume.Epoch || int(t.Source) >= len(b.resume.Sources) {
		return true
	}
	x := &b.resume.Sources[t.Source]
	return len(x.Child) == 0 || t.Place != x.Place
}

// admitHits is the way of hits through the byte budget: in turn with what the source reads.
func admitHits[T any](b *builder, s, source *stageRun, h *hooks[T]) (func(*edge.Waiter, int64, []edge.Cell[T], []int) (int, bool), func(int64)) {
	lane := source.feeds.lane
	if lane == nil {
		return func(_ *edge.Waiter, _ int64, _ []edge.Cell[T], counts []int) (int, bool) { return len(counts), false }, func(int64) {}
	}
	peak, grow := peakBelow[T](s.n)
	s.admitted = &admitted{grow: grow}
	g := gateOf(b.run.bytes, lane, s.admitted, h.bytes, peak, grow, nil)
	return g.admitEntries, lane.StopFrom
}

// admitEntries admits the items of several places; counts says how many each of them gave.
func (g *gate[T]) admitEntries(w *edge.Waiter, lo int64, cells []edge.Cell[T], counts []int) (n int, waited bool) {
	counts = counts[:min(len(counts), engine.MaxSlice)]
	limit := g.book.admit.Limit()
	var needs, sizes [engine.MaxSlice]int64
	sum, from := int64(0), 0
	for i, c := range counts {
		for j := range c {
			size, need := g.need(cells[from+j].V, limit)
			sizes[i], needs[i] = sizes[i]+size, needs[i]+need
		}
		if limit > 0 {
			needs[i] = min(needs[i], limit) // it went through before
		}
		sum, from = sum+needs[i], from+c
	}
	if n = len(counts); g.book.limit == 0 {
		g.lane.Count(sum)
	} else {
		n, waited = g.lane.Admit(w, lo, needs[:n])
	}
	from = 0
	for i, c := range counts[:n] {
		if c == 0 && g.book.limit > 0 {
			g.lane.Free(0)
		}
		g.holdAll(cells[from:from+c], sizes[i], needs[i])
		g.sums.add(int64(c), sizes[i], needs[i], needs[i]/int64(max(c, 1)))
		from += c
	}
	return n, waited
}

// holdAll ties bytes to all items of one place.
func (g *gate[T]) holdAll(cells []edge.Cell[T], size, need int64) {
	if len(cells) == 0 {
		return
	}
	g.hold(&cells[0], size, need)
	h := cells[0].Ext.Hold
	h.Users.Store(int32(len(cells)))
	for i := range cells {
		if cells[i].Ext == nil {
			cells[i].Ext = edge.NewExt()
		}
		cells[i].Ext.Hold, cells[i].Ext.Size = h, g.size(cells[i].V)
	}
}

// cacheRun is what a run knows of a cache.
type cacheRun struct {
	id   string
	read func() CacheStats
	set  func() int64 // bytes of the whole set; 0: not known yet
	// epoch gives the look-ups of an epoch, and with last forgets them.
	epoch func(epoch int64, last bool) CacheEpoch
	outs  func() (passed, hits int64)
	no    int
}

func cacheOf[T any](n *node, source *stageRun, k *Cache[T], e *engine.Cache[T]) cacheRun {
	set := min(source.feeds.len, source.feeds.places.Len(0))
	return cacheRun{id: n.id, no: n.no,
		set: func() int64 {
			made, bytes := e.Made()
			return int64(float64(bytes) / float64(max(1, made)) * float64(set))
		},
		read: func() CacheStats {
			l := e.Read()
			c := CacheStats{ID: n.id, Hits: l.Hits, Misses: l.Misses, Bytes: k.Held(), Limit: k.Limit}
			if made, bytes := e.Made(); made > 0 && bytes > 0 {
				best := min(1, float64(k.Limit)/(float64(bytes)/float64(made)*float64(set)))
				c.BestHitShare = &best
			}
			return c
		},
		epoch: func(epoch int64, last bool) CacheEpoch {
			l := e.Epoch(epoch, last)
			return CacheEpoch{ID: n.id, Hits: l.Hits, Misses: l.Misses}
		},
		outs: func() (int64, int64) { return e.Missed.Load(), e.Hit.Load() },
	}
}
