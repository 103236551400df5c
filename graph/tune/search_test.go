package tune_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// onPlant tries settings on a planted pipeline in virtual time.
func onPlant(t *testing.T, p plant) func([]tune.Setting) (tune.Trial, error) {
	return func(set []tune.Setting) (tune.Trial, error) {
		p := p
		for _, s := range set {
			st := map[string]*step{"read": &p.read, "decode": &p.decode, "crop": &p.crop, "pack": &p.pack}[s.Stage]
			n, err := strconv.Atoi(s.Value)
			if st == nil || err != nil && s.Key != "order" {
				return tune.Trial{}, errors.New("cannot set " + s.String())
			}
			opts := append([]graph.Option{}, st.opts...)
			switch s.Key {
			case "workers":
				opts = append(opts, graph.Workers(n))
			case "buffer":
				opts = append(opts, graph.Buffer(n))
			case "window":
				opts = append(opts, graph.Window(n))
			case "order":
				opts = append(opts, graph.Order(graph.OrderBy(s.Value)))
			}
			st.opts = opts
		}
		snap := p.run(t)
		snap.CPUWait = 0 // other programs are none of this test's business
		return tune.Between(graph.Snapshot{}, snap), nil
	}
}

// Two stages are too slow, one after the other: the search must find both, and no more workers than needed.
func TestTheSearchTurnsTheKnobsThatLimit(t *testing.T) {
	p := calm.with(func(p *plant) { p.read, p.decode, p.items, p.epochs = one(ms(9)), one(ms(6)), 640, 1 })
	s := tune.Search{Repeat: 1, Try: onPlant(t, p)}
	r, err := s.Run()
	require.NoError(t, err)
	t.Logf("%+v", r.Decisions)
	got := map[string]string{}
	for _, x := range r.Settings {
		got[x.Stage+"."+x.Key] = x.Value
	}
	assert.Contains(t, []string{"4", "5"}, got["read.workers"])
	assert.Contains(t, []string{"3", "4"}, got["decode.workers"])
	assert.InEpsilon(t, 111, r.Before.Rate, 0.03)
	assert.InEpsilon(t, 400, r.After.Rate, 0.03, "the step's own 20 ms")
	assert.Equal(t, "1", r.Was["read.workers"])
	require.Greater(t, len(r.Steps), 2)
	assert.Equal(t, "as the spec says", r.Steps[0].Setting)
	for _, x := range r.Steps[1:] {
		assert.Greater(t, x.Gain, 0.03, x.Setting)
	}
}

func TestTheSearchLeavesAHealthyPipelineAlone(t *testing.T) {
	s := tune.Search{Repeat: 1, Try: onPlant(t, calm.with(func(p *plant) { p.items, p.epochs = 400, 1 }))}
	r, err := s.Run()
	require.NoError(t, err)
	assert.Empty(t, r.Settings)
	for _, d := range r.Decisions {
		assert.False(t, d.Kept, "%+v", d)
	}
}

func TestTheSearchTakesFewerWorkersWhereTheyDoAsWell(t *testing.T) {
	p := calm.with(func(p *plant) {
		p.read, p.items, p.epochs = step{ms(4), []graph.Option{graph.Workers(32)}}, 640, 1
	})
	s := tune.Search{Repeat: 1, Try: onPlant(t, p), Knobs: []tune.Knob{{Stage: "read", Key: "workers", Now: "32", Values: []string{"1", "2", "4", "32"}}}}
	r, err := s.Run()
	require.NoError(t, err)
	assert.Equal(t, []tune.Setting{{Stage: "read", Key: "workers", Value: "2"}}, r.Settings)
	assert.Contains(t, r.Decisions[0].Why, "fewer do as well")
}

func TestTheSearchEndsWithTheErrorOfATry(t *testing.T) {
	n := 0
	s := tune.Search{Try: func([]tune.Setting) (tune.Trial, error) {
		if n++; n > 4 {
			return tune.Trial{}, errors.New("no more")
		}
		return tune.Trial{Rate: 1}, nil
	}, Knobs: []tune.Knob{{Stage: "a", Key: "workers", Values: []string{"1", "2"}}}}
	_, err := s.Run()
	require.EqualError(t, err, "a.workers=2: no more")
}

// told is a trial with what the reasons of a knee are read from.
func told(rate, cpu float64, service time.Duration, load graph.Load, limitedBySink bool) tune.Trial {
	step := time.Nanosecond
	if limitedBySink {
		step = time.Second
	}
	return tune.Trial{Rate: rate, CPU: cpu, WaitRatio: 0.5, Snapshot: graph.Snapshot{
		Environment: graph.Environment{Cores: 8, CoresQuota: 8}, Totals: graph.Totals{Elapsed: time.Second, Samples: 10, Epochs: 1},
		Sink: graph.SinkStats{SteadyItems: 9, SteadyBusy: 9 * step},
		Stages: []graph.StageStats{
			{ID: "s", Load: load, Workers: 1, Buffer: 4, Window: 4, ItemsIn: 10, ItemsOut: 10, Service: graph.Distribution{Count: 10, Mean: service}},
			{ID: "end", From: []string{"s"}, Workers: 1, ItemsIn: 10, Service: graph.Distribution{Count: 10, Mean: step}},
		}}}
}

func TestAKneeSaysWhyItLiesThere(t *testing.T) {
	for want, trials := range map[string]map[string]tune.Trial{
		"the cores are used up, 7.9 of 8": {"1": told(10, 1, 1e6, graph.CPU, false), "8": told(78, 7.9, 1e6, graph.CPU, false), "16": told(78, 7.9, 2e6, graph.CPU, false)},
		"a lock":                          {"1": told(10, 1, 1e6, graph.CPU, false), "2": told(12, 1.2, 2e6, graph.CPU, false), "4": told(12, 1.2, 4e6, graph.CPU, false)},
		"memory bandwidth":                {"1": told(10, 1, 1e6, graph.CPU, false), "2": told(12, 2, 2e6, graph.CPU, false), "4": told(12, 4, 4e6, graph.CPU, false)},
		"the store answers later the more it is asked": {"1": told(10, .1, 1e6, graph.Wait, false), "2": told(12, .1, 2e6, graph.Wait, false), "4": told(12, .1, 4e6, graph.Wait, false)},
		"then end limits":              {"1": told(10, 1, 1e6, graph.Wait, false), "2": told(20, 2, 1e6, graph.Wait, true), "4": told(20, 2, 1e6, graph.Wait, true)},
		"the largest value tried":      {"1": told(10, 1, 1e6, graph.CPU, false), "2": told(20, 2, 1e6, graph.CPU, false)},
		"more of it brings nothing":    {"1": told(10, 1, 1e6, graph.CPU, false), "2": told(10, 1, 2e6, graph.CPU, false)},
		"4 makes it worse by 50 %":     {"1": told(10, 1, 1e6, graph.CPU, false), "2": told(20, 8, 1e6, graph.CPU, false), "4": told(10, 8, 9e6, graph.CPU, false)},
		"worse by 50 %: they wait for": {"1": told(10, 1, 1e6, graph.CPU, false), "3": told(20, 8, 1e6, graph.CPU, false), "6": told(10, 8, 9e6, graph.CPU, false)},
	} {
		var values []string
		for _, v := range []string{"1", "2", "3", "4", "6", "8", "16"} {
			if _, ok := trials[v]; ok {
				values = append(values, v)
			}
		}
		s := tune.Search{Repeat: 1, Knobs: []tune.Knob{{Stage: "s", Key: "workers", Now: "1", Values: values}}, Try: func(set []tune.Setting) (tune.Trial, error) {
			if len(set) == 0 {
				return trials["1"], nil
			}
			return trials[set[0].Value], nil
		}}
		r, err := s.Run()
		require.NoError(t, err)
		c := r.Curves[0]
		assert.Contains(t, c.Why+"|"+c.Worse, want)
	}
}

func TestWhatDoesNotHoldAtTheEndIsPutBack(t *testing.T) {
	n := 0
	s := tune.Search{Repeat: 1, Knobs: []tune.Knob{{Stage: "s", Key: "workers", Now: "1", Values: []string{"1", "2"}}}, Try: func(set []tune.Setting) (tune.Trial, error) {
		n++
		rate := map[int]float64{1: 10, 2: 10, 3: 20, 4: 10, 5: 9}[n] // the gain was luck
		return told(rate, 1, 1e6, graph.CPU, false), nil
	}}
	r, err := s.Run()
	require.NoError(t, err)
	assert.Empty(t, r.Settings)
	last := r.Decisions[len(r.Decisions)-1]
	assert.Equal(t, "all", last.Knob)
	assert.False(t, last.Kept)
}
