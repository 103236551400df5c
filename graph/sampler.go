package graph

// Sampling declares in which order the items of a map-style source are read.
type Sampling interface {
	// Places makes the order of n items. The seed is that of the pipeline and the source together.
	Places(n int64, seed uint64) (Places, error)
}

// Places is the order of each epoch: which index stands in which place. It is used by many goroutines at once.
type Places interface {
	Len(epoch int64) int64
	Index(epoch, place int64) int64
}

// inOrder is the source's own order.
type inOrder int64

func (n inOrder) Len(int64) int64        { return int64(n) }
func (n inOrder) Index(_, i int64) int64 { return i }
