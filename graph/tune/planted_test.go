package tune_test

import (
	"context"
	"flag"
	"math"
	"os"
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

var update = flag.Bool("update", false, "write the recorded report anew")

// numbers is a source whose reads take a time.
type numbers struct {
	n    int64
	time graph.Time
}

func (s numbers) Load() graph.Load { return graph.Wait }

func (s numbers) Open(context.Context, *graph.Env) (graph.Reader[int64], error) {
	return graph.Reader[int64]{Len: s.n, At: func(c *graph.Call, i int64) (int64, error) {
		time.Sleep(s.time.Draw(c.Rand()))
		return i, nil
	}}, nil
}

func sleep[T any](d graph.Time) graph.Stage[T, T] {
	return graph.MapCall(func(c *graph.Call, v T) (T, error) {
		time.Sleep(d.Draw(c.Rand()))
		return v, nil
	})
}

// step is one stage of a planted pipeline.
type step struct {
	time graph.Time
	opts []graph.Option
}

func ms(x float64) graph.Time { return graph.Fixed(time.Duration(x * float64(time.Millisecond))) }

func long(mean, sigma float64) graph.Time {
	return graph.LognormalTime(time.Duration(mean*float64(time.Millisecond)), sigma)
}

// plant is a pipeline with known times: read, decode, crop, batches of 8, pack, step.
type plant struct {
	read, decode, crop, pack, step step
	items                          int64
	epochs                         int
	filter                         int64 // keeps one in so many; 0: all
	merge                          bool
	mix                            []float64 // shares of read and other; nil: none
}

func (p plant) with(f func(*plant)) plant {
	f(&p)
	return p
}

func one(t graph.Time, opts ...graph.Option) step {
	return step{t, append([]graph.Option{graph.Workers(1)}, opts...)}
}

func (p plant) run(t *testing.T) (s graph.Snapshot) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := graph.New("planted", graph.Seed(3), graph.Epochs(p.epochs))
		in := graph.From(g, "read", numbers{p.items, p.read.time}, p.read.opts...)
		if p.mix != nil {
			other := graph.From(g, "other", numbers{p.items, p.read.time}, graph.Workers(1))
			in = graph.Mix(g, "both", []graph.Port[int64]{in, other}, graph.Mixing{Weights: p.mix})
		}
		if p.merge {
			other := graph.From(g, "other", numbers{p.items / 3, p.read.time}, p.read.opts...)
			in = graph.Merge(g, "both", []graph.Port[int64]{in, other})
		}
		in = graph.Via(in, "decode", sleep[int64](p.decode.time), p.decode.opts...)
		if p.filter > 0 {
			in = graph.Via(in, "filter", graph.Filter(func(v int64) (bool, error) { return v%p.filter == 0, nil }), graph.Workers(1))
		}
		in = graph.Via(in, "crop", sleep[int64](p.crop.time), p.crop.opts...)
		b := graph.Via(in, "collate", graph.Collect[int64](8), graph.Workers(1))
		b = graph.Via(b, "pack", sleep[[]int64](p.pack.time), p.pack.opts...)
		out := graph.Output(b, "train")
		run, err := g.Start(t.Context())
		require.NoError(t, err)
		r := p.step.time
		k := 0
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(r.Draw(graph.NewCall(t.Context(), 1, "train", item.Pos{Place: int64(k)}).Rand()))
			k++
		}
		require.NoError(t, run.Wait())
		s = run.Snapshot()
	})
	return s
}

var calm = plant{read: one(ms(1)), decode: one(ms(0.2)), crop: one(ms(0.2)), pack: one(ms(4)), step: one(ms(20)), items: 2400, epochs: 2}

// planted are pipelines with a fault each.
func planted() map[string]plant {
	all := map[string]plant{"healthy": calm}
	add := func(name string, f func(*plant)) { all[name] = calm.with(f) }
	add("slow read", func(p *plant) { p.read = one(ms(8)) })
	add("slow read, four workers", func(p *plant) { p.read = step{ms(11), []graph.Option{graph.Workers(4)}} })
	add("slow decode", func(p *plant) { p.decode = one(ms(6)) })
	add("slow crop", func(p *plant) { p.crop = step{ms(9), []graph.Option{graph.Workers(3)}} })
	add("slow pack", func(p *plant) { p.pack = one(ms(35)) })
	add("slow pack, two workers", func(p *plant) { p.pack = step{ms(50), []graph.Option{graph.Workers(2)}} })
	add("jitter", func(p *plant) {
		p.read = step{long(6, 2), []graph.Option{graph.Workers(4), graph.Window(16)}}
	})
	add("jitter, wide window", func(p *plant) {
		p.read = step{long(6, 2), []graph.Option{graph.Workers(4), graph.Window(64), graph.Buffer(64)}}
	})
	add("jitter, as finished", func(p *plant) {
		p.read = step{long(14, 1), []graph.Option{graph.Workers(4), graph.Order(graph.CompletionOrder)}}
	})
	add("jitter in decode", func(p *plant) { p.decode = step{long(4, 1.2), []graph.Option{graph.Workers(2)}} })
	add("jitter of batches", func(p *plant) { p.pack = step{long(19, 1), []graph.Option{graph.Workers(1)}} })
	add("jitter of the step", func(p *plant) { p.step.time, p.pack = long(20, 0.8), one(ms(18)) })
	add("two at once", func(p *plant) { p.read, p.decode = one(ms(5)), one(ms(5)) })
	add("two with jitter", func(p *plant) {
		p.read, p.decode = step{long(10, 1), []graph.Option{graph.Workers(4)}}, step{long(5, 1), []graph.Option{graph.Workers(2)}}
	})
	add("small buffer", func(p *plant) {
		p.decode, p.crop = one(graph.UniformTime(0, 5*time.Millisecond), graph.Buffer(1)), one(graph.UniformTime(0, 5*time.Millisecond), graph.Buffer(1))
	})
	add("many short epochs", func(p *plant) { p.read, p.items, p.epochs = one(ms(4)), 60, 40 })
	add("filter", func(p *plant) { p.read, p.filter = one(ms(1.5)), 3 })
	add("merge", func(p *plant) { p.read, p.merge = one(ms(6)), true })
	add("a mix of unequal shares", func(p *plant) { p.read, p.mix = one(ms(6)), []float64{0.8, 0.2} })
	add("a mix whose small share is slow", func(p *plant) {
		p.read, p.mix = one(ms(6)), []float64{0.1, 0.9}
	})
	add("step at the pace of the pipeline", func(p *plant) { p.read = step{long(9.5, 0.7), []graph.Option{graph.Workers(4)}} })
	return all
}

// near says whether a predicted wait is the measured one: within a share of it, or where both are too short to matter
// beside the time of an item.
func near(t *testing.T, want, got, share, item float64, what string) {
	t.Helper()
	assert.LessOrEqual(t, math.Abs(want-got), max(share*want, 0.01*item), "%s: engine %.6g, simulation %.6g", what, want, got)
}

func TestTheSimulationDoesWhatTheEngineDoes(t *testing.T) {
	for name, p := range planted() {
		t.Run(name, func(t *testing.T) {
			s := p.run(t)
			agree(t, s, s, "")
		})
	}
}

// agree predicts from one run, and compares with what another, the real one, did.
func agree(t *testing.T, from, real graph.Snapshot, question string) {
	t.Helper()
	p, err := tune.Of(from)
	require.NoError(t, err)
	if question != "" {
		q, err := tune.ParseQuestion(question)
		require.NoError(t, err)
		p, err = q.Apply(p)
		require.NoError(t, err)
	}
	p.Cores = 0 // of virtual time there are as many as anybody wants
	got, want := tune.Simulate(p, tune.Options{Seed: 1}), measured(t, real)
	near(t, want.Rate, got.Rate, 0.05, 0, "samples/s")
	near(t, want.P95, got.Waits.P95, 0.15, p.Samples/want.Rate, "p95 of the sink's waits")
	if t.Failed() {
		t.Logf("%s\n%+v", report.Table(real), got)
	}
}

func measured(t *testing.T, s graph.Snapshot) tune.Measured {
	t.Helper()
	p, err := tune.Of(s)
	require.NoError(t, err)
	return p.Measured
}

// A question is answered from one run; then the change is made, and what the engine does is compared.
func TestAnswersAreWhatTheEngineThenDoes(t *testing.T) {
	workers := func(n int, more ...graph.Option) []graph.Option { return append(more, graph.Workers(n)) }
	for _, c := range []struct {
		name, question string
		before, after  func(*plant)
	}{
		{"more workers", "read.workers=4", func(p *plant) { p.read = one(ms(9)) }, func(p *plant) { p.read = step{ms(9), workers(4)} }},
		{"too many workers", "decode.workers=8", func(p *plant) { p.decode = one(long(6, 1)) },
			func(p *plant) { p.decode = step{long(6, 1), workers(8)} }},
		{"a quicker stage", "pack=2x", func(p *plant) { p.pack = one(ms(60)) }, func(p *plant) { p.pack = one(ms(30)) }},
		{"two quicker stages", "pack=3x,read=1.25x", func(p *plant) { p.pack, p.read = one(ms(60)), one(ms(5)) },
			func(p *plant) { p.pack, p.read = one(ms(20)), one(ms(4)) }},
		{"a quicker step", "train=4x", func(p *plant) {}, func(p *plant) { p.step = one(ms(5)) }},
		{"a wider window", "read.window=64,read.buffer=64", func(p *plant) { p.read = step{long(6, 1.5), workers(4, graph.Window(8), graph.Buffer(8))} },
			func(p *plant) { p.read = step{long(6, 1.5), workers(4, graph.Window(64), graph.Buffer(64))} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := calm.with(c.before)
			agree(t, before.run(t), calm.with(c.before).with(c.after).run(t), c.question)
		})
	}
}

func TestTheRecordedReportIsOfTheEngineAsItIs(t *testing.T) {
	p := calm.with(func(p *plant) { p.read, p.items = one(ms(8)), 240 })
	s := p.run(t)
	s.Environment, s.Memory, s.CPU, s.CPUWait, s.GCPause, s.DigestTime = graph.Environment{Cores: 4, CoresQuota: 4}, graph.MemoryStats{}, 0, 0, 0, 0
	for i := range s.Epochs {
		s.Epochs[i].PeakRSS, s.Epochs[i].Goroutines = 0, 0
	}
	text, err := report.JSON(s)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("testdata/report.json", text, 0o644))
	}
	file, err := os.ReadFile("testdata/report.json")
	require.NoError(t, err)
	want, err := tune.Read(file)
	require.NoError(t, err)
	got, err := tune.Read(text)
	require.NoError(t, err)
	require.Equal(t, want, got, "if the change is meant: go test ./graph/tune -update")
}
