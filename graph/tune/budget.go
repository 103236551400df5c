package tune

import (
	"fmt"
	"math"
)

// The engine has so many batches at least, however small the budget is; where all together take little, more than asked.
const (
	leastSlabs     = 2
	smallSlabs     = 16 << 20 // bytes
	mostSmallSlabs = 64
)

// budget takes what a report tells of the byte budget.
func (d *document) budget(p *Profile) {
	if d.Memory.Budget == nil || *d.Memory.Budget <= 0 {
		return
	}
	p.Memory, p.Hold = *d.Memory.Budget, max(1, d.Memory.Hold)
	p.Fixed = max(0, float64(d.Memory.Fixed)-p.slabs())
}

// needs tells what is set aside for an item of each source: also what a cache gave counts, which is let in anew.
func (d *document) needs(p *Profile) {
	for i := range d.Stages {
		x := &d.Stages[i]
		at := p.index(x.ID)
		if x.Admitted == nil || x.Admitted.Items <= 0 || at < 0 {
			continue
		}
		for len(p.Stages[at].From) == 1 { // a cache has one source
			at = p.Stages[at].From[0]
		}
		if s := &p.Stages[at]; len(s.From) == 0 {
			if s.let += float64(x.Admitted.Items); s.sizes.Mean() == 0 {
				s.sizes = sizesOf(float64(x.Admitted.Bytes)/float64(x.Admitted.Items), x.Admitted.Sizes)
			}
			s.Need += (float64(x.Admitted.Bytes)/float64(x.Admitted.Items) - s.Need) * float64(x.Admitted.Items) / s.let
		}
	}
}

// giga turns bytes into what times are counted in, so that ranges of sizes can be dealt as those of times are.
const giga = 1e9

// sizesOf makes a distribution of ranges of sizes and their mean.
func sizesOf(mean float64, ranges []bucket) Times {
	all := make([]bucket, len(ranges))
	for i, b := range ranges {
		all[i] = bucket{b.Upto / giga, b.Count}
	}
	return recorded(mean/giga, all)
}

// slabs is the bytes of all batches' memory.
func (p *Profile) slabs() (sum float64) {
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Group > 0 {
			sum += float64(s.Slabs) * s.SlabBytes
		}
	}
	return sum
}

// room is how many bytes the budget has for items under way; ok is false where there is no budget, or the report does
// not tell what is set aside for an item.
func (p *Profile) room() (bytes float64, ok bool) {
	if p.Memory <= 0 {
		return 0, false
	}
	for i := range p.Stages {
		if s := &p.Stages[i]; len(s.From) == 0 && s.Need <= 0 {
			return 0, false
		}
	}
	return max(1, float64(p.Memory)-p.Fixed-p.slabs()), true
}

// byMemory is the rate of items of the sink that the budget allows, by Little's law: what is set aside for all that is
// inside is at most the room, and an item is inside at least as long as the stages below its source work on it. 0: no
// limit.
func (p *Profile) byMemory() float64 {
	room, ok := p.room()
	if !ok {
		return 0
	}
	busy, pass, need, sources := 0.0, 0.0, 0.0, 0
	for i := range p.Stages {
		s := &p.Stages[i]
		if len(s.From) > 0 || s.Visits == 0 {
			continue
		}
		busy += s.Visits * s.Need * p.inside(i)
		pass += float64(max(1, p.Hold)) * s.Need
		if sources++; s.sizes.Spread() < 0.01 {
			need = s.Need
		}
	}
	if sources == 1 && need > 0 { // whole items
		room = math.Floor(room/need+1e-9) * need
	}
	return max(room, pass) / busy
}

// inside is for how many seconds at least an item of a source is under way until its bytes are given back: stages work
// on it, and it waits until its list is full, as items come from a single worker one by one.
func (p *Profile) inside(source int) (seconds float64) {
	share := 1.0 // of the items that come so far
	apart := p.Stages[source].apart()
	for at := p.after(source); at >= 0; at = p.after(at) {
		s := &p.Stages[at]
		seconds += share * s.Time.Mean()
		apart = max(apart, s.apart())
		switch {
		case s.Group > 0 && !s.Keeps:
			return seconds
		case s.Group > 0:
			seconds += share * float64(s.Group-1) / 2 * apart
		case s.Out < 1:
			share *= s.Out
		}
	}
	return seconds
}

// apart is how many seconds lie between the items of a stage at least, however they come.
func (s *Stage) apart() float64 {
	if s.Workers > 1 {
		return 0
	}
	return s.Time.Mean()
}

// after is the stage that reads from another; -1: none.
func (p *Profile) after(at int) int {
	for i := at + 1; i < len(p.Stages); i++ {
		for _, from := range p.Stages[i].From {
			if from == at {
				return i
			}
		}
	}
	return -1
}

// memory sets another budget. Batches get half of it at most, as in the engine.
func (p *Profile) memory(bytes float64) error {
	if !(bytes >= 1 && bytes < 1<<60) {
		return fmt.Errorf("memory: wanted at least one byte, got %s", size(bytes))
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		if s.Group == 0 || s.SlabBytes <= 0 {
			continue
		}
		if leastSlabs*s.SlabBytes > bytes {
			return fmt.Errorf("memory: two batches of %q take %s, wanted at least that, got %s", s.ID, size(leastSlabs*s.SlabBytes), size(bytes))
		}
		wanted := s.Slabs
		if p.Memory > 0 && float64(s.Slabs+1)*s.SlabBytes > float64(p.Memory)/2 { // there were as many as the budget had room for
			wanted = p.ring(i)
		}
		s.Slabs = min(wanted, max(leastSlabs, int(min(most, bytes/2/s.SlabBytes))))
	}
	p.Memory = int64(bytes)
	room, ok := p.room()
	if !ok {
		return fmt.Errorf("memory: the report does not tell how many bytes are set aside for an item of the source")
	}
	for i := range p.Stages {
		if s := &p.Stages[i]; len(s.From) == 0 && s.Need > room {
			return fmt.Errorf("memory: %s are set aside for an item of %q on average, and %s would be left for items; wanted at least %s, got %s",
				size(s.Need), s.ID, size(room), size(float64(p.Memory)-room+s.Need), size(bytes))
		}
	}
	return nil
}

// ring is how many batches there are where nothing keeps them from it: one that is filled, one that the sink has, and
// what queues and workers below hold.
func (p *Profile) ring(at int) int {
	n := leastSlabs + p.Stages[at].room()
	for i := p.after(at); i >= 0 && !p.Stages[i].Sink; i = p.after(i) {
		n += p.Stages[i].Workers + p.Stages[i].room()
	}
	return max(p.Stages[at].Slabs, n, int(min(mostSmallSlabs, smallSlabs/p.Stages[at].SlabBytes)))
}

// gate lets the items of a source in as there are bytes for them.
type gate struct {
	st      *station
	sizes   deck
	next    int64          // the oldest ordinal that is not inside
	ahead   map[int64]bool // that passed before their turn
	inside  int64
	waiting []int64 // ordinals; their workers stay with them
}

// hold is what is set aside for an item, or for one of those in a list.
type hold struct {
	gate  *gate
	need  float64
	users int32
	next  int32 // another of the list; 0: none
}

// account is the byte budget of a simulation: without one, nothing is kept.
type account struct {
	room, used, largest float64
	pass                int64 // of each source, whatever there is room for
	gates               []*gate
	holds               []hold // the first is none
	spare               []int32
}

func newAccount(p *Profile, stations []*station, seed uint64) *account {
	room, ok := p.room()
	if !ok {
		return nil
	}
	a := &account{room: room, pass: max(1, p.Hold), holds: make([]hold, 1)}
	for _, st := range stations {
		if len(st.ins) == 0 {
			sizes := Fixed(st.s.Need / giga)
			if mean := st.s.sizes.Mean(); mean > 0 {
				sizes = st.s.sizes.Scaled(st.s.Need / giga / mean)
			}
			st.gate = &gate{st: st, sizes: newDeck(sizes, seed, uint64(st.no)<<32|1), ahead: map[int64]bool{}}
			a.gates = append(a.gates, st.gate)
		}
	}
	return a
}

// ask notes an item that wants in.
func (a *account) ask(g *gate) (h int32) {
	if n := len(a.spare); n > 0 {
		h, a.spare = a.spare[n-1], a.spare[:n-1]
	} else {
		h = int32(len(a.holds))
		a.holds = append(a.holds, hold{})
	}
	need := min(math.Round(g.sizes.deal()*giga), a.room) // a larger one would end the run
	a.largest = max(a.largest, need)
	a.holds[h] = hold{gate: g, need: need, users: 1}
	return h
}

// take sets bytes aside for the item of an ordinal, if it may pass now: the oldest where there is room for it or few are
// inside, a later one where there would still be room for the largest.
func (a *account) take(g *gate, ord int64, need float64) bool {
	if ord == g.next {
		if g.inside-int64(len(g.ahead)) >= a.pass && a.used+need > a.room {
			return false
		}
		for g.next++; g.ahead[g.next]; g.next++ {
			delete(g.ahead, g.next)
		}
	} else {
		if a.used+need+a.largest > a.room {
			return false
		}
		g.ahead[ord] = true
	}
	g.inside++
	a.used += need
	return true
}

// split counts the outputs of an item; none gives its bytes back.
func (a *account) split(h int32, outputs int32) {
	if a == nil || h == 0 {
		return
	}
	if a.holds[h].users += outputs - 1; a.holds[h].users <= 0 {
		a.give(h)
	}
}

// end gives the bytes of an item back, when nothing of it is left.
func (a *account) end(h int32) { a.split(h, 0) }

func (a *account) give(h int32) {
	for h != 0 {
		x := &a.holds[h]
		x.gate.inside--
		a.used -= x.need
		a.spare = append(a.spare, h)
		h, x.next = x.next, 0
	}
}

// tie adds what is set aside for an item to a list's.
func (a *account) tie(list, h int32) int32 {
	if a == nil || h == 0 {
		return list
	}
	if a.holds[h].users--; a.holds[h].users > 0 { // its siblings may be given back later than the list: the last one decides
		return list
	}
	last := h
	for a.holds[last].next != 0 {
		last = a.holds[last].next
	}
	a.holds[h].users, a.holds[last].next = 1, list
	return h
}

// admit lets in what waits: of each source the oldest, the last source first, as the engine wakes them.
func (w *world) admit() {
	for again := true; again; {
		again = false
		for i := len(w.account.gates) - 1; i >= 0; i-- {
			again = w.letIn(w.account.gates[i]) || again
		}
	}
}

// letIn lets the oldest item that waits at a gate in, if it may pass.
func (w *world) letIn(g *gate) bool {
	if len(g.waiting) == 0 {
		return false
	}
	first := 0
	for i, ord := range g.waiting {
		if ord < g.waiting[first] {
			first = i
		}
	}
	ord := g.waiting[first]
	p := g.st.part(ord)
	if !w.account.take(g, ord, w.account.holds[p.mark.hold].need) {
		return false
	}
	last := len(g.waiting) - 1
	g.waiting[first] = g.waiting[last]
	g.waiting = g.waiting[:last]
	g.st.held += w.now - p.at
	w.put(g.st, ord)
	w.feed(g.st)
	w.feed(g.st.next)
	return true
}
