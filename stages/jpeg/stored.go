package jpeg

// Pictures of several scans: all coefficients are kept until the last scan, then rows are transformed as in
// sequential.go.

// progressive is the state of a scan of AC coefficients.
type progressive struct {
	table  *progTable
	eobRun int // blocks still to come that this scan leaves alone
}

// stored reads all scans, checks that nothing is missing, and emits the wanted rows.
func (d *Decoder) stored() error {
	d.keep()
	if err := d.scans(); err != nil {
		return err
	}
	if err := d.complete(); err != nil {
		if !d.lenient {
			return err
		}
		if d.damage == nil {
			d.damage = err
		}
	}
	for my := d.firstRow; my <= d.lastRow; my++ {
		for d.base = d.firstCol; d.base < d.lastCol; d.base += batch {
			for k := range d.h.nc {
				if c := &d.planes[k]; c.y1 > 0 {
					end := min(d.base+batch, d.lastCol)
					d.fetch(c, my, end)
					d.transformPlane(c, my, d.base, end)
				}
			}
		}
		d.emitRows(my)
	}
	return nil
}

// keep makes room for the blocks down to the last wanted MCU row.
func (d *Decoder) keep() {
	for k := range d.h.nc {
		c := &d.planes[k]
		c.latched = false
		for i := range c.known {
			c.known[i] = -1
		}
		n := c.bw * c.v * (d.lastRow + 1)
		if c.y1 == 0 {
			n = 0
		}
		c.store = grow(c.store, n*64)
		clear(c.store)
		ends, words := n, 0
		if d.h.progressive {
			ends, words = 0, n
		}
		c.ends, c.nonzero = grow(c.ends, ends), grow(c.nonzero, words)
		clear(c.ends)
		clear(c.nonzero)
	}
}

// scans reads scan after scan.
func (d *Decoder) scans() error {
	h := &d.h
	for n := 1; ; n++ {
		if n > d.maxScans {
			return fail(ErrLimit, h.scan.data, "the picture has more than %d scans, which is the limit", d.maxScans)
		}
		d.src.raw = h.scan.data
		if err := d.storeScan(); err != nil && !d.forgive(err) {
			return err
		}
		h.at = d.src.raw
		more, err := h.next()
		if err != nil && !d.forgive(err) {
			return err
		}
		if err != nil || !more {
			return nil
		}
	}
}

// forgive notes damage in a lenient decode.
func (d *Decoder) forgive(err error) bool {
	if d.lenient && d.damage == nil {
		d.damage = err
	}
	return d.lenient
}

// storeScan decodes the scan at hand into the stores, down to the last row somebody wants.
func (d *Decoder) storeScan() error {
	last := d.wantScan()
	if last < 0 {
		return nil
	}
	if err := d.latch(); err != nil {
		return err
	}
	if err := d.begin(); err != nil {
		return err
	}
	for my := 0; my <= min(last, d.rows-1); my++ {
		for i := range d.blocks {
			d.blocks[i].placeStored(my, len(d.blocks) == 1)
		}
		if err := d.mcuRow(my, 0, d.cols); err != nil {
			return err
		}
	}
	s := &d.h.scan
	for i := range s.n {
		c := &d.planes[s.comps[i].comp]
		if !d.h.progressive {
			c.known = [64]int8{}
			continue
		}
		for k := s.ss; k <= s.se; k++ {
			c.known[k] = int8(s.al)
		}
	}
	return nil
}

// wantScan gives the last row of the scan's MCUs that holds something wanted, -1 for none.
func (d *Decoder) wantScan() int {
	s := &d.h.scan
	last := -1
	for i := range s.n {
		c := &d.planes[s.comps[i].comp]
		if c.y1 == 0 {
			continue
		}
		row := (c.y1 - 1) / c.size // of blocks
		if s.n > 1 {
			row = d.lastRow
		}
		last = max(last, row)
	}
	return last
}

// latch fixes the quantizers of components that appear for the first time: later ones under the same number do not
// count. A sequential component appears once.
func (d *Decoder) latch() error {
	s := &d.h.scan
	for i := range s.n {
		k := s.comps[i].comp
		c := &d.planes[k]
		if !d.h.progressive && c.known[0] == 0 {
			return fail(ErrDamaged, s.data, "component %d has a second scan", k)
		}
		if c.latched || c.y1 == 0 {
			continue
		}
		tq := d.h.comps[k].tq
		if !d.h.qtSeen[tq] {
			return fail(ErrDamaged, s.data, "quantizer %d, which component %d wants, was never sent", tq, k)
		}
		c.setQuantizer(&d.h.qt[tq], d.order(c), true)
		c.latched = true
	}
	return nil
}

// placeStored points the block at its row in the store.
func (b *mcuBlock) placeStored(my int, alone bool) {
	c := b.plane
	row := my*c.v + b.v
	if alone {
		row = my
	}
	b.lo, b.hi, b.coef = 0, 0, nil
	if (row+1)*c.bw*64 > len(c.store) {
		return
	}
	b.dcOnly = false
	b.lo, b.hi = 0, c.bw
	b.coef = c.store[row*c.bw*64 : (row+1)*c.bw*64]
	if len(c.ends) > 0 {
		b.last = c.ends[row*c.bw : (row+1)*c.bw]
	}
	if len(c.nonzero) > 0 {
		b.nonzero = c.nonzero[row*c.bw : (row+1)*c.bw]
	}
}

// complete checks that every bit of every wanted coefficient came.
func (d *Decoder) complete() error {
	for k := range d.h.nc {
		c := &d.planes[k]
		if c.y1 == 0 {
			continue
		}
		for i, b := range c.known {
			if b != 0 {
				return fail(ErrCutShort, d.h.at, "the picture is cut short: the scans with the last bits of coefficient %d of component %d are missing",
					i, k)
			}
		}
	}
	return nil
}

// fetch readies the wanted blocks of row my from column d.base on: it multiplies them into the plane's room for a
// batch, and fills last. The kernel takes them from the store and multiplies by itself.
func (d *Decoder) fetch(c *plane, my, end int) {
	x := max(c.bx0, d.base*c.h)
	n := min(c.bx1, end*c.h) - x
	if n <= 0 {
		return
	}
	for v := range c.v {
		y := (my*c.v + v) * c.size
		if y >= c.y1 || y+c.size <= c.y0 {
			continue
		}
		from, to := (my*c.v+v)*c.bw+x, v*batch*c.h+x-d.base*c.h
		if d.h.progressive {
			for j := range n {
				c.last[to+j] = lastOf(c.nonzero[from+j])
			}
		} else {
			copy(c.last[to:to+n], c.ends[from:from+n])
		}
		for j := range n {
			if !d.fast(c) {
				multiply((*[64]int16)(c.coef[(to+j)*64:]), (*[64]int16)(c.store[(from+j)*64:]), &c.quant, c.last[to+j])
			}
		}
	}
}

// multiply multiplies a block by the quantizer, modulo 2^16.
func multiply(dst, src *[64]int16, q *[64]int16, last uint8) {
	if last == 0 {
		dst[0] = src[0] * q[0]
		return
	}
	for i := range dst {
		dst[i] = src[i] * q[i]
	}
}
