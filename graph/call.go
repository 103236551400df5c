package graph

import (
	"context"
	"math/bits"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/item"
)

// Call is what one call of a stage knows: its context, the item's position, random numbers that depend on nothing
// else, and memory. It belongs to the worker and is valid during the call only.
type Call struct {
	ctx    context.Context
	mem    item.Memory
	key    uint64 // of (pipeline seed, stage id)
	tag    *edge.Tag
	places []Places // by source; nil for iterables
	place  func() (ordinal, epochLo int64)
	slot   *slotter // of the group that follows at once; nil: none
	room   func(func() error) error
	rand   Rand
	seeded bool

	members []Call // of a fused stage, from the second on
	group   *group
	clock   *meter.Clock
	lapped  int64
}

// at sets the call up for one item.
func (c *Call) at(t *edge.Tag) {
	c.tag, c.seeded = t, false
	for i := range c.members {
		c.members[i].at(t)
	}
}

func posOf(t *edge.Tag) item.Pos {
	p := item.Pos{Epoch: int64(t.Epoch), Source: int(t.Source), Place: t.Place}
	if t.Ext != nil {
		p.Child = t.Ext.Child
	}
	return p
}

// Context ends when the run is cancelled or the call has taken longer than the stage's timeout.
func (c *Call) Context() context.Context { return c.ctx }

// Pos is where the item stands in the logical stream.
func (c *Call) Pos() item.Pos { return posOf(c.tag) }

// Padding says that the item is one that the job has delivered already, so that all ranks have as many.
func (c *Call) Padding() bool { return c.tag.Flags&edge.Padding != 0 }

// Index is the item's index in its map-style source, or -1.
func (c *Call) Index() int64 { return indexOf(c.places, c.tag) }

func indexOf(places []Places, t *edge.Tag) int64 {
	if int(t.Source) >= len(places) || places[t.Source] == nil {
		return -1
	}
	return places[t.Source].Index(int64(t.Epoch), t.Place)
}

// Buffer takes n bytes of recycled memory. Their content is undefined.
func (c *Call) Buffer(n int) *item.Buffer { return c.mem.Take(n) }

// Row takes memory for a field of the output: where a group follows at once, the field's place in the batch, so that
// nothing is copied; else, or where the layout is not that of the batch, recycled memory. Content is undefined. Write
// all of it, and hand it on as this very field.
func (c *Call) Row(field string, d item.DType, s item.Shape) *item.Buffer {
	if c.slot != nil && c.place != nil {
		if b := c.slot.take(c, field, d, s); b != nil {
			return b
		}
	}
	return c.mem.Take(s.Elems() * d.Size())
}

// Rand is a generator keyed by (pipeline seed, stage id, position of the item): the same item gets the same numbers
// whatever the workers, buffers and ranks are, and other ones in each epoch.
func (c *Call) Rand() *Rand {
	if !c.seeded {
		c.rand, c.seeded = newRand(c.key, c.Pos()), true
	}
	return &c.rand
}

// NewCall makes a call outside a pipeline, for tests of a stage.
func NewCall(ctx context.Context, seed uint64, stage string, pos item.Pos) *Call {
	t := &edge.Tag{Epoch: int32(pos.Epoch), Source: uint16(pos.Source), Place: pos.Place}
	if pos.Child != "" {
		t.Ext = &edge.Ext{Child: pos.Child}
	}
	places := make([]Places, pos.Source+1)
	places[pos.Source] = inOrder(0)
	return &Call{ctx: ctx, mem: item.Heap, key: stageKey(seed, stage), tag: t, places: places}
}

// Rand is a counter-based generator (SplitMix64 over a keyed counter: Steele, Lea and Flood, 2014). Its numbers are the
// same on every processor.
type Rand struct{ state uint64 }

const golden = uint64(0x9E3779B97F4A7C15)

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func stageKey(seed uint64, stage string) uint64 {
	k := mix(seed + golden)
	for _, b := range []byte(stage) {
		k = mix(k ^ uint64(b) + golden)
	}
	return k
}

func newRand(key uint64, p item.Pos) Rand {
	k := mix(key ^ mix(uint64(p.Epoch)+golden))
	k = mix(k ^ mix(uint64(p.Source)+golden^1))
	k = mix(k ^ mix(uint64(p.Place)+golden^2))
	for _, b := range []byte(p.Child) {
		k = mix(k ^ uint64(b) + golden)
	}
	return Rand{k}
}

// Uint64 is 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.state += golden
	return mix(r.state)
}

// IntN is uniform in [0, n); n must be positive. It takes the high half of a product, with a bias below n/2^64.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("graph: IntN of a number that is not positive")
	}
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(hi)
}

// Float64 is uniform in [0, 1), a multiple of 2^-53.
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// Normal is normally distributed with mean 0 and deviation 1: the sum of twelve uniforms less six (Irwin-Hall), which
// needs only additions and so is the same on every processor. Its tails end at 6.
func (r *Rand) Normal() float64 {
	s := -6.0
	for range 12 {
		s += r.Float64()
	}
	return s
}
