package meter

// Trail is what one slice of items (or one batch) went through at one stage, with a link to what it went through
// before. Items carry a pointer to their last one, so a chain is as long as the pipeline and nothing is retained.
// A trail is written by one worker until its items are handed over, and by the edge's lock holder when they enter the
// ring; then it is frozen.
type Trail struct {
	Stage    *Stage
	Took     int64 // a worker began with the slice
	Done     int64 // it had finished
	Released int64 // the items entered the ring of the output edge
	Fresh    bool  // the worker was waiting for the slice: its service is latency, not want of workers
	// Stuck is since when finished siblings were stuck behind this slice because the window was full; 0: never.
	Stuck int64
	// SlabFrom to SlabTo is when the batch waited for memory that Holder kept.
	SlabFrom, SlabTo int64
	Holder           *Stage
	Prev             *Trail
	Rows             []Arrival // of a batch: what its rows went through, in order of arrival
	Holes            []*Trail  // slices without output that stood before this one in the stream, oldest first
}

// prompt says that the slice did not wait for a worker.
func (t *Trail) prompt() bool {
	if t.Fresh {
		return true
	}
	if n := len(t.Rows); n > 0 {
		return t.Took <= t.Rows[n-1].At
	}
	return t.Prev != nil && t.Took <= t.Prev.Released
}

// Arrival is when rows of a batch arrived and the trail they came by.
type Arrival struct {
	At    int64
	Trail *Trail
}
