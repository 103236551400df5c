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

// What follows are optional methods of a Sampling, which are asked for when the source has been opened.
type (
	// Labeled goes by the classes of the items. It gets [Reader.Label], which is nil where the source does not tell
	// them, and gives the sampling that is used.
	Labeled interface {
		Labeled(label func(index int64) int64) (Sampling, error)
	}
	// Joiner makes one item of several, so that a place is a whole group of them: the reader that it gives has the
	// groups' number as its length. [Shaper], if it has that too, gets the schema of the source's own items.
	Joiner[T any] interface {
		Join(r Reader[T]) (Reader[T], Sampling, error)
	}
	// Fingerprinter is an optional method of [Places]: it tells one order of the same declaration from another, where
	// that depends on more than settings, such as the content of a file. A resume with another one is refused.
	Fingerprinter interface{ Fingerprint() string }
)

// placesOf asks a sampling for the order of a source that is open.
func placesOf[T any](s Sampling, r Reader[T], seed uint64) (Reader[T], Places, error) {
	if l, ok := s.(Labeled); ok {
		var err error
		if s, err = l.Labeled(r.Label); err != nil {
			return r, nil, err
		}
	}
	if j, ok := s.(Joiner[T]); ok {
		var err error
		if r, s, err = j.Join(r); err != nil {
			return r, nil, err
		}
	}
	places, err := s.Places(r.Len, seed)
	if f, ok := places.(Fingerprinter); ok && err == nil {
		r.Fingerprint += "+" + f.Fingerprint()
	}
	return r, places, err
}

// inOrder is the source's own order.
type inOrder int64

func (n inOrder) Len(int64) int64        { return int64(n) }
func (n inOrder) Index(_, i int64) int64 { return i }
