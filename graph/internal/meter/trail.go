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
	// Stuck is since when finished siblings were stuck behind this slice because the window was full; 0: never.
	Stuck int64
	Prev  *Trail
	More  *More // nil for most
	Fresh bool  // the worker was waiting for the slice: its service is latency, not want of workers
}

// More is what only few trails have. Each slice has a trail, so those are kept to a line of the processor's cache.
type More struct {
	// SlabFrom to SlabTo is when a batch waited for memory that Holder kept.
	SlabFrom, SlabTo int64
	Holder           *Stage
	Rows             []Arrival // of a batch: what its rows went through, in order of arrival
	Holes            []*Trail  // slices without output that stood before this one in the stream, oldest first
}

// Gather makes the trail of a batch, with room for so many arrivals.
func Gather(st *Stage, rows int) *Trail {
	t := &struct {
		Trail
		More
	}{Trail: Trail{Stage: st}, More: More{Rows: make([]Arrival, 0, rows)}}
	t.Trail.More = &t.More
	return &t.Trail
}

// Arrived notes that a row of a batch came by a trail.
func (m *More) Arrived(by *Trail) {
	if n := len(m.Rows); by != nil && (n == 0 || m.Rows[n-1].Trail != by) {
		m.Rows = append(m.Rows, Arrival{At: by.Released, Trail: by})
	}
}

// After notes the slices without output that stood before this one.
func (t *Trail) After(holes []*Trail) {
	if t.More == nil {
		t.More = &More{}
	}
	t.More.Holes = holes
}

func (t *Trail) rows() []Arrival {
	if t.More == nil {
		return nil
	}
	return t.More.Rows
}

// prompt says that the slice did not wait for a worker.
func (t *Trail) prompt() bool {
	if t.Fresh {
		return true
	}
	if rows := t.rows(); len(rows) > 0 {
		return t.Took <= rows[len(rows)-1].At
	}
	return t.Prev != nil && t.Took <= t.Prev.Released
}

// Arrival is when rows of a batch arrived and the trail they came by.
type Arrival struct {
	At    int64
	Trail *Trail
}
