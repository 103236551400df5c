package tune_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/tune"
)

// block is an item that tells its size.
type block struct{ n, size int64 }

func (b *block) Bytes() int64 { return b.size }

// blocks is a source of them; an item is taken to need four times as much below.
type blocks struct {
	n    int64
	time graph.Time
	size func(i int64) int64
}

func (s blocks) Load() graph.Load { return graph.Wait }

func (s blocks) Open(context.Context, *graph.Env) (graph.Reader[*block], error) {
	return graph.Reader[*block]{Len: s.n, At: func(c *graph.Call, i int64) (*block, error) {
		time.Sleep(s.time.Draw(c.Rand()))
		return &block{i, s.size(i)}, nil
	}}, nil
}

// pile is a batch in memory of its own.
type pile struct{ free func() }

func (p *pile) Release() { p.free() }

func (p *pile) Capacity() int64 { return 10_000_000 }

type piles struct{ time graph.Time }

func (s piles) Open(context.Context, *graph.Env) (graph.Transform[*block, *pile], error) {
	return graph.Transform[*block, *pile]{Group: &graph.Group[*block, *pile]{
		Size: 8,
		Slab: func() (*pile, error) { return &pile{}, nil },
		Row: func(c *graph.Call, _ *pile, _ int, _ *block) error {
			time.Sleep(s.time.Draw(c.Rand()))
			return nil
		},
		Fill: func(*pile, int, int) {},
		Done: func(out *pile, _ int, _ int64, _ []item.Row, free func()) *pile {
			out.free = free
			return out
		},
	}}, nil
}

// heap is a pipeline with a byte budget: read, decode, crop, batches or lists of 8, pack, step.
type heap struct {
	read, decode, crop, row, pack, step step
	size                                func(i int64) int64
	budget                              int64
	items                               int64
	filter, lists, batches              bool
}

const mega = 1_000_000

// roomy reads faster than decode, which has 8 workers of 40 ms each: 200 items a second. Each item is set aside 4 MB.
var roomy = heap{
	read: step{ms(10), []graph.Option{graph.Workers(4)}}, decode: step{ms(40), []graph.Option{graph.Workers(8)}}, crop: one(ms(1)), row: one(ms(0.5)),
	pack: one(ms(4)), step: one(ms(5)), size: func(int64) int64 { return mega }, budget: 1000 * mega, items: 1600,
}

func (p heap) with(f func(*heap)) heap {
	f(&p)
	return p
}

func (p heap) run(t *testing.T) (s graph.Snapshot) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := graph.New("heap", graph.Seed(3), graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: p.budget}))
		in := graph.From(g, "read", blocks{p.items, p.read.time, p.size}, p.read.opts...)
		in = graph.Via(in, "decode", sleep[*block](p.decode.time), p.decode.opts...)
		if p.filter {
			in = graph.Via(in, "filter", graph.Filter(func(b *block) (bool, error) { return b.n%4 > 0, nil }), graph.Workers(1))
		}
		in = graph.Via(in, "crop", sleep[*block](p.crop.time), p.crop.opts...)
		switch {
		case p.lists:
			s = consume(t, g, graph.Via(graph.Via(in, "collect", graph.Collect[*block](8), graph.Workers(1)), "pack", sleep[[]*block](p.pack.time), p.pack.opts...), p.step.time)
		case p.batches:
			s = consume(t, g, graph.Via(graph.Via[*block, *pile](in, "pile", piles{p.row.time}, p.row.opts...), "pack", sleep[*pile](p.pack.time), p.pack.opts...), p.step.time)
		default:
			s = consume(t, g, in, p.step.time)
		}
	})
	return s
}

func consume[T any](t *testing.T, g *graph.Pipeline, in graph.Port[T], took graph.Time) graph.Snapshot {
	out := graph.Output(in, "train")
	run, err := g.Start(t.Context())
	require.NoError(t, err)
	k := 0
	for _, err := range out.All(run) {
		require.NoError(t, err)
		time.Sleep(took.Draw(graph.NewCall(t.Context(), 1, "train", item.Pos{Place: int64(k)}).Rand()))
		k++
	}
	require.NoError(t, run.Wait())
	return run.Snapshot()
}

func several(n int, t graph.Time) step { return step{t, []graph.Option{graph.Workers(n)}} }

// scattered is a number below n for each item.
func scattered(i, n int64) int64 { return rand.New(rand.NewPCG(uint64(i), 7)).Int64N(n) }

// heaps are pipelines whose budget binds, unless their name says otherwise.
func heaps() map[string]heap {
	all := map[string]heap{}
	add := func(name string, f func(*heap)) { all[name] = roomy.with(f) }
	quick := func(p *heap) { p.step = one(ms(0)) }
	add("wide", func(p *heap) { quick(p) })
	add("four items", func(p *heap) { quick(p); p.budget = 17 * mega })
	add("one item", func(p *heap) { quick(p); p.budget, p.items = 4*mega, 200 })
	add("a budget that just binds", func(p *heap) { quick(p); p.budget = 30 * mega })
	add("jitter", func(p *heap) { quick(p); p.decode, p.budget = several(8, long(40, 0.8)), 24*mega })
	add("jitter of the source", func(p *heap) { quick(p); p.read, p.budget = several(8, long(20, 1)), 24*mega })
	add("the step holds the items", func(p *heap) { p.step, p.budget = one(ms(20)), 12*mega })
	add("sizes differ", func(p *heap) {
		quick(p)
		p.size, p.budget = func(i int64) int64 { return scattered(i, 5)*mega/2 + mega/10 }, 24*mega
	})
	add("quick reads, sizes differ", func(p *heap) {
		quick(p)
		p.read, p.decode, p.crop = several(4, ms(0.06)), several(16, long(20, 0.1)), one(ms(0.5))
		p.size, p.budget = func(i int64) int64 { return mega/2 + scattered(i, 101)*mega/100 }, 32*mega
	})
	add("sizes differ much", func(p *heap) {
		quick(p)
		p.size, p.budget = func(i int64) int64 {
			if scattered(i, 20) == 0 {
				return 5 * mega
			}
			return mega / 4
		}, 24*mega
	})
	add("filter", func(p *heap) { quick(p); p.filter, p.budget = true, 20*mega })
	add("lists", func(p *heap) { p.lists, p.step, p.budget = true, one(ms(40)), 64*mega })
	add("lists, as few as can be", func(p *heap) { p.lists, p.step, p.budget = true, one(ms(40)), 32*mega })
	add("batches", func(p *heap) { p.batches, p.budget = true, 40*mega })
	add("batches, wide", func(p *heap) { p.batches, p.step = true, one(ms(60)) })
	add("batches, jitter of the step", func(p *heap) { p.batches, p.step, p.budget = true, one(long(50, 0.7)), 40*mega })
	return all
}

func TestTheSimulationKeepsTheByteBudgetAsTheEngineDoes(t *testing.T) {
	for name, p := range heaps() {
		t.Run(name, func(t *testing.T) {
			s := p.run(t)
			agree(t, s, s, "")
		})
	}
}

// The formula is an upper bound: near the engine where times are fixed, and never below it.
func TestTheFormulaKnowsTheByteBudget(t *testing.T) {
	for name, want := range map[string]struct {
		by   string
		near float64
	}{
		"wide": {"decode", 0.05}, "four items": {tune.ByMemory, 0.05}, "one item": {tune.ByMemory, 0.05}, "the step holds the items": {tune.ByMemory, 0.05},
		"filter": {tune.ByMemory, 0.05}, "lists": {tune.ByMemory, 0.15}, "batches": {tune.ByMemory, 0.05},
	} {
		s := heaps()[name].run(t)
		p, err := tune.Of(s)
		require.NoError(t, err)
		p.Cores = 0
		l, real := p.Predict(), measured(t, s).Rate
		assert.Equal(t, want.by, l.By, name)
		assert.InDelta(t, 1, l.Rate/real, want.near, "%s: %v, engine %.4g\n%s", name, l, real, report.Table(s))
		assert.GreaterOrEqual(t, l.Rate, 0.98*real, name)
	}
}

// A question is answered from one run; then the budget is changed, and what the engine does is compared.
func TestAnswersAboutTheByteBudgetAreWhatTheEngineThenDoes(t *testing.T) {
	for _, c := range []struct {
		name, question string
		before, after  func(*heap)
	}{
		{"less that binds", "memory=16MB", func(*heap) {}, func(p *heap) { p.budget = 16 * mega }},
		{"less that does not bind", "memory=100MB", func(*heap) {}, func(p *heap) { p.budget = 100 * mega }},
		{"more", "memory=10x", func(p *heap) { p.budget = 16 * mega }, func(p *heap) { p.budget = 160 * mega }},
		{"fewer batches", "memory=45MB", func(p *heap) { p.batches, p.step = true, one(long(50, 0.7)) }, func(p *heap) { p.budget = 45 * mega }},
		{"more batches", "memory=400MB", func(p *heap) { p.batches, p.step, p.budget = true, one(long(38, 0.7)), 45*mega }, func(p *heap) { p.budget = 400 * mega }},
		{"lists", "memory=64MB,train=2x", func(p *heap) { p.lists, p.step = true, one(ms(80)) }, func(p *heap) { p.budget, p.step = 64*mega, one(ms(40)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := roomy.with(func(p *heap) { p.step = one(ms(0)) }).with(c.before)
			agree(t, before.run(t), before.with(c.after).run(t), c.question)
		})
	}
}

func TestQuestionsAboutTheByteBudgetThatHaveNoAnswerSayWhy(t *testing.T) {
	quick := roomy.with(func(p *heap) { p.items, p.batches = 80, true })
	p, err := tune.Of(quick.run(t))
	require.NoError(t, err)
	assert.EqualValues(t, 1000*mega, p.Memory)
	assert.Equal(t, 4.0*mega, p.Stages[0].Need)
	silent := p.Clone()
	silent.Stages[0].Need = 0
	bare := p.Clone()
	bare.Memory = 0
	for _, c := range []struct {
		p              tune.Profile
		question, want string
	}{
		{p, "memory=19MB", `two batches of "pile" take 20.0 MB, wanted at least that, got 19.0 MB`},
		{p, "memory=21MB", `4 MB are set aside for an item of "read" on average, and 1 MB would be left for items; wanted at least 24.0 MB, got 21.0 MB`},
		{p, "memory=0B", "wanted at least one byte"},
		{silent, "memory=1GB", "does not tell how many bytes are set aside for an item"},
		{bare, "memory=2x", "tells of no byte budget"},
	} {
		q, err := tune.ParseQuestion(c.question)
		require.NoError(t, err)
		_, err = q.Apply(c.p)
		require.ErrorContains(t, err, c.want)
	}
	assert.NotEqual(t, tune.ByMemory, silent.Predict().By, "no limit that nobody knows")
	_, err = tune.ParseQuestion("memory=12")
	require.ErrorContains(t, err, "with a unit")
}
