package jpeg

// The scan that holds all components of a sequential picture is decoded row by row, straight into samples. Its
// machinery of rows, restart markers and damage serves the scans of stored.go too.

// planBlocks lists the blocks of an MCU and their tables, and counts the MCUs.
func (d *Decoder) planBlocks() error {
	h := &d.h
	d.blocks, d.cols, d.rows = d.blocks[:0], h.mcusX(), h.mcusY()
	for i := range h.scan.n {
		sc := h.scan.comps[i]
		c := &d.planes[sc.comp]
		b := mcuBlock{plane: c, k: sc.comp, zq: &c.zq, places: &c.places, dcOnly: c.size == 1, step: c.h}
		if err := d.scanTables(&b, sc); err != nil {
			return err
		}
		if h.scan.n == 1 {
			b.step = 1
			d.cols, d.rows = c.rw, c.rh
			d.blocks = append(d.blocks, b)
			return nil
		}
		for b.v = range c.v {
			for b.off = range c.h {
				d.blocks = append(d.blocks, b)
			}
		}
	}
	return nil
}

// scanTables finds the Huffman tables a scan needs for a component.
func (d *Decoder) scanTables(b *mcuBlock, sc scanComponent) (err error) {
	s := &d.h.scan
	if s.ss == 0 && s.ah == 0 || !d.h.progressive {
		if b.dc, err = d.tab.dcFor(&d.h, sc.dc); err != nil {
			return err
		}
	}
	switch {
	case !d.h.progressive:
		b.ac, err = d.tab.acFor(&d.h, sc.ac)
	case s.ss > 0:
		d.prog.table, err = d.tab.progFor(&d.h, sc.ac)
	}
	return err
}

// begin readies the state of a scan and goes to its first byte.
func (d *Decoder) begin() error {
	if err := d.planBlocks(); err != nil {
		return err
	}
	d.pred = [4]int32{}
	d.dead, d.base, d.sought, d.prog.eobRun = 0, 0, true, 0
	d.src.odd, d.src.clean = false, d.lenient
	d.src.seek(d.h.data, d.h.scan.data, 0, len(d.h.data))
	return nil
}

// sequential decodes rows of MCUs up to the last wanted one and emits pixels as they become ready.
func (d *Decoder) sequential() error {
	if err := d.begin(); err != nil {
		return err
	}
	last := d.lastRow
	if d.mk.making {
		last = d.rows - 1
	}
	jump := len(d.ix.b) > 0
	for my := d.enter(); my <= last; my++ {
		start, end, err := d.columns(my, jump)
		if err != nil {
			return err
		}
		jump = end < d.cols
		if err := d.mcuRow(my, start, end); err != nil {
			return err
		}
		if my >= d.firstRow && my <= d.lastRow {
			d.emitRows(my)
		}
	}
	return nil
}

// batch is how many MCUs are decoded before they are transformed: few enough for their coefficients to stay in the
// first-level cache beside the code tables. bench/jpeg: whole rows cost 10 % more, 8 at a time 1 %, 4 at a time 3 %.
const batch = 16

// aim points the blocks at the planes' room for a batch from column mx of row my on, and cuts end to what is all
// wanted or all not.
func (d *Decoder) aim(my, mx, end int) int {
	if d.h.several() {
		return end
	}
	d.base = mx
	idle := my < d.firstRow || my > d.lastRow || mx >= d.lastCol
	switch {
	case idle:
	case mx < d.firstCol:
		end, idle = min(end, d.firstCol), true
	default:
		end = min(end, mx+batch, d.lastCol)
	}
	for i := range d.blocks {
		b := &d.blocks[i]
		c := b.plane
		y := (my*c.v + b.v) * c.size
		if idle || y >= c.y1 || y+c.size <= c.y0 {
			b.lo, b.hi = 0, 0
			continue
		}
		b.lo, b.hi = max(c.bx0-mx*c.h, 0), min(c.bx1-mx*c.h, batch*c.h)
		b.coef, b.last = c.coef[b.v*batch*c.h*64:], c.last[b.v*batch*c.h:]
	}
	return end
}

// mcuRow decodes MCUs [mx,end) of row my, in pieces cut where a restart marker or an index entry stands between two,
// and transforms what is wanted of them unless more scans will come.
func (d *Decoder) mcuRow(my, mx, end int) error {
	h := &d.h
	for mx < end {
		m := my*d.cols + mx
		stop := d.aim(my, mx, end)
		if m < d.dead {
			stop = min(stop, mx+d.dead-m)
			d.transform(my, mx, stop)
			mx = stop
			continue
		}
		if h.ri > 0 {
			if m%h.ri == 0 && !d.sought {
				if err := d.restart(m); err != nil {
					if !d.lose(err, m) {
						return err
					}
					continue
				}
			}
			stop = min(stop, mx+h.ri-m%h.ri)
		}
		d.sought = false
		if d.mk.making {
			stop = min(stop, d.mk.note(d, my, mx))
		}
		if d.lenient {
			stop = mx + 1
		}
		at, ok := d.piece(mx-d.base, stop-d.base)
		at += d.base
		d.work += (at - mx) * len(d.blocks)
		if !ok || d.src.overrun() {
			err := d.broken(my, ok)
			if !d.lose(err, my*d.cols+at-b2i(ok)) {
				return err
			}
			continue
		}
		d.transform(my, mx, stop)
		mx = stop
	}
	return nil
}

// piece decodes MCUs [mx,end) of the row at hand by the kind of scan.
func (d *Decoder) piece(mx, end int) (int, bool) {
	s := &d.h.scan
	switch {
	case !d.h.progressive && haveKernels && !d.pure:
		return d.spanFast(mx, end)
	case !d.h.progressive:
		return d.span(mx, end)
	case s.ss == 0 && s.ah == 0:
		return d.dcFirst(mx, end)
	case s.ss == 0:
		return d.dcRefine(mx, end)
	case s.ah == 0:
		return d.acFirst(mx, end)
	}
	return d.acRefine(mx, end)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// broken tells what stopped the decoding in row my.
func (d *Decoder) broken(my int, overrun bool) *Error {
	at, _ := d.src.pos()
	rows := d.rows
	if !overrun && !d.src.overrun() {
		return fail(ErrDamaged, at, "the picture is damaged: no such code or too many coefficients in block row %d of %d", my+1, rows)
	}
	at = d.src.raw
	if m := d.nextMarker(); m != 0 && m != mEOI {
		return fail(ErrDamaged, at, "the picture is damaged: %s marker after %d of %d block rows", markerName(m), my, rows)
	}
	return fail(ErrCutShort, at, "the picture is cut short: %d of %d block rows decoded", my, rows)
}

// nextMarker peeks at the marker that ended the entropy-coded data, 0 at the end of the data.
func (d *Decoder) nextMarker() byte {
	h := header{data: d.h.data, at: d.src.raw}
	m, _, ok := h.marker()
	if !ok {
		return 0
	}
	return m
}

// restart steps over the restart marker before MCU m.
func (d *Decoder) restart(m int) error {
	s := &d.src
	want := byte(m/d.h.ri-1) & 7
	at := s.toMarker()
	if at >= len(s.data) {
		return fail(ErrCutShort, at, "the picture is cut short: no restart marker %d before MCU %d of %d", want, m, d.cols*d.rows)
	}
	got := d.nextMarker()
	if got != mRST0|want {
		kind := ErrDamaged
		if got == mEOI {
			kind = ErrCutShort
		}
		return fail(kind, at, "%s marker, wanted restart marker %d before MCU %d of %d", markerName(got), want, m, d.cols*d.rows)
	}
	d.pred, d.prog.eobRun = [4]int32{}, 0
	s.seek(s.data, at+2, 0, len(s.data))
	return nil
}

// lose gives up the MCUs from m on, in a lenient decode: up to the next restart marker, or the rest of the scan. It
// is false in a strict one. The blocks of an MCU that broke half way are made grey too.
func (d *Decoder) lose(err error, m int) bool {
	if !d.lenient {
		return false
	}
	if d.damage == nil {
		d.damage = err
	}
	h := &d.h
	for i := range d.blocks {
		b := &d.blocks[i]
		if at := (m%d.cols-d.base)*b.step + b.off; at >= b.lo && at < b.hi && !h.progressive {
			clear(b.coef[at*64 : at*64+64])
			b.last[at] = 0
		}
	}
	d.dead = d.cols * d.rows
	if h.ri == 0 {
		return true
	}
	s := &d.src
	at := s.toMarker()
	if got := d.nextMarker(); got&0xF8 == mRST0 {
		j := m / h.ri
		d.dead = (j + 1 + (int(got&7)-j)&7) * h.ri
		d.pred, d.sought, d.prog.eobRun = [4]int32{}, true, 0
		s.seek(s.data, at+2, 0, len(s.data))
	}
	return true
}
