package sources

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/shard"
)

var _ = kinds.Add(registry.Sampler[Subset](registry.Meta{
	Name: "subset", Summary: "Reads only some of the samples: those of a list or of a range, as listed or shuffled.",
	Example: "sampler: {subset: {skip: 100, take: 500, shuffled: true}}",
}, (*Subset).Bind))

// Subset reads only some of a source's samples, each once an epoch: those of Indices, those that File lists, one number
// a line, or, without either, Take samples after the first Skip ones. They come in the order of the list, or Shuffled in
// a new order each epoch, which the seed and the epoch decide. An index that is listed twice is read twice. An index
// outside the source is an error that names it; so is a range without samples.
//
// Memory: none for a range, 8 bytes for each index of a list. Its places may be asked for by several goroutines at once.
// Cost of a place: that of [Shuffled] if shuffled, else nothing.
type Subset struct {
	Indices  []int
	File     string
	Skip     int64
	Take     int64 // 0: all that are left
	Shuffled bool
}

// Bind names the fields.
func (s *Subset) Bind(f *registry.Fields) {
	f.Ints(&s.Indices, "indices", nil, "numbers of the samples, from 0", registry.Min(0))
	f.Path(&s.File, "file", "", "a file with one index a line, instead of indices")
	f.Int64(&s.Skip, "skip", 0, "leave the first samples out", registry.Min(0))
	f.Int64(&s.Take, "take", 0, "how many samples after that; 0: all that are left", registry.Min(0))
	f.Bool(&s.Shuffled, "shuffled", "in a new order each epoch")
}

// Stream is all but where the file lies: the fingerprint tells what is in it.
func (s Subset) Stream() string {
	s.File = ""
	return fmt.Sprintf("%+v", s)
}

// Check refuses settings that are out of range or do not go together.
func (s Subset) Check() error {
	errs := []error{registry.Check(&s, (*Subset).Bind)}
	ways := 0
	for _, given := range []bool{len(s.Indices) > 0, s.File != "", s.Skip != 0 || s.Take != 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		errs = append(errs, errors.New("it is not said which samples: give indices, a file, or skip and take"))
	case ways > 1:
		errs = append(errs, errors.New("give one of indices, file, and skip and take"))
	}
	return errors.Join(errs...)
}

// Kind is the word of a spec.
func (Subset) Kind() string { return "subset" }

// Places gives the places of the subset of n samples.
func (s Subset) Places(n int64, seed uint64) (graph.Places, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("subset: %w", err)
	}
	p := &subset{skip: s.Skip, n: n - s.Skip}
	if s.Take > 0 {
		if s.Skip > n || s.Take > n-s.Skip {
			return nil, fmt.Errorf("subset: %d samples after the first %d, but the source has only %d", s.Take, s.Skip, n)
		}
		p.n = s.Take
	}
	if s.File != "" || len(s.Indices) > 0 {
		list, err := s.list(n)
		if err != nil {
			return nil, fmt.Errorf("subset: %w", err)
		}
		p.list, p.n = list, int64(len(list))
	}
	if p.n <= 0 {
		return nil, fmt.Errorf("subset: no samples are left: skip is %d, and the source has %d", s.Skip, n)
	}
	if s.Shuffled {
		p.order = &shuffle{n: p.n, seed: seed}
	}
	return p, nil
}

func (s Subset) list(n int64) ([]int64, error) {
	list := make([]int64, 0, len(s.Indices))
	for _, i := range s.Indices {
		list = append(list, int64(i))
	}
	if s.File != "" {
		err := eachNumber(s.File, func(line int64, x float64) error {
			if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
				return fmt.Errorf("an index is a whole number, got %v", x)
			}
			list = append(list, int64(x))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for k, i := range list {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("entry %d of the list is %d, but the source has the indices 0 to %d", k, i, n-1)
		}
	}
	return slices.Clip(list), nil
}

type subset struct {
	skip, n int64
	list    []int64  // nil: a range
	order   *shuffle // nil: as listed
}

// Fingerprint is that of the list.
func (s *subset) Fingerprint() string { return fingerprint(s.list) }

func (s *subset) Len(int64) int64 { return s.n }

func (s *subset) Index(epoch, place int64) int64 {
	if s.order != nil {
		place = s.order.Index(epoch, place)
	}
	if s.list != nil {
		return s.list[place]
	}
	return s.skip + place
}

// draw is a number below n that a key and a place decide: the high half of a product, which is off by less than n/2^64.
func draw(key uint64, place int64, n uint64) uint64 { return below(shard.Hash(key, uint64(place)), n) }
