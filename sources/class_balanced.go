package sources

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/shard"
)

var _ = kinds.Add(registry.Sampler[ClassBalanced](registry.Meta{
	Name: "class_balanced", Summary: "Fills every batch with equal parts of all classes, as the source tells them.",
	Example: "sampler: {class_balanced: {batch: 64}}",
}, (*ClassBalanced).Bind))

// Labels gives the class of each index of a source. It is called by one goroutine.
type Labels func(index int64) int64

// String keeps the declaration's text the same in every process.
func (l Labels) String() string {
	if l == nil {
		return "none"
	}
	return "function"
}

// ClassBalanced gives every class the same part of each batch. Batch is the batch of the whole job: the size of
// collate times the number of ranks. Classes are told by the source ([graph.Reader].Label; [Folder], [List], [Slow] and
// [SyntheticImages] do), or by Label. A sample without a class (label -1) is an error that names it.
//
// What is delivered: of C classes each has floor(Batch/C) or one more samples in every batch, and floor(N/C) or one more
// in an epoch of N. Which classes have one more goes round. Of a class with m samples each comes before one of them
// comes again. All orders are keyed by the seed and the epoch: of the classes, within a class at each pass, and within
// the batch, so that a rank's part of it is balanced on average only.
//
// Memory: 4 bytes a sample, of which there may be 2^32. Places may be asked for by several goroutines at once. Cost of a
// place: three permutations, 0.7 microseconds (BenchmarkSamplers).
type ClassBalanced struct {
	Batch int64
	Count int64  // 0: as many as the source has
	Label Labels // instead of the source's
}

// Bind names the fields.
func (c *ClassBalanced) Bind(f *registry.Fields) {
	f.Int64(&c.Batch, "batch", 0, "samples of a batch of the whole job: the size of collate times the number of ranks",
		registry.Required(), registry.Min(1), registry.Max(1<<32))
	f.Int64(&c.Count, "count", 0, "samples an epoch; 0: as many as the source has", registry.Min(0))
}

// Check refuses settings that are out of range.
func (c ClassBalanced) Check() error { return registry.Check(&c, (*ClassBalanced).Bind) }

// Kind is the word of a spec.
func (ClassBalanced) Kind() string { return "class_balanced" }

// Labeled takes the classes from the source, unless the program gave them.
func (c ClassBalanced) Labeled(label func(int64) int64) (graph.Sampling, error) {
	if c.Label == nil {
		c.Label = label
	}
	return c, nil
}

// Places gives Count places over n samples.
func (c ClassBalanced) Places(n int64, seed uint64) (graph.Places, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("class_balanced: %w", err)
	}
	if c.Label == nil {
		return nil, errors.New("class_balanced: this source does not tell the classes of its samples; folder does, and a Go program can set Label")
	}
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("class_balanced: it takes at most 2^32 samples, the source has %d", n)
	}
	counts := map[int64]int64{}
	for i := range n {
		l := c.Label(i)
		if l < 0 {
			return nil, fmt.Errorf("class_balanced: sample %d has no class (its label is %d); leave it out of the source or of a subset", i, l)
		}
		counts[l]++
	}
	b := &balanced{count: c.Count, batch: c.Batch, seed: seed, list: make([]uint32, n)}
	if b.count == 0 {
		b.count = n
	}
	next := make(map[int64]int64, len(counts))
	at := int64(0)
	for _, l := range slices.Sorted(maps.Keys(counts)) {
		b.starts = append(b.starts, at)
		next[l] = at
		at += counts[l]
	}
	b.starts = append(b.starts, at)
	for i := range n {
		l := c.Label(i)
		b.list[next[l]] = uint32(i)
		next[l]++
	}
	return b, nil
}

// balanced keeps the samples by class.
type balanced struct {
	count, batch int64
	seed         uint64
	list         []uint32
	starts       []int64 // of each class in list, and the end
}

// Fingerprint is that of the classes.
func (b *balanced) Fingerprint() string { return fingerprint(b.list) + fingerprint(b.starts) }

func (b *balanced) Len(int64) int64 { return b.count }

// Index deals the samples of an epoch out to the classes in turn, and mixes each batch.
func (b *balanced) Index(epoch, place int64) int64 {
	key := shard.EpochSeed(b.seed, epoch)
	first := place - place%b.batch
	dealt := first + permuted(min(b.batch, b.count-first), shard.Hash(key, 1, uint64(first)), place-first)
	classes := int64(len(b.starts) - 1)
	class := permuted(classes, shard.Hash(key, 2), dealt%classes)
	start := b.starts[class]
	size := b.starts[class+1] - start
	turn := dealt / classes
	return int64(b.list[start+permuted(size, shard.Hash(key, 3, uint64(class), uint64(turn/size)), turn%size)])
}

// permuted is the number at a place of a keyed permutation of n.
func permuted(n int64, key uint64, place int64) int64 {
	p := shard.NewPermutation(n, key)
	return p.At(place)
}
