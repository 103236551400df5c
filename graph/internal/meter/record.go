package meter

// Nothing here is reached, nor linked, without somebody who asks for series.

// Record keeps a series of what the stage's workers spend. It is called before they are made.
func (s *Stage) Record() {
	s.line = NewSeries(int(WaitOut)+1, false)
	before := s.begin
	s.begin = func(w *Worker) {
		if w.stage, w.cross = s, cross; before != nil {
			before(w)
		}
	}
}

// Record keeps a series of the depth.
func (d *Depth) Record() { d.line, d.cross = NewSeries(1, false), deepen }

// Record keeps a series of what is charged.
func (b *Blamer) Record() {
	b.line = NewSeries(len(b.stages)+1, false)
	before := b.note
	b.note = func(b *Blamer, stage int, from, to int64) {
		if b.line.Spread(stage, from, to, 1); before != nil {
			before(b, stage, from, to)
		}
	}
}

// cross puts what the worker has spent into the series of its stage: a time that reaches into the next bucket is split.
func cross(w *Worker, s State, now int64) {
	st := w.stage
	st.mu.Lock()
	defer st.mu.Unlock()
	w.settle(st.line)
	for i := range w.put {
		w.put[i] = w.spent[i].Load()
	}
	last := w.last.Load()
	w.put[s] += now - last
	w.edge = st.line.Spread(int(s), last, now, 1)
}

// settle adds what is not in the series of the stage yet. All of it was spent in one bucket, since it last crossed into
// another one.
func (w *Worker) settle(line *Series) {
	last := w.last.Load()
	for i := range w.put {
		line.Add(i, last, w.spent[i].Load()-w.put[i])
	}
}

// Series copies what the workers spent over time, by state. With now above 0 those at work count up to then,
// in the state that they are in.
func (s *Stage) Series(now int64) *Series {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.line.Copy()
	for _, w := range s.workers {
		w.settle(c)
		if state, since, _, _, _, ok := w.Look(); ok && now > since {
			c.Spread(int(state), since, now, 1)
		}
	}
	return c
}

// deepen is [cross] for a queue.
func deepen(d *Depth, now, count int64) {
	d.line.Add(0, d.Seen, d.Items-d.put)
	d.put = d.Items + (now-d.Seen)*count
	d.edge = d.line.Spread(0, d.Seen, now, count)
}

// Series copies items times time. With now above 0 the queue holds count items until then.
func (d *Depth) Series(now, count int64) *Series {
	c := d.line.Copy()
	c.Add(0, d.Seen, d.Items-d.put)
	if now > d.Seen {
		c.Spread(0, d.Seen, now, count)
	}
	return c
}

// Series copies what was charged over time, by stage; the last sum is what no stage was charged with.
func (b *Blamer) Series() *Series {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line.Copy()
}
