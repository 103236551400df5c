package tune

// event is the end of a job: of which station, and in which of its places.
type event struct {
	at  float64
	seq uint64 // events of the same time happen in the order in which they began
	st  int32
	job int32
}

func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// calendar is a heap of events with four children to a node: half as deep as one with two, and the four lie in one or
// two lines of the cache.
type calendar []event

func (c *calendar) push(e event) {
	h := append(*c, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	*c = h
}

func (c *calendar) pop() event {
	h := *c
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*c = h
	i := 0
	for {
		least := 4*i + 1
		if least >= len(h) {
			break
		}
		for k := least + 1; k < min(4*i+5, len(h)); k++ {
			if h[k].before(h[least]) {
				least = k
			}
		}
		if !h[least].before(last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
