package edge

import (
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Flags of an item.
const (
	Skipped  uint16 = 1 << iota // a mark in place of an item that was skipped: it has no value
	Padding                     // delivered before
	NewMark                     // a mark that has not left its own stage yet
	PassEnd                     // a mark after the last item of a pass through a source's data, see [Edge.OnPass]
	Hit                         // a place whose items a cache has
	EntryEnd                    // a mark after all that one place made, on the way to a cache
)

// Tag is what travels beside a value.
type Tag struct {
	Place  int64
	Epoch  int32
	Source uint16
	Flags  uint16
	Trail  *meter.Trail
	Ext    *Ext // nil for items that need none of it
}

// Skipped says that the item is a mark.
func (t *Tag) Skipped() bool { return t.Flags&Skipped != 0 }

// Cell is an item on an edge.
type Cell[T any] struct {
	V T
	Tag
}

// Ext is the rarer part of a tag.
type Ext struct {
	Child  string // path of flat-map outputs
	Key    string // of a skipped item
	Err    error  // why it was skipped; until the mark leaves its stage
	Hash   uint64
	Count  int      // inputs that a group's output holds
	Padded int      // of them, delivered before
	Hold   *Hold    // bytes reserved for the item and for all that came of the same one
	Size   int64    // what the item itself holds of them
	Of     *[]Place // of a group's output, where places are counted: those of its members
}

// Place is where an item came from, without the path of flat-map outputs.
type Place struct {
	Place  int64
	Epoch  int32
	Source uint16
}

// Places adds the places that the item came from: one, or those of the members of a group.
func (t *Tag) Places(to []Place) []Place {
	if t.Ext != nil && t.Ext.Of != nil {
		return append(to, *t.Ext.Of...)
	}
	return append(to, Place{t.Place, t.Epoch, t.Source})
}

// Hold is a share of the byte budget with a count of the items that use it. Free is called after the last.
type Hold struct {
	Bytes  atomic.Int64   // reserved
	Live   atomic.Int64   // what the items that use it hold now
	Source int64          // size of the item as it was let in; 0: of several
	Ratio  *atomic.Uint64 // the largest that became of one, bits of a float64; see Source
	Users  atomic.Int32
	Free   func(*Hold)
}

var exts = sync.Pool{New: func() any { return new(Ext) }}

// NewExt takes an empty Ext from the pool.
func NewExt() *Ext { return exts.Get().(*Ext) }

// End gives an item's bytes back to the budget and its Ext to the pool: the item has left the pipeline.
func (t *Tag) End() {
	x := t.Ext
	if x == nil {
		return
	}
	t.Ext = nil
	if h := x.Hold; h != nil {
		h.Live.Add(-x.Size)
		if h.Users.Add(-1) == 0 {
			h.Free(h)
		}
	}
	*x = Ext{}
	exts.Put(x)
}
