package graph

// StageKey is what the randomness of a stage comes from, for tests that work a stream out by other means.
var StageKey = stageKey

// Remembered is how many items the run's book holds.
func (r *Run) Remembered() (n int) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	for _, p := range r.book.passages {
		if m, ok := p.(*mixture); ok {
			n += len(m.log)
		}
	}
	return n
}
