package tune

import "math/rand/v2"

// mark is what is known of an item on its way: the epoch that it is of, and whose slab it lies in (0: none).
type mark struct {
	epoch int32
	slab  int32
	hold  int32 // what of the byte budget is set aside for it; 0: nothing
}

// job is an item under a worker.
type job struct {
	began float64
	ord   int64
	mark  mark
}

// part is finished work that waits for its turn or for room: outputs of the input with an ordinal, or a group.
type part struct {
	mark mark
	left int32 // outputs not yet handed on; of a group that is filled, rows
	done bool
	held bool // its worker is still with it
	at   float64
}

// station is a stage at work in a simulation. Workers have no names: only how many are free counts.
type station struct {
	no    int32
	s     *Stage
	ins   []*station
	next  *station
	turn  int     // of a merge
	given []int64 // of a mix: outputs by input
	deck  deck
	cpu   bool
	free  int
	jobs  []job
	spare []int32 // places of jobs

	// The queue behind it.
	ring  []mark
	head  int
	count int

	// Order is restored by ordinals, as in the engine.
	taken, out int64
	parts      []part
	waiting    []int64 // where order is not kept: finished, and no room
	acc        float64 // fractions of outputs

	// Of a source.
	left, each int64
	gate       *gate // nil: without a byte budget

	// Of a group.
	open, used int // rows placed in the open group, 0: none is open; slabs in use
	openOrd    int64
	openEpoch  int32

	asked              []float64 // of a sink: since when its free workers wait
	busy, held, queued float64
	seen               float64
	items              int64
}

func newStation(no int, s *Stage, sharesCores bool, seed uint64) *station {
	st := &station{no: int32(no), s: s, free: max(1, s.Workers), deck: newDeck(s.Time, seed, uint64(no)), cpu: sharesCores && !s.Waits && !s.Sink}
	st.jobs = make([]job, st.free)
	for i := range st.jobs {
		st.spare = append(st.spare, int32(i))
	}
	if s.Shares != nil {
		st.given = make([]int64, len(s.Shares))
	}
	if !s.Sink {
		st.ring = make([]mark, pow2(s.room()))
		st.parts = make([]part, pow2(max(s.window(), s.slabs())+st.free+2))
	}
	return st
}

func (s *Stage) room() int   { return max(1, s.Buffer) }
func (s *Stage) window() int { return max(1, s.Window) }

// slabs is what a report says, or enough for queue and workers where it does not.
func (s *Stage) slabs() int {
	switch {
	case s.Group == 0:
		return 0
	case s.Slabs > 0:
		return s.Slabs
	}
	return s.room() + s.Workers + 2
}

func pow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func (st *station) part(ord int64) *part { return &st.parts[int(ord)&(len(st.parts)-1)] }

// due is the input whose turn it is in a mix: the one that lacks most of its share, of those that are not through; -1:
// wait, or all are.
func (st *station) due() int {
	best, most, sum := -1, 0.0, int64(0)
	for _, n := range st.given {
		sum += n
	}
	for i, in := range st.ins {
		if lacks := st.s.Shares[i]*float64(sum+1) - float64(st.given[i]); !in.over() && (best < 0 || lacks > most) {
			best, most = i, lacks
		}
	}
	if best >= 0 && st.ins[best].count == 0 {
		return -1
	}
	return best
}

// push puts an item into the queue.
func (st *station) push(m mark, now float64) {
	st.account(now)
	st.ring[(st.head+st.count)&(len(st.ring)-1)] = m
	st.count++
}

func (st *station) pop(now float64) mark {
	st.account(now)
	m := st.ring[st.head]
	st.head = (st.head + 1) & (len(st.ring) - 1)
	st.count--
	return m
}

func (st *station) account(now float64) {
	st.queued += float64(st.count) * (now - st.seen)
	st.seen = now
}

// over says that nothing more will come out of the station.
func (st *station) over() bool {
	if st.gate != nil && len(st.gate.waiting) > 0 {
		return false
	}
	if st.count > 0 || st.left > 0 || st.open > 0 || len(st.waiting) > 0 || st.out < st.taken && st.s.Ordered || len(st.spare) < len(st.jobs) {
		return false
	}
	for _, in := range st.ins {
		if !in.over() {
			return false
		}
	}
	return true
}

// outputs is how many outputs the next input has: the recorded ratio, spread evenly.
func (st *station) outputs() int32 {
	if st.s.Out == 1 {
		return 1
	}
	st.acc += st.s.Out
	n := int32(st.acc + 1e-9)
	st.acc -= float64(n)
	return n
}

// deck deals recorded times in random order, each as often as it was recorded before any comes again: so a short
// simulation has the recorded mean, and a rare long time as often as there was one.
type deck struct {
	cards []float64
	at    int
	rand  *rand.Rand
}

func newDeck(t Times, seed, stream uint64) deck {
	d := deck{cards: t.cards(), rand: rand.New(rand.NewPCG(seed, stream))}
	d.at = len(d.cards)
	return d
}

func (d *deck) deal() float64 {
	if len(d.cards) == 1 {
		return d.cards[0]
	}
	if d.at == len(d.cards) {
		d.rand.Shuffle(len(d.cards), func(i, k int) { d.cards[i], d.cards[k] = d.cards[k], d.cards[i] })
		d.at = 0
	}
	d.at++
	return d.cards[d.at-1]
}
