package engine

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/edge"
)

// Lookup asks a cache before a source reads, and knows what is on its way to the cache.
//
// All places of the source get a ticket, in their order: its ordinal at the source's input. Those that the cache does
// not have are numbered apart, since only they pass the edges between source and cache; these edges keep order. So the
// cache knows by counting which ticket an entry that arrives has.
type Lookup struct {
	Source *edge.Edge[struct{}] // the input of the source
	Feed   func(buf []edge.Cell[struct{}], k int) ([]edge.Cell[struct{}], bool)
	Index  func(*edge.Tag) int64
	Full   func() bool // the cache will keep nothing more
	// Bound is the longest run of hits that is handed over at once.
	Bound int
	// Many: an entry may hold any number of items, and a mark ends it on its way. Else each item is one.
	Many bool

	readK atomic.Int64 // slice length of those who read

	mu        sync.Mutex
	known     map[int64]known
	pending   map[int64]struct{} // indices on their way to the cache
	misses    []miss             // on their way, oldest first
	number    int64              // of misses[0]
	ahead     []edge.Cell[struct{}]
	scratch   []edge.Cell[struct{}]
	done      bool
	tickets   int64
	epoch     int32
	epochLo   int64
	hitLast   bool // the places given out last are in the cache
	blocked   bool // the next place is that of an index on its way
	blockedBy int64
	counts    map[int64]Lookups
	all       Lookups
}

// Lookups counts the places that a cache was asked for.
type Lookups struct{ Hits, Misses int64 }

// miss is a place that the cache does not have.
type miss struct {
	ticket, epochLo, index int64
	tag                    edge.Tag
	offered                bool // what it makes is offered to the cache: no other of its index is on its way
}

// known is what is remembered of the items of an entry beside their values.
type known struct {
	one  trait // where the entry is one item that no flat-map made
	many []trait
}

type trait struct {
	hash  uint64
	child string
}

func (k *known) of(i int) trait {
	if k.many == nil {
		return k.one
	}
	return k.many[i]
}

func (l *Lookup) start() {
	l.known, l.pending, l.counts = map[int64]known{}, map[int64]struct{}{}, map[int64]Lookups{}
	l.epoch = -1
	l.readK.Store(1)
}

// Slice is how many places to take where k would be read.
func (l *Lookup) Slice(k int) int {
	l.readK.Store(int64(k))
	return max(k, l.Bound)
}

// Marks says whether a mark follows what a place made.
func (l *Lookup) Marks() bool { return l.Many }

// Number is the ordinal at the source's output of what the place of a ticket makes.
func (l *Lookup) Number(ticket int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number + int64(sort.Search(len(l.misses), func(i int) bool { return l.misses[i].ticket >= ticket }))
}

// Places is the feed of the source's input: up to k places that are all in the cache, or all not. It has none for now
// while the next one is of an index on its way to the cache; [edge.Edge.Nudge] wakes whoever waits for that.
func (l *Lookup) Places(buf []edge.Cell[struct{}], k int) ([]edge.Cell[struct{}], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ahead) == 0 && !l.done {
		look := k
		if !l.hitLast {
			look = min(k, int(l.readK.Load()))
		}
		l.scratch, l.done = l.Feed(l.scratch[:0], look)
		l.ahead = l.scratch
	}
	first := true
	var kind bool
	for ; len(l.ahead) > 0 && len(buf) < k; first = false {
		c := l.ahead[0]
		index, hit, wait := l.look(&c.Tag)
		if wait {
			if first {
				l.blocked, l.blockedBy = true, index
			}
			return buf, false
		}
		if first {
			if kind, l.hitLast = hit, hit; !hit {
				k = min(k, int(l.readK.Load()))
			}
		}
		if hit != kind || !first && c.Epoch != buf[0].Epoch {
			return buf, false
		}
		l.ahead = l.ahead[1:]
		l.enter(&c, index, hit)
		buf = append(buf, c)
	}
	return buf, len(buf) == 0 && l.done
}

// look finds out about a place. A mark goes the way of what is read.
func (l *Lookup) look(t *edge.Tag) (index int64, hit, wait bool) {
	if t.Skipped() {
		return -1, false, false
	}
	index = l.Index(t)
	_, hit = l.known[index]
	_, wait = l.pending[index]
	return index, hit, wait
}

// enter gives a place its ticket.
func (l *Lookup) enter(c *edge.Cell[struct{}], index int64, hit bool) {
	if c.Epoch != l.epoch {
		l.epoch, l.epochLo = c.Epoch, l.tickets
	}
	if hit {
		c.Flags |= edge.Hit
	} else {
		m := miss{l.tickets, l.epochLo, index, edge.Tag{Place: c.Place, Epoch: c.Epoch, Source: c.Source}, index >= 0 && !l.Full()}
		if m.offered {
			l.pending[index] = struct{}{}
		}
		l.misses = append(l.misses, m)
	}
	l.tickets++
}

// next is the oldest place whose items have not all arrived.
func (l *Lookup) next() (m miss, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.misses) == 0 {
		return m, false
	}
	return l.misses[0], true
}

// arrived ends the way of the oldest place; kept, if not nil, is what the cache has of it now.
func (l *Lookup) arrived(m *miss, kept *known) {
	l.mu.Lock()
	l.misses = l.misses[1:]
	l.number++
	if m.offered {
		delete(l.pending, m.index)
	}
	if kept != nil {
		l.known[m.index] = *kept
	}
	if m.index >= 0 {
		l.count(int64(m.tag.Epoch), Lookups{Misses: 1})
	}
	wake := l.blocked && l.blockedBy == m.index
	if wake {
		l.blocked = false
	}
	l.mu.Unlock()
	if wake {
		l.Source.Nudge()
	}
}

// count adds look-ups of an epoch; under the lock.
func (l *Lookup) count(epoch int64, n Lookups) {
	c := l.counts[epoch]
	l.counts[epoch] = Lookups{c.Hits + n.Hits, c.Misses + n.Misses}
	l.all = Lookups{l.all.Hits + n.Hits, l.all.Misses + n.Misses}
}

// hit counts hits of an epoch.
func (l *Lookup) hit(epoch, n int64) {
	l.mu.Lock()
	l.count(epoch, Lookups{Hits: n})
	l.mu.Unlock()
}

// traits finds what is known of the items of some places.
func (l *Lookup) traits(cells []edge.Cell[struct{}], all []known) []known {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range cells {
		all = append(all, l.known[l.Index(&cells[i].Tag)])
	}
	return all
}

// Read gives the look-ups of the whole run.
func (l *Lookup) Read() Lookups {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// Epoch gives the look-ups of an epoch, and with last forgets them.
func (l *Lookup) Epoch(epoch int64, last bool) Lookups {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.counts[epoch]
	if last {
		delete(l.counts, epoch)
	}
	return n
}
