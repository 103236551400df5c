package sources

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/shard"
)

var _ = kinds.Add(registry.Sampler[Weighted](registry.Meta{
	Name: "weighted", Summary: "Draws samples with replacement, each with a chance in proportion to its weight.",
	Example: "sampler: {weighted: {weights: weights.txt, count: 10000}}",
}, (*Weighted).Bind))

// Numbers gives a number for each index of a source. It is called by one goroutine and must give the same each time.
type Numbers func(index int64) float64

// String keeps the declaration's text the same in every process.
func (n Numbers) String() string {
	if n == nil {
		return "none"
	}
	return "function"
}

// Weighted draws Count samples an epoch with replacement, sample i with the chance weight(i) / sum of weights. A weight
// of zero is never drawn. Weights that are negative, infinite or not a number, and all of them zero, are refused with
// the index when the source is opened, before anything is read. The weights come from Weight or from the file Weights:
// one number a line, in the order of the source.
//
// Method: the weights are scaled to integers that add up to about 2^62, at least 1 where a weight is not zero, and added
// up; a draw finds its place in the sums with a table of hints (the indexed search of Chen and Asau, 1974). So chances
// are off by less than n/2^62 of the whole, and the draws are the same on every machine. Memory: 8.5 bytes a sample, 16
// more while a file is read; no limit on their number. Each place is drawn from a hash of seed, epoch and place. Places may be asked for by
// several goroutines at once. Cost of a place: 0.2 microseconds, for a few reads of memory (BenchmarkSamplers).
type Weighted struct {
	Weights string
	Weight  Numbers // instead of Weights
	Count   int64   // 0: as many as the source has
}

// Bind names the fields.
func (w *Weighted) Bind(f *registry.Fields) {
	f.Path(&w.Weights, "weights", "", "a file with one weight a line, in the order of the source", registry.Required())
	f.Int64(&w.Count, "count", 0, "draws an epoch; 0: as many as the source has samples", registry.Min(0))
}

// Stream is all but where the file lies: the fingerprint tells what is in it.
func (w Weighted) Stream() string {
	w.Weights = ""
	return fmt.Sprintf("%+v", w)
}

// Check refuses settings that are out of range or do not go together.
func (w Weighted) Check() error {
	if w.Weight == nil {
		return registry.Check(&w, (*Weighted).Bind)
	}
	if w.Weights != "" {
		return errors.New("give one of weights and Weight")
	}
	w.Weights = "-"
	return registry.Check(&w, (*Weighted).Bind)
}

// Kind is the word of a spec.
func (Weighted) Kind() string { return "weighted" }

// Places gives Count places over n samples.
func (w Weighted) Places(n int64, seed uint64) (graph.Places, error) {
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	weight := w.Weight
	if weight == nil {
		list, err := numbersOf(w.Weights, n)
		if err != nil {
			return nil, fmt.Errorf("weighted: %w", err)
		}
		weight = func(i int64) float64 { return list[i] }
	}
	p, err := newWheel(n, weight)
	if err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	p.seed, p.count = seed, w.Count
	if p.count == 0 {
		p.count = n
	}
	return p, nil
}

// wheel finds the sample that a number falls on.
type wheel struct {
	count int64
	seed  uint64
	sums  []uint64 // of the weights up to and with each sample
	hints []uint64 // the sample that the k-th part of all begins in
	part  uint64   // length of such a part
}

const wheelScale = 1 << 62

func newWheel(n int64, weight Numbers) (*wheel, error) {
	largest := 0.0
	for i := range n {
		x := weight(i)
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("the weight of sample %d is %v; a weight is 0 or more, and finite", i, x)
		}
		largest = max(largest, x)
	}
	if largest == 0 {
		return nil, fmt.Errorf("the weights of all %d samples, 0 to %d, are 0, so there is nothing to draw", n, n-1)
	}
	// Divisions and sums only, one after the other: a product that is added could be fused on some processors.
	total := 0.0
	for i := range n {
		total += weight(i) / largest
	}
	w := &wheel{sums: make([]uint64, n)}
	sum := uint64(0)
	for i := range n {
		if x := weight(i); x > 0 {
			share := x / largest / total
			sum += max(1, uint64(share*wheelScale))
		}
		w.sums[i] = sum
	}
	w.hint()
	return w, nil
}

// hint cuts the whole into parts and notes the first sample that reaches into each.
func (w *wheel) hint() {
	parts := uint64(len(w.sums)/16 + 1)
	all := w.sums[len(w.sums)-1]
	w.part = all/parts + 1
	w.hints = make([]uint64, 0, parts+1)
	for i, s := range w.sums {
		for uint64(len(w.hints))*w.part < s {
			w.hints = append(w.hints, uint64(i))
		}
	}
}

// Fingerprint is that of the weights.
func (w *wheel) Fingerprint() string { return fingerprint(w.sums) }

func (w *wheel) Len(int64) int64 { return w.count }

func (w *wheel) Index(epoch, place int64) int64 {
	x := draw(shard.EpochSeed(w.seed, epoch), place, w.sums[len(w.sums)-1])
	k := x / w.part
	lo, hi := w.hints[k], uint64(len(w.sums)-1)
	if k+1 < uint64(len(w.hints)) {
		hi = w.hints[k+1]
	}
	for lo < hi { // the first sample whose sum is above x
		if mid := (lo + hi) / 2; w.sums[mid] > x {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return int64(lo)
}
