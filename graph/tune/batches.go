package tune

// assign gives the next input its row. It says whether a worker has something to do now.
func (w *world) assign(st *station) bool {
	in := st.ins[0]
	if in.count == 0 {
		if st.open > 0 && in.over() {
			w.shut(st)
		}
		return false
	}
	epoch := in.ring[in.head].epoch
	if st.open > 0 && st.openEpoch != epoch {
		w.shut(st)
		return true
	}
	if st.open == 0 {
		if st.used == st.s.slabs() {
			return false
		}
		st.used++
		st.openOrd, st.openEpoch = st.taken, epoch
		st.taken++
		*st.part(st.openOrd) = part{mark: mark{epoch: epoch, slab: st.no + 1}, left: int32(st.s.Group)}
	}
	st.open++
	ord := st.openOrd
	if st.open == st.s.Group {
		st.open = 0
	}
	m := w.take(in)
	w.begin(st, ord, m)
	return true
}

// shut ends a short group: no more rows will come to it.
func (w *world) shut(st *station) {
	p := st.part(st.openOrd)
	p.left -= int32(st.s.Group - st.open)
	st.open = 0
	if p.left == 0 { // nobody else will hand it on
		p.left = 1
		st.free--
		w.put(st, st.openOrd)
		w.feed(st.next)
	}
}
