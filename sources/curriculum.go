package sources

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/shard"
)

var _ = kinds.Add(registry.Sampler[Curriculum](registry.Meta{
	Name: "curriculum", Summary: "Reads the easy samples first, by a score, and more of the hard ones with each epoch.",
	Example: "sampler: {curriculum: {scores: scores.txt, start: 0.3, grow: 0.1}}",
}, (*Curriculum).Bind))

// Scores gives the score of an index in an epoch. It is called by one goroutine at a time and must give the same each
// time.
type Scores func(epoch, index int64) float64

// String keeps the declaration's text the same in every process.
func (s Scores) String() string {
	if s == nil {
		return "none"
	}
	return "function"
}

// Curriculum reads samples by rising score, the easy ones first. In epoch e it reads the share min(1, Start + e × Grow)
// of them, those with the lowest scores, each once; at least one. The scores come from Score, which may depend on the
// epoch, or from the file Scores: one number a line, in the order of the source.
//
// Block samples that follow each other by score are shuffled among each other; samples of the same score always are.
// Both orders are new each epoch and decided by seed and epoch. A score that is not a number is refused with the index.
//
// Memory: 4 bytes a sample, of which there may be 2^32, and 8 for each block; 12 more while they are sorted. With Score
// they are sorted again at the beginning of each epoch, which takes n log n comparisons during which nothing is read.
// Places may be asked for by several goroutines at once. Cost of a place: 0.2 microseconds (BenchmarkSamplers).
type Curriculum struct {
	Scores string
	Score  Scores // instead of Scores
	Start  float64
	Grow   float64
	Block  int64
}

// Bind names the fields.
func (c *Curriculum) Bind(f *registry.Fields) {
	f.Path(&c.Scores, "scores", "", "a file with one score a line, in the order of the source; the lowest come first", registry.Required())
	f.Float(&c.Start, "start", 1, "the share of the samples that the first epoch reads", registry.Over(0), registry.Max(1))
	f.Float(&c.Grow, "grow", 0, "how much larger the share is in each later epoch", registry.Min(0), registry.Max(1))
	f.Int64(&c.Block, "block", 1, "so many samples that follow each other by score are shuffled", registry.Min(1))
}

// Stream is all but where the file lies: the fingerprint tells what is in it.
func (c Curriculum) Stream() string {
	c.Scores = ""
	return fmt.Sprintf("%+v", c)
}

// Check refuses settings that are out of range or do not go together.
func (c Curriculum) Check() error {
	if c.Score == nil {
		return registry.Check(&c, (*Curriculum).Bind)
	}
	if c.Scores != "" {
		return errors.New("give one of scores and Score")
	}
	c.Scores = "-"
	return registry.Check(&c, (*Curriculum).Bind)
}

// Kind is the word of a spec.
func (Curriculum) Kind() string { return "curriculum" }

// Places gives the places of each epoch over n samples.
func (c Curriculum) Places(n int64, seed uint64) (graph.Places, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("curriculum: %w", err)
	}
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("curriculum: it takes at most 2^32 samples, the source has %d", n)
	}
	c = registry.Filled(c, (*Curriculum).Bind)
	p := &curriculum{Curriculum: c, n: n, seed: seed}
	score := func(i int64) float64 { return c.Score(0, i) }
	if c.Score == nil {
		list, err := numbersOf(c.Scores, n)
		if err != nil {
			return nil, fmt.Errorf("curriculum: %w", err)
		}
		score = func(i int64) float64 { return list[i] }
	}
	first, err := ranked(n, seed, score, c.Block)
	if err != nil {
		return nil, fmt.Errorf("curriculum: %w", err)
	}
	p.epochs[0].Store(first)
	return p, nil
}

type curriculum struct {
	Curriculum
	n    int64
	seed uint64

	mu     sync.Mutex                 // held while an epoch is sorted
	epochs [2]atomic.Pointer[ranking] // of even and odd epochs; a file's scores need only the first
}

// ranking is the samples by score.
type ranking struct {
	epoch  int64
	list   []uint32
	starts []int64 // of the blocks that are shuffled, and the end
}

func ranked(n int64, seed uint64, score func(int64) float64, block int64) (*ranking, error) {
	scores := make([]float64, n)
	r := &ranking{list: make([]uint32, n)}
	order := make([]uint64, n) // as wide as what else is sorted here: one sort serves for both in a program
	for i := range n {
		if scores[i] = score(i); math.IsNaN(scores[i]) {
			return nil, fmt.Errorf("the score of sample %d is not a number", i)
		}
		order[i] = uint64(i)
	}
	slices.SortFunc(order, func(a, b uint64) int {
		if c := cmp.Compare(scores[a], scores[b]); c != 0 || a == b {
			return c
		}
		// Where a block ends among equals must not favour low indices.
		return cmp.Or(cmp.Compare(shard.Hash(seed, a), shard.Hash(seed, b)), cmp.Compare(a, b))
	})
	for i, x := range order {
		r.list[i] = uint32(x)
	}
	for i := range n {
		if (block > 1 && i%block == 0) || (block == 1 && (i == 0 || scores[r.list[i]] != scores[r.list[i-1]])) {
			r.starts = append(r.starts, i)
		}
	}
	r.starts = append(slices.Clip(r.starts), n)
	return r, nil
}

// Fingerprint is that of the first epoch's order.
func (c *curriculum) Fingerprint() string {
	first := c.epochs[0].Load()
	return fingerprint(first.list) + fingerprint(first.starts)
}

// Len is the share of the epoch. The product is rounded by itself: fused with the sum it would differ between
// processors.
func (c *curriculum) Len(epoch int64) int64 {
	grown := float64(c.Grow * float64(epoch))
	share := min(1, c.Start+grown)
	return min(c.n, max(1, int64(math.Round(share*float64(c.n)))))
}

func (c *curriculum) Index(epoch, place int64) int64 {
	r := c.of(epoch)
	k := sort.Search(len(r.starts), func(k int) bool { return r.starts[k] > place }) - 1
	start := r.starts[k]
	key := shard.Hash(shard.EpochSeed(c.seed, epoch), uint64(start))
	return int64(r.list[start+permuted(r.starts[k+1]-start, key, place-start)])
}

// of is the ranking of an epoch.
func (c *curriculum) of(epoch int64) *ranking {
	if c.Score == nil {
		return c.epochs[0].Load()
	}
	slot := &c.epochs[epoch&1]
	if r := slot.Load(); r != nil && r.epoch == epoch {
		return r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := slot.Load(); r != nil && r.epoch == epoch {
		return r
	}
	r, err := ranked(c.n, c.seed, func(i int64) float64 { return c.Score(epoch, i) }, c.Block)
	if err != nil {
		panic(fmt.Sprintf("curriculum: epoch %d: %v", epoch, err))
	}
	r.epoch = epoch
	slot.Store(r)
	return r
}
