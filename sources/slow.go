package sources

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/shard"
)

var _ = kinds.Add(registry.Source[Slow](registry.Meta{
	Name: "slow", Summary: "Models a slow store: waits, then makes numbers and a label.",
	Example: "slow: {count: 10000, delay: 2ms}",
}, (*Slow).Bind))

// Slow models a store that takes its time: each read sleeps for Delay, without using the processor, and then makes
// FeatureDim numbers of float32 in [-1, 1) in the field features and a label of 0 to 9. What it makes depends on the
// seed and the index only. A sleep of over 10 ms ends early when the run does. Shorter ones are the system's own while there
// are no more than 64 workers: those end within 0.1 ms, and Go's timers up to 1 ms late where little else goes on. Cost
// beside the sleep: about 1 ns a number.
type Slow struct {
	Count      int64
	Delay      graph.Time
	FeatureDim int
}

const slowClasses = 10

// Bind names the fields.
func (s *Slow) Bind(f *registry.Fields) {
	f.Int64(&s.Count, "count", 1000, "how many samples an epoch has", registry.Min(1))
	f.Time(&s.Delay, "delay", graph.Fixed(2*time.Millisecond), "how long each read takes", registry.Over(time.Duration(0)))
	f.Int(&s.FeatureDim, "feature_dim", 64, "how many numbers a sample has", registry.Min(1), registry.Max(1<<24))
}

// Check refuses settings that are out of range.
func (s Slow) Check() error { return registry.Check(&s, (*Slow).Bind) }

// Load is waiting: a hundred workers on one core are no burden.
func (Slow) Load() graph.Load { return graph.Wait }

// Schema is features and label.
func (s Slow) Schema(item.Schema) (item.Schema, error) {
	s = registry.Filled(s, (*Slow).Bind)
	return item.Schema{Fields: []item.FieldSpec{
		{Name: fieldFeatures, Kind: item.KindTensor, Typed: true, DType: item.Float32, Shape: item.MakeShape(s.FeatureDim)},
		{Name: fieldLabel, Kind: item.KindInt, Typed: true, DType: item.Int64},
	}}, nil
}

// Open makes the reader. Each worker has a timer of its own.
func (s Slow) Open(_ context.Context, env *graph.Env) (graph.Reader[*item.Sample], error) {
	s = registry.Filled(s, (*Slow).Bind)
	seed := env.Seed
	var opened atomic.Int32
	worker := func(context.Context) (graph.Reader[*item.Sample], error) {
		z := sleeper{among: &opened}
		opened.Add(1)
		shape := item.MakeShape(s.FeatureDim)
		label := func(i int64) int64 { return int64(shard.Hash(seed, uint64(i)) % slowClasses) }
		return graph.Reader[*item.Sample]{Len: s.Count, Label: label, At: func(c *graph.Call, i int64) (*item.Sample, error) {
			if err := z.sleep(c.Context(), s.Delay.Draw(c.Rand())); err != nil {
				return nil, err
			}
			return makeNumbers(c, shape, seed, i), nil
		}}, nil
	}
	return perWorker(worker)
}

func makeNumbers(c *graph.Call, shape item.Shape, seed uint64, i int64) *item.Sample {
	out := item.NewSample(indexKey(i))
	v := item.Tensor(c.Row(fieldFeatures, item.Float32, shape), item.Float32, shape)
	h := shard.Hash(seed, uint64(i))
	fillNumbers(v.Float32s(), h)
	out.Set(fieldFeatures, v)
	out.Set(fieldLabel, item.Int(int64(h%slowClasses)))
	return out
}

// The step of a linear congruential generator, x*lcgA + lcgC, and the steps of four at once.
const (
	lcgA, lcgC   = 6364136223846793005, 1442695040888963407
	lcgA4, lcgC4 = lcgA * lcgA % (1 << 64) * lcgA % (1 << 64) * lcgA % (1 << 64), (((lcgA+1)*lcgA+1)*lcgA + 1) * lcgC % (1 << 64)
)

// fillNumbers writes the generator's numbers from x on, between -1 and 1: quick, and only filler. Four lie in a row that
// do not wait for each other.
func fillNumbers(numbers []float32, x uint64) {
	number := func(x uint64) float32 { return float32(int64(x)>>39) / (1 << 24) } // 25 bits with a sign
	x0 := x*lcgA + lcgC
	x1 := x0*lcgA + lcgC
	x2 := x1*lcgA + lcgC
	x3 := x2*lcgA + lcgC
	for ; len(numbers) >= 4; numbers = numbers[4:] {
		numbers[0], numbers[1], numbers[2], numbers[3] = number(x0), number(x1), number(x2), number(x3)
		x0, x1, x2, x3 = x0*lcgA4+lcgC4, x1*lcgA4+lcgC4, x2*lcgA4+lcgC4, x3*lcgA4+lcgC4
	}
	for k := range numbers {
		numbers[k], x0 = number(x0), x0*lcgA+lcgC
	}
}

// uncut is the longest delay that is slept to its end when the run is cancelled.
const uncut = 10 * time.Millisecond

// fewSleepers may sleep in the system at once: each keeps a thread meanwhile.
const fewSleepers = 64

// sleeper sleeps for one worker, with one timer that it uses again.
type sleeper struct {
	timer *time.Timer
	among *atomic.Int32 // the workers
	still bool          // the system cannot, or the clock stood still meanwhile: it is that of testing/synctest
}

func (z *sleeper) sleep(ctx context.Context, d time.Duration) error {
	if d <= uncut {
		if !z.still && z.among.Load() <= fewSleepers {
			if systemSleep(d) {
				return context.Cause(ctx)
			}
			z.still = true
		}
		time.Sleep(d) // half the processor time of a timer and its channel
		return context.Cause(ctx)
	}
	if z.timer == nil {
		z.timer = time.NewTimer(d)
	} else {
		z.timer.Reset(d)
	}
	select {
	case <-z.timer.C:
		return nil
	case <-ctx.Done():
		z.timer.Stop()
		return context.Cause(ctx)
	}
}
