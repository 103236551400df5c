package meter

// Depth is how full a queue is over time. Its owner sees to it that one at a time uses it.
type Depth struct {
	Items int64 // items times the time they were there
	Full  int64 // time in which there was one
	Seen  int64 // until when the two are counted

	cross     func(d *Depth, now, count int64) // as those of a worker
	edge, put int64
	line      *Series
	tape      *Tape
}

// Account adds the time since the last change, in which the queue held count items.
func (d *Depth) Account(now int64, count int) {
	if t := now - d.Seen; t > 0 {
		if d.cross != nil && now >= d.edge {
			d.cross(d, now, int64(count))
		}
		if d.tape != nil {
			d.tape.add(Span{From: d.Seen, To: now, Place: int64(count)})
		}
		d.Items += t * int64(count)
		if count > 0 {
			d.Full += t
		}
		d.Seen = now
	}
}
