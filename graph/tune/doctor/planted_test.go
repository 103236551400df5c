package doctor_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/tune/doctor"
)

const ms = time.Millisecond

// takes is how long a stage takes for an item: index counts the items of all epochs.
type takes func(c *graph.Call, index int64) time.Duration

func always(d time.Duration) takes { return func(*graph.Call, int64) time.Duration { return d } }

func drawn(t graph.Time) takes {
	return func(c *graph.Call, _ int64) time.Duration { return t.Draw(c.Rand()) }
}

// part is a stage of a planted pipeline. Its workers pass through lock, where there is one, one at a time.
type part struct {
	takes           takes
	workers, buffer int
	window          int
	order           graph.OrderBy
	shared          bool
}

// plant is a pipeline with a fault: read, decode, filter, crop, batches of 8, pack, and a step.
type plant struct {
	read, decode, crop, pack part
	step                     takes
	items, epochs            int64
	keep                     int64 // of so many samples one passes; 0: all
	other                    bool  // a second source beside read
	limit                    int64 // of a cache behind decode, to which an item has 1000 bytes; 0: there is none
	memory                   int64 // of the container; 0: no limit
}

func one(d time.Duration) part { return part{takes: always(d), workers: 1} }

func calm() plant {
	return plant{read: one(1 * ms), decode: one(200 * time.Microsecond), crop: one(200 * time.Microsecond), pack: one(4 * ms),
		step: always(20 * ms), items: 1200, epochs: 2}
}

type numbers struct {
	n  int64
	at func(c *graph.Call, i int64) (int64, error)
}

func (s numbers) Load() graph.Load { return graph.Wait }

func (s numbers) Open(context.Context, *graph.Env) (graph.Reader[int64], error) {
	return graph.Reader[int64]{Len: s.n, At: s.at}, nil
}

// does is what a part does with an item.
func (p part) does() func(c *graph.Call, i int64) {
	lock := make(chan struct{}, 1) // a mutex that virtual time can see
	return func(c *graph.Call, i int64) {
		if p.shared {
			lock <- struct{}{}
			defer func() { <-lock }()
		}
		time.Sleep(p.takes(c, i))
	}
}

func stage[T any](p part, index func(c *graph.Call, v T) int64) graph.Stage[T, T] {
	do := p.does()
	return graph.MapCall(func(c *graph.Call, v T) (T, error) {
		do(c, index(c, v))
		return v, nil
	})
}

// with is the part's options, changed by settings.
func (p part) with(id string, set map[string]int) []graph.Option {
	pick := func(key string, is int) int {
		if n, ok := set[id+"."+key]; ok {
			return n
		}
		return is
	}
	o := []graph.Option{graph.Workers(pick("workers", p.workers)), graph.Waits()}
	if n := pick("buffer", p.buffer); n > 0 {
		o = append(o, graph.Buffer(n))
	}
	if n := pick("window", p.window); n > 0 {
		o = append(o, graph.Window(n))
	}
	if p.order != "" {
		o = append(o, graph.Order(p.order))
	}
	return o
}

func valuesOf(t *testing.T, set []string) map[string]int {
	values := map[string]int{}
	for _, text := range set {
		key, value, _ := strings.Cut(text, "=")
		n, err := strconv.Atoi(strings.TrimSuffix(value, "KiB"))
		require.NoError(t, err, text)
		if strings.HasSuffix(value, "KiB") {
			n <<= 10
		}
		values[key] = n
	}
	return values
}

// run runs it in virtual time.
func (p plant) run(t *testing.T, set []string) (s graph.Snapshot) {
	t.Helper()
	values := valuesOf(t, set)
	synctest.Test(t, func(t *testing.T) {
		g := graph.New("planted", graph.Seed(3), graph.Epochs(int(p.epochs)))
		own := func(c *graph.Call, v int64) int64 { return c.Pos().Epoch*p.items + v }
		read := func(id string, part part) graph.Port[int64] {
			do := part.does()
			return graph.From(g, id, numbers{p.items, func(c *graph.Call, i int64) (int64, error) {
				do(c, own(c, i))
				return i, nil
			}}, part.with(id, values)...)
		}
		in := read("read", p.read)
		if p.other {
			in = graph.Merge(g, "both", []graph.Port[int64]{in, read("other", one(ms))})
		}
		in = graph.Via(in, "decode", stage(p.decode, own), p.decode.with("decode", values)...)
		if p.limit > 0 {
			in = keep(in, p.limit, values["keep.limit"])
		}
		if p.keep > 0 {
			in = graph.Via(in, "filter", graph.Filter(func(v int64) (bool, error) { return v%p.keep == 0, nil }), graph.Workers(1))
		}
		in = graph.Via(in, "crop", stage(p.crop, own), p.crop.with("crop", values)...)
		batches := graph.Via(in, "collate", graph.Collect[int64](8), graph.Workers(1))
		first := func(c *graph.Call, v []int64) int64 { return own(c, v[0]) }
		batches = graph.Via(batches, "pack", stage(p.pack, first), p.pack.with("pack", values)...)
		out := graph.Output(batches, "train")
		run, err := g.Start(t.Context())
		require.NoError(t, err)
		k := int64(0)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(p.step(graph.NewCall(t.Context(), 1, "train", item.Pos{Place: k}), k))
			k++
		}
		require.NoError(t, run.Wait())
		s = run.Snapshot()
		s.CPU, s.CPUWait = 0, 0 // of the real clock: other programs are none of these tests' business
		s.Memory.PeakRSS, s.Environment.MemoryLimit = 0, nil
		if p.memory > 0 {
			s.Environment.MemoryLimit = &p.memory
		}
	})
	return s
}

// fault is a planted pipeline, the stage that the verdict must name, the knob of the first action, and, where the action
// is no setting, the pipeline after it.
type fault struct {
	plant       plant
	stage, knob string
	mended      func(*plant)
}

func faults() map[string]fault {
	all := map[string]fault{}
	add := func(name, stage, knob string, f func(*plant)) {
		p := calm()
		f(&p)
		all[name] = fault{plant: p, stage: stage, knob: knob}
	}
	add("the accelerator is the limit", "", "", func(p *plant) { p.step = always(60 * ms) })
	add("slow read", "read", "workers", func(p *plant) { p.read = one(8 * ms) })
	add("slow read with four workers", "read", "workers", func(p *plant) { p.read = part{takes: always(30 * ms), workers: 4} })
	add("slow decode", "decode", "workers", func(p *plant) { p.decode = one(6 * ms) })
	add("slow transform", "crop", "workers", func(p *plant) { p.crop = part{takes: always(20 * ms), workers: 3} })
	add("slow batch transform", "pack", "workers", func(p *plant) { p.pack = one(50 * ms) })
	add("jitter of reading", "read", "window", func(p *plant) {
		p.read = part{takes: drawn(graph.LognormalTime(6*ms, 2)), workers: 4, window: 16}
	})
	add("a straggler in a hundred", "decode", "window", func(p *plant) {
		p.decode = part{workers: 4, window: 8, takes: func(_ *graph.Call, i int64) time.Duration {
			if i%100 == 17 {
				return 300 * ms
			}
			return 2 * ms
		}}
	})
	add("jitter of batches", "pack", "workers", func(p *plant) {
		p.pack = part{takes: drawn(graph.LognormalTime(24*ms, 1)), workers: 1}
	})
	add("two bottlenecks, equal", "read", "workers", func(p *plant) { p.read, p.decode = one(6*ms), one(6*ms) })
	add("two bottlenecks, unequal", "read", "workers", func(p *plant) { p.read, p.decode = one(12*ms), one(6*ms) })
	add("a bottleneck that moves", "read", "workers", func(p *plant) {
		p.read.takes = func(_ *graph.Call, i int64) time.Duration {
			if i < 1400 {
				return 8 * ms
			}
			return ms
		}
		p.decode.takes = func(_ *graph.Call, i int64) time.Duration {
			if i >= 1400 {
				return 8 * ms
			}
			return ms
		}
	})
	add("a filter that lets a third pass", "read", "workers", func(p *plant) { p.read, p.keep = one(3*ms), 3 })
	add("one of two sources is slow", "read", "workers", func(p *plant) { p.read, p.other = one(12*ms), true })
	add("pauses that a buffer could bridge", "decode", "buffer", func(p *plant) {
		p.decode = part{workers: 1, buffer: 2, takes: func(_ *graph.Call, i int64) time.Duration {
			if i%150 == 60 {
				return 180 * ms
			}
			return ms
		}}
	})
	add("edges of short epochs", "", "buffer", func(p *plant) {
		p.items, p.epochs = 400, 6
		p.read.takes = func(_ *graph.Call, i int64) time.Duration {
			if i%400 == 0 { // what an epoch begins with
				return 250 * ms
			}
			return ms
		}
	})
	add("four workers share a lock", "decode", "sharing", func(p *plant) { p.decode = part{takes: always(5 * ms), workers: 4, shared: true} })
	add("readers share a slow disk", "read", "sharing", func(p *plant) { p.read = part{takes: always(4 * ms), workers: 8, shared: true} })
	add("one worker at a shared device", "crop", "sharing", func(p *plant) { p.crop = part{takes: always(6 * ms), workers: 1, shared: true} })
	add("a slow start only", "", "", func(p *plant) {
		p.read.takes = func(_ *graph.Call, i int64) time.Duration {
			if i == 0 {
				return 5 * time.Second
			}
			return ms
		}
	})
	add("a cache too small", "decode", "limit", func(p *plant) { p.decode, p.limit, p.epochs = one(8*ms), 480_000, 4 })
	for name, mend := range map[string]func(*plant){
		"four workers share a lock":     func(p *plant) { p.decode.shared = false },
		"readers share a slow disk":     func(p *plant) { p.read.shared = false },
		"one worker at a shared device": func(p *plant) { p.crop.takes = always(3 * ms) },
	} {
		f := all[name]
		f.mended = mend
		all[name] = f
	}
	return all
}

// The planted pipelines: the verdict names the stage, the first action is the right one, and applying it gives the
// rate that was predicted, within 10 %.
func TestTheFirstActionIsRightAndBringsWhatWasPredicted(t *testing.T) {
	all := faults()
	require.Len(t, all, 21)
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			first := f.plant.run(t, nil)
			assert.Equal(t, f.stage, report.Judge(first).Bottleneck, report.Table(first))
			x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) { return f.plant.run(t, set), nil }, doctor.Options{})
			require.NoError(t, err)
			told := x.Text() + fmt.Sprint(x.Actions)
			if name == "edges of short epochs" {
				assert.Contains(t, report.Judge(first).Sentence, `"read" causes 100 % of that; a larger buffer`)
			}
			if f.knob == "" {
				assert.True(t, x.Healthy, told)
				assert.Empty(t, x.Actions, told)
				return
			}
			require.NotEmpty(t, x.Actions, told+report.Table(first))
			a := x.Actions[0]
			assert.Equal(t, f.knob, a.Knob, told)
			switch {
			case f.plant.limit > 0: // what spares the stage stands behind it
				assert.Equal(t, "keep", a.Stage, told)
			case f.stage != "": // the verdict is about the steady phase
				assert.Equal(t, f.stage, a.Stage, told)
			}
			got := a.Measured
			if f.mended != nil {
				p := f.plant
				f.mended(&p)
				after := p.run(t, nil)
				k := after.Sink
				r := float64(k.SteadyItems) * 8 / (k.SteadyWait + k.SteadyBusy).Seconds()
				got = &r
			}
			require.NotNil(t, got, told)
			assert.InEpsilon(t, a.Predicted, *got, 0.1, told)
			assert.LessOrEqual(t, len(x.Actions), 3)
			assert.LessOrEqual(t, x.Runs, doctor.Runs)
		})
	}
}
