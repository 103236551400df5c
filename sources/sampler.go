package sources

import (
	"fmt"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/shard"
)

var (
	_ = kinds.Add(registry.Sampler[Sequential](registry.Meta{
		Name: "sequential", Summary: "Reads from the first sample to the last, in each epoch alike. The default.",
		Example: "sampler: sequential",
	}, nil))
	_ = kinds.Add(registry.Sampler[Shuffled](registry.Meta{
		Name: "shuffled", Summary: "Reads every sample once an epoch, in an order that the seed and the epoch decide.",
		Example: "sampler: shuffled",
	}, nil))
)

// Sequential reads a source from its first sample to its last, in each epoch alike. It is the default.
type Sequential struct{}

// Bind names the fields; there are none.
func (*Sequential) Bind(*registry.Fields) {}

// Kind is the word of a spec.
func (Sequential) Kind() string { return "sequential" }

// Places gives n places in index order.
func (Sequential) Places(n int64, _ uint64) (graph.Places, error) {
	if n < 0 {
		return nil, fmt.Errorf("sequential: %d samples", n)
	}
	return sequence(n), nil
}

type sequence int64

func (s sequence) Len(int64) int64            { return int64(s) }
func (s sequence) Index(_, place int64) int64 { return place }

// Shuffled reads every sample once an epoch, in an order that the seed and the number of the epoch decide: a global
// permutation, exact and without memory, see [shard.Permutation]. Its places may be asked for by several goroutines at
// once. Cost: 30 ns a place (BenchmarkPermutationAt).
type Shuffled struct{}

// Bind names the fields; there are none.
func (*Shuffled) Bind(*registry.Fields) {}

// Kind is the word of a spec.
func (Shuffled) Kind() string { return "shuffled" }

// Places gives n places in a new order for each epoch.
func (Shuffled) Places(n int64, seed uint64) (graph.Places, error) {
	if n < 0 {
		return nil, fmt.Errorf("shuffled: %d samples", n)
	}
	return &shuffle{n: n, seed: seed}, nil
}

type shuffle struct {
	n    int64
	seed uint64
	last [2]atomic.Pointer[epochOrder] // of even and odd epochs: while one ends the next begins
}

type epochOrder struct {
	epoch int64
	order shard.Permutation
	table []int64 // of a small source: all numbers worked out at once cost a third of one by one
}

// tabled is how many items a source may have for its orders to be tables; up to there a permutation takes most rounds.
const tabled = 1024

func (s *shuffle) Len(int64) int64 { return s.n }

func (s *shuffle) Index(epoch, place int64) int64 {
	slot := &s.last[epoch&1]
	o := slot.Load()
	if o == nil || o.epoch != epoch {
		o = &epochOrder{epoch: epoch, order: shard.NewPermutation(s.n, shard.EpochSeed(s.seed, epoch))}
		if s.n <= tabled {
			o.table = make([]int64, s.n)
			o.order.Fill(o.table, 0)
		}
		slot.Store(o)
	}
	if o.table != nil {
		return o.table[place]
	}
	return o.order.At(place)
}
