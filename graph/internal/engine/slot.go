package engine

// span is where an epoch begins: the ordinals of its first input and of its first output.
type span struct {
	epoch       int32
	lo, ordinal int64
}

// Slot finds the place of an input before it arrives: that of the ordinal at the input of the stage before, which makes
// one output of each input. It may open slabs early, as far as there are any. ok is false where the place is not known
// yet; the input is then copied when it arrives.
func (g *Group[A, B, M]) Slot(epoch int32, epochLo, ordinal int64) (v B, row int, ok bool) {
	g.In.WithLock(func() {
		s := &g.g
		if !s.fitted || s.firstErr != nil || g.Fresh {
			return
		}
		base, known := s.spanOf(epoch, epochLo, int64(g.Size))
		if !known {
			return
		}
		n := ordinal - epochLo
		at := base + n/int64(g.Size)
		for base <= s.opened && s.opened <= at && g.spare() && s.firstErr == nil {
			s.early = append(s.early, g.begin(epoch))
		}
		if o := s.active[at]; o != nil && o.made && s.firstErr == nil {
			v, row, ok = o.v, int(n%int64(g.Size)), true
		}
	})
	return v, row, ok
}

// spanOf gives the ordinal of an epoch's first output. It is not known before an input of each epoch before it has asked,
// for the last output of an epoch may be short: among many workers a later epoch can ask first.
func (s *groups[B, M]) spanOf(epoch int32, lo, size int64) (int64, bool) {
	for i := len(s.spans) - 1; i >= 0; i-- {
		if s.spans[i].epoch == epoch {
			return s.spans[i].ordinal, true
		}
	}
	next := span{epoch: epoch, lo: lo}
	if n := len(s.spans); n > 0 {
		last := s.spans[n-1]
		if epoch != last.epoch+1 {
			return 0, false
		}
		next.ordinal = last.ordinal + (lo-last.lo+size-1)/size
	} else if lo != 0 {
		return 0, false
	}
	if s.spans = append(s.spans, next); len(s.spans) > 64 {
		s.spans = append(s.spans[:0], s.spans[32:]...)
	}
	return next.ordinal, true
}
