package pool

// Budget counts bytes that are admitted at the sources. It is guarded by the lock of its caller.
//
// An item is admitted when there is room for it or when fewer than Hold items of its source are inside: the oldest Hold
// items always pass, since a stage that collects that many cannot let go of them before.
type Budget struct {
	Limit int64 // 0: none
	Hold  int64
	Tight bool  // memory is scarce beyond the budget: only the oldest Hold items pass
	Peak  int64 // the most so far
	used  int64
}

// Admit takes bytes for one item of a source that has inside items under way, or says that there is no room now.
func (b *Budget) Admit(bytes, inside int64) bool {
	if inside >= max(1, b.Hold) && !b.Room(bytes) {
		return false
	}
	b.Grow(bytes)
	return true
}

// Room says whether an item finds room that need not pass.
func (b *Budget) Room(bytes int64) bool {
	return !b.Tight && (b.Limit == 0 || b.used+bytes <= b.Limit)
}

// Grow takes bytes without asking.
func (b *Budget) Grow(bytes int64) {
	b.used += bytes
	b.Peak = max(b.Peak, b.used)
}

// Free gives an item's bytes back.
func (b *Budget) Free(bytes int64) { b.used -= bytes }

// Used is what is admitted now.
func (b *Budget) Used() int64 { return b.used }
