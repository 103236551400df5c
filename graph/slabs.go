package graph

import (
	"time"

	"github.com/penstock-go/penstock/graph/internal/pool"
)

// Slabs is a supply of memory for batches. A stage that wants batches to lie in memory of its own, such as pin, offers
// one as [Transform.Slabs]. It is handed to the nearest group above, across stages that hand batches on as they are (see
// [Traits.Passes]); a group without an offer takes plain memory. Its methods may be called from any goroutine.
type Slabs interface {
	// Slab takes the memory of one batch. It is called under a lock, while the ring grows, and must not wait.
	Slab(n int) ([]byte, error)
	// Ring tells, once the first slab has been taken, how large each is, how many there are to be, and how many there
	// must be at least. It gives how many there may be, or says why that is too many.
	Ring(each int64, slabs, least int) (int, error)
	// Stalled tells how long the group waited for a slab to come back.
	Stalled(d time.Duration)
}

// Traits are what the engine must know of a stage beside its work. The zero value is a stage that makes samples or
// batches of its own, in host memory.
type Traits struct {
	Serial   bool // it works on one item at a time, in order: it has one worker
	Passes   bool // it hands on the memory that it gets
	Releases bool // it lets go of its input and keeps its output itself: groups above need no slabs for what is below it
	Device   bool // it takes batches that lie on a device
	Copies   bool // its work is to copy to a device: a cause of its own in blame
	Reports  bool // it tells its service times itself, see [Env.Served]
}

// Traiter is an optional method of a declaration.
type Traiter interface{ Traits() Traits }

// BelowChecker is an optional method of a declaration that needs others below it. It gets their declarations, the next
// first.
type BelowChecker interface{ CheckBelow(below []any) error }

func traitsOf(decl any) Traits {
	if t, ok := decl.(Traiter); ok {
		return t.Traits()
	}
	return Traits{}
}

// below lists the declarations of the stages after n, in order.
func (n *node) below() (list []any) {
	for m := n.next; m != nil; m = m.next {
		list = append(list, m.decl)
	}
	return list
}

// offer hands a supply to the nearest groups above n.
func (b *builder) offer(n *node, s Slabs) {
	for _, in := range n.ins {
		if st := b.stages[in.no]; st.isGroup {
			st.supply = s
		} else if in.role == mergeRole || isFunc(in.decl) || traitsOf(in.decl).Passes {
			b.offer(in, s)
		}
	}
}

// Slab takes n bytes for a batch: from the supply that a stage below offers, else zeroed memory that belongs to the
// garbage collector. Slabs of 8 MiB and more are given huge pages, by a goroutine of the run, as long as those are had
// sooner than small ones. It is called while the pipeline runs, not in Open.
func (e *Env) Slab(n int) ([]byte, error) {
	if e.supply != nil {
		if s := e.supply(); s != nil {
			return s.Slab(n)
		}
	}
	if pool.HugeOff(n) {
		e.Degraded("no huge pages (/sys/kernel/mm/transparent_hugepage/enabled is never): the first use of each batch's memory takes up to 14 microseconds for each 4 KiB")
	}
	if e.eng == nil { // outside of a run
		b, _ := new(pool.Slabs).Take(n)
		return b, nil
	}
	b, ahead := e.slabs.Take(n)
	if ahead != nil && !e.Sync {
		e.eng.Go(func() { ahead(e.eng.Over) })
	}
	return b, nil
}

// Below lists the declarations of the stages below this one, the next first.
func (e *Env) Below() []any { return e.below }

// Served counts the service time of one item, for a stage with [Traits.Reports].
func (e *Env) Served(d time.Duration) {
	if e.meter != nil {
		e.meter.Service.Add(int64(d), 1)
	}
}

// Launched counts one launch of a sink whose host thread computes: what it needed of a processor, and how much later than
// that it was over. The report shows them as [SinkStats.Launches].
func (e *Env) Launched(took, late time.Duration) {
	if e.launched != nil {
		e.launched(took, late)
	}
}

// Fail ends the run with an error of this stage, for what goes wrong outside of its calls.
func (e *Env) Fail(err error) {
	if e.fail != nil {
		e.fail(err)
	}
}

// Shared gives what the parts of a run have in common under a key. The first to ask makes it; what it makes is closed
// after the parts that were opened later. It is called in Open.
func (e *Env) Shared(key string, open func() (any, func() error, error)) (any, error) {
	if e.shared == nil {
		v, _, err := open()
		return v, err
	}
	return e.shared(key, open)
}

// Room calls wait, which waits until there is room for the output. That time counts as waiting, not as work.
func (c *Call) Room(wait func() error) error {
	if c.room == nil {
		return wait()
	}
	return c.room(wait)
}
