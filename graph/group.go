package graph

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/item"
)

func openGroup[A, B any](b *builder, s *stageRun, g *Group[A, B]) error {
	s.isGroup, s.slabbed, s.size, s.least = true, true, max(1, g.Size), 2
	b.holds(s.n, s.size, s.size*b.slabsAfter(s.n))
	if n := b.p.memoryLimit(); n == 0 || n >= roomy {
		b.eng.Lull(b.run.slabs.SetAside, b.run.slabs.Drop)
	}
	in := inputEdge[A](b, s.n.ins[0])
	s.workers = max(1, s.workers)
	out := newEdge[B](b, s)
	h := hooksOf[A](b.index)
	calls := make([]*Call, b.most(s)) // each is its worker's own
	var capped sync.Mutex
	caps := b.capsOf(s)
	e := &engine.Group[A, B, item.Row]{
		Meter: s.m, Workers: s.workers, In: in, Out: out,
		Size: g.Size, DropLast: g.DropLast, Skip: s.n.skips(), Fresh: g.Fresh,
		Keeps: g.Keeps && h.bytes != nil, Bind: b.run.bytes.bind,
		Slabs: b.slabsAfter(s.n),
		First: func(c *edge.Cell[A]) error {
			if g.First == nil {
				return nil
			}
			return g.First(c.V)
		},
		Slab: g.Slab,
		Fit: func(v B, slabs int) (int, error) {
			if z, ok := any(v).(interface{ Capacity() int64 }); ok && !g.Fresh {
				slabs = max(slabs, min(maxSlabs, int(smallSlabs/max(1, z.Capacity()))))
				n, err := b.run.bytes.slabs(z.Capacity(), slabs, s.least)
				s.slab.Store(z.Capacity())
				if s.supply != nil && err == nil {
					n, err = s.supply.Ring(z.Capacity(), n, s.least)
				}
				b.widen(s.n, n/2)
				return n, err
			}
			return slabs, nil
		},
		Row: func(worker int, out B, row int, c *edge.Cell[A]) error {
			call := calls[worker]
			if call == nil {
				call = b.newCall(s.n)
				calls[worker] = call
			}
			call.at(&c.Tag)
			return g.Row(call, out, row, c.V)
		},
		Fill: g.Fill,
		Undo: g.Undo,
		Done: g.Done,
		Meta: h.rowOf,
		StandIn: func(to, from *item.Row) {
			pos := to.Pos
			*to = *from
			to.Pos, to.StandIn = pos, true
		},
		Drop: h.dropQuietly,
		Wrap: wrapper(b, s, &h, "process"),
		Skipped: func(c *edge.Cell[A], err error) error {
			key := failedKey(&h, c, err)
			t := c.Tag
			t.Ext = &edge.Ext{Key: key, Err: err}
			capped.Lock()
			over := caps(&t, s.m.In.Load())
			capped.Unlock()
			if over == nil {
				s.skipped(SkipNote{Key: key, Pos: posOf(&c.Tag)}, err)
			}
			return over
		},
		Key: h.keyOf,
	}
	if b.p.world.Size() > 1 {
		e.None = func(number int64, last *edge.Tag) error {
			return &StageError{Pipeline: b.p.name, Stage: s.n.id, Pos: posOf(last), Op: "process", Key: fmt.Sprintf("batch %d", number),
				Err: errors.New("every item of it was skipped, and ranks must make equally many steps")}
		}
	}
	if w := b.run.water; w != nil {
		e.Gone = w.done
	}
	s.onFull = func(f func(int32, int64)) { e.Full = f }
	s.more = func(slabs int) { e.Slabs += slabs }
	e.Stalled = func(ns int64) {
		if s.supply != nil {
			s.supply.Stalled(time.Duration(ns))
		}
	}
	s.slabs, s.lent, s.lists = e.Most, e.Made, e.Keeps
	if b.resume != nil {
		e.FirstEpoch, e.FirstNumber = int32(b.resume.Epoch), b.resume.Batches
	}
	s.staff = e
	b.groups = append(b.groups, func(t *meter.Trail) {
		if e.Waiting() {
			e.Held(longestAfter(t, s.m))
		}
	})
	b.run.keeps = append(b.run.keeps, e.Keep)
	if before := b.stages[b.head(s.n.ins[0]).no]; g.Place != nil && !b.p.sync && before.n.opts.order != CompletionOrder {
		before.slot = newSlotter(e, g.Place)
	}
	b.launch(func() { e.Start(b.eng) })
	if b.p.sync {
		b.pulls[s.n.no] = e.Pull(b.eng, b.pulls[s.n.ins[0].no].(engine.Pull[A]))
	}
	return nil
}

// A ring of small slabs is made longer, up to these bounds: a consumer that gets a processor only now and then must find
// enough to do.
const (
	smallSlabs = 16 << 20
	maxSlabs   = 64
)

// roomy is the byte budget from which on memory is set aside for slabs: it is half of what the container has.
const roomy = 1 << 30

// widen sets the edges that the slabs of a group pass. Its own input edge is not one of them, also where that holds the
// slabs of another group: it is locked then.
func (b *builder) widen(group *node, slabs int) {
	for n := group; n != nil && (n == group || !b.stages[n.no].isGroup); n = n.next {
		if f := b.stages[n.no].widen; f != nil {
			f(slabs)
		}
	}
}

// slabsAfter is how many slabs a group's ring has: one being filled, what the edges and workers below can hold, and
// what the consumer holds.
func (b *builder) slabsAfter(n *node) int {
	slabs := 2
	for m := n; m.next != nil; m = m.next {
		w := 1
		t := traitsOf(m.decl)
		if (m.role == stageRole || m.role == sourceRole) && !t.Serial {
			if w = m.opts.workers; w == 0 {
				w = b.autoWorkers(CPU)
			}
		}
		if m != n {
			slabs += w
		}
		if t.Releases {
			break
		}
		if m.opts.buffer > 0 {
			slabs += m.opts.buffer
		} else {
			slabs += 2 * w
		}
	}
	return slabs
}

// holds tells the groups above a stage that it holds least of their outputs at once before it lets go of any, and may
// hold most.
func (b *builder) holds(n *node, least, most int) {
	for _, in := range n.ins {
		l, m := least, most
		if s := b.stages[in.no]; s.more != nil {
			s.least += l
			s.more(m)
			l, m = l*s.size, m*s.size
		}
		b.holds(in, l, m)
	}
}

// longestAfter finds the stage after the group from that held a batch longest.
func longestAfter(t *meter.Trail, from *meter.Stage) *meter.Stage {
	var longest int64
	holder := from
	for ; t != nil && t.Stage != from; t = t.Prev {
		if d := t.Done - t.Took; d > longest {
			longest, holder = d, t.Stage
		}
	}
	return holder
}
