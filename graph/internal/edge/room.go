package edge

// bounds is how many items an edge lets in: room in the ring, and beyond it reach for what is finished early.
type bounds struct {
	_              [0]func() // not to be compared: programs need no code for that
	cfg            Config
	kp             int // slice length of the last producer
	wide           int // an auto buffer of slabs, see Widen
	deep, ahead    int // what an auto buffer and an auto window hold at least, see Deepen
	buffer, window growth
}

// growth is how far an auto limit has grown: it doubles each time the consumer runs out of items after the limit has held
// work up, or has someone idle while it does. Reading far ahead of a consumer that is served takes memory, and a processor from it, most of all while a
// run begins. tf.data's prefetch grows so.
type growth struct {
	hit   bool // since it doubled last
	times int
}

// enough doublings bring any limit to where it ends.
const enough = 10

func (g *growth) double() bool {
	if !g.hit || g.times == enough {
		return false
	}
	g.hit = false
	g.times++
	return true
}

// room is the capacity of the ring now.
func (b *bounds) room() int {
	ends := b.most()
	if b.cfg.Buffer > 0 || b.cfg.Slabs {
		return ends
	}
	return min(ends, max(b.cfg.Least, b.deep, max(4*b.kp, 2*b.cfg.Consumers, b.crowd()/8)<<b.buffer.times))
}

// most is what room may grow to.
func (b *bounds) most() int {
	if b.cfg.Buffer > 0 {
		return b.cfg.Buffer
	}
	if b.cfg.Slabs {
		return max(2*b.cfg.Producers, b.wide, b.cfg.Least, b.deep)
	}
	return max(b.crowd(), 4*b.kp, b.cfg.Least, b.deep)
}

// crowd is how many items an auto buffer may hold for the sake of many workers alone.
func (b *bounds) crowd() int { return min(2*b.cfg.Producers, most) }

// most is how many items a buffer has room for, for the sake of many workers alone, and herd how many of their slices may
// be finished ahead, unless one of each is more: a thousand workers that are quicker than what follows would fill both, with
// more than the processor's caches hold (decision 30).
const (
	most = 512
	herd = 2048
)

// Leeway is how many slices of each producer an auto window may grow to hold.
func Leeway(producers int) int { return min(4, max(1, herd/producers)) }

// reach is the window that is used now: an auto window begins with one slice a producer.
func (b *bounds) reach() int {
	if b.cfg.Window > 0 {
		return b.cfg.Window
	}
	return max(b.ahead, min(Leeway(b.cfg.Producers), 1<<b.window.times)*b.kp*b.cfg.Producers)
}

// farthest is what reach may grow to.
func (b *bounds) farthest() int {
	if b.cfg.Window > 0 {
		return b.cfg.Window
	}
	return max(b.ahead, Leeway(b.cfg.Producers)*b.kp*b.cfg.Producers)
}

// lack notes that the consumer waits, after it had something, and says whether there is room for more now.
func (b *bounds) lack() bool {
	more, further := b.buffer.double(), b.window.double()
	return more || further
}

// Widen sets an auto buffer of items that hold slabs.
func (e *Edge[T]) Widen(n int) {
	e.mu.Lock()
	e.wide = n
	e.mu.Unlock()
}

// LongestSlice is that of so many producers, where nothing is set.
func LongestSlice(producers int) int { return min(MaxSlice, max(fewSlice, maxHeld/producers)) }

// Bound is the longest slice that a producer may use.
func (e *Edge[T]) Bound() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := LongestSlice(e.cfg.Producers)
	if e.cfg.Buffer > 0 || e.cfg.Slabs {
		b = min(b, e.room()/2)
	}
	if e.cfg.Window > 0 && e.cfg.Ordered && e.cfg.Producers > 1 {
		b = min(b, e.cfg.Window/(2*e.cfg.Producers))
	}
	return max(1, b)
}
