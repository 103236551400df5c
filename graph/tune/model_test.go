package tune_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// photos is a pipeline with known costs: a batch of 10 takes 10 ms of reading by 2 workers, 40 ms of decoding on one of
// 4 cores, and a step of 5 ms.
func photos() tune.Profile {
	return tune.Profile{Pipeline: "photos", Cores: 4, Samples: 10, Stages: []tune.Stage{
		{ID: "read", Waits: true, Ordered: true, Workers: 2, Buffer: 8, Window: 8, Out: 1, Visits: 10, Epoch: 1000, Epochs: 2, Bytes: 100_000, Read: 1, Time: tune.Fixed(1e-3)},
		{ID: "decode", From: []int{0}, Ordered: true, Workers: 1, Buffer: 8, Window: 8, Out: 1, Visits: 10, Bytes: 600_000, Time: tune.Fixed(4e-3)},
		{ID: "collate", From: []int{1}, Ordered: true, Workers: 1, Buffer: 4, Window: 4, Group: 10, Slabs: 8, Out: 0.1, Visits: 10, Bytes: 6_000_000},
		{ID: "train", From: []int{2}, Sink: true, Waits: true, Workers: 1, Out: 1, Visits: 1, Time: tune.Fixed(5e-3)},
	}}
}

func ask(t *testing.T, p tune.Profile, question string) tune.Profile {
	t.Helper()
	q, err := tune.ParseQuestion(question)
	require.NoError(t, err)
	p, err = q.Apply(p)
	require.NoError(t, err)
	return p
}

func TestTheSlowestLimitIsTheRate(t *testing.T) {
	for question, want := range map[string]tune.Limit{
		"cores=4":                             {Rate: 250, By: "decode"}, // one worker, 4 ms each
		"decode.workers=2":                    {Rate: 500, By: "decode"},
		"decode.workers=64":                   {Rate: 1000, By: "decode"}, // no more than 4 at once
		"decode.workers=64,cores=2x":          {Rate: 2000, By: "read"},
		"decode.workers=4,decode=10x":         {Rate: 2000, By: "read"},
		"decode=10x,read=10x":                 {Rate: 2000, By: "train"},
		"decode=10x,read=10x,train=2x":        {Rate: 2500, By: "decode"},
		"decode=100x,read=10x,accelerators=8": {Rate: 16000, By: "train"},
		"decode=100x,disk=50MB/s":             {Rate: 500, By: "read"}, // 100 kB each
		"decode=100x,cache=50MB":              {Rate: 2000, By: "train"},
		"decode=100x,train=9x,cache=50MB":     {Rate: 4000, By: "read"},  // half of the reads are spared
		"decode.cache=300MB":                  {Rate: 500, By: "decode"}, // half of the pictures are kept decoded
		"decode.cache=1TB":                    {Rate: 2000, By: "train"},
	} {
		got := ask(t, photos(), question).Predict()
		assert.Equal(t, want.By, got.By, question)
		assert.InEpsilon(t, want.Rate, got.Rate, 1e-9, question)
	}
}

// Of a run with a cache a question is about another limit: what it spares is beside what was spared already.
func TestAnotherLimitOfACache(t *testing.T) {
	p := photos()
	for i := range 2 { // half of the look-ups were hits, so that half as much was read and decoded
		p.Stages[i].Visits = 5
	}
	p.Stages[1].Missed, p.Stages[1].Set = 0.5, 600e6
	for question, want := range map[string]float64{
		"decode.cache=300MB": 500,        // as it is
		"decode.cache=450MB": 1000,       // a quarter is missed
		"decode.cache=0MB":   250,        // everything is
		"decode.cache=600MB": 2000,       // train
		"decode.cache=1TB":   2000,       // no more than everything
		"decode.cache=60MB":  1 / 3.6e-3, // nine tenths are
	} {
		assert.InEpsilon(t, want, ask(t, p, question).Predict().Rate, 1e-9, question)
	}
}

func TestAllocationTakesTheFewestWorkersThatTheBestRateNeeds(t *testing.T) {
	p := photos()
	a := p.Allocate()
	assert.Equal(t, "decode", a.By, "4 cores make 1000 pictures a second")
	assert.InEpsilon(t, 1000.0, a.Rate, 1e-9)
	assert.Equal(t, []int{1, 4, 1, 1}, a.Workers)
	assert.InEpsilon(t, 4.0, a.Cores, 1e-9)
	assert.InEpsilon(t, a.Rate, a.Apply(p).Predict().Rate, 1e-9)

	a = ask(t, p, "cores=64").Allocate()
	assert.Equal(t, tune.Limit{Rate: 2000, By: "train"}, a.Limit)
	assert.Equal(t, []int{2, 8, 1, 1}, a.Workers)
	assert.InEpsilon(t, 8.0, p.CoresFor(2000), 1e-9, "cores for an accelerator")

	// What waits is given workers as the rate needs them, and memory bounds them.
	slow := ask(t, p, "cores=64,read=0.01x")
	a = slow.Allocate()
	assert.Equal(t, 200, a.Workers[0])
	assert.Greater(t, a.Bytes, 60e6)
	slow.Memory = 55_000_000 // and nothing tells what is set aside for an item
	bounded := slow.Allocate()
	assert.Equal(t, tune.ByMemory, bounded.By)
	assert.Less(t, bounded.Rate, 1000.0)
	assert.LessOrEqual(t, bounded.Bytes, 55e6)
}

func TestSmallestCacheHidesTheStore(t *testing.T) {
	p := ask(t, photos(), "decode=100x,read=0.25x") // the store gives 500 a second, the step takes 2000
	bytes, ok := p.SmallestCache(0)
	require.True(t, ok)
	assert.InEpsilon(t, 75e6, bytes, 1e-6, "three quarters of 100 MB")
	none, ok := ask(t, photos(), "decode=100x").SmallestCache(0)
	require.True(t, ok)
	assert.Zero(t, none)
	p.Stages[0].Bytes = 0
	_, ok = p.SmallestCache(0)
	assert.False(t, ok)
}

func TestQuestionsThatHaveNoAnswerSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "wanted NAME=VALUE",
		"cores":              "wanted NAME=VALUE",
		"cores=":             "wanted NAME=VALUE",
		"cores=0":            "above 0",
		"cores=NaN":          "above 0",
		"cores=1e99":         "above 0",
		"decode=2":           `such as 2x, got "2"`,
		"decode.workers=1.5": "whole number",
		"decode.colour=2":    "decode.colour: unknown",
		"disk=3GB":           "a rate such as 3GB/s",
		"disk=3/s":           "with a unit",
		"cache=-1GB":         "with a unit",
		"cores.workers=2":    "cores has no workers",
	} {
		_, err := tune.ParseQuestion(text)
		require.ErrorContains(t, err, want, text)
	}
	p := photos()
	p.Stages[0].Bytes, p.Cores = 0, 0
	for text, want := range map[string]string{
		"x=2x":      `no stage "x"`,
		"cache=1GB": "does not tell the bytes",
		"disk=1B/s": "does not tell how many bytes",
		"cores=2x":  "does not tell the cores",
	} {
		q, err := tune.ParseQuestion(text)
		require.NoError(t, err)
		_, err = q.Apply(p)
		require.ErrorContains(t, err, want)
	}
}

func TestTheSimulationAgreesWithTheFormulaWhereTimesAreFixed(t *testing.T) {
	for _, q := range []string{"cores=4", "decode.workers=4", "decode.workers=64", "decode.workers=64,cores=2x", "cores=64,accelerators=8,decode.workers=64,read.workers=64",
		"cores=3,decode.workers=5", "decode.workers=4,cache=1TB", "decode.workers=4,disk=50MB/s"} {
		p := ask(t, photos(), q)
		o := tune.Simulate(p, tune.Options{Items: 2000})
		assert.InEpsilon(t, p.Predict().Rate, o.Rate, 0.02, "%s: %v", q, p.Predict())
		assert.LessOrEqual(t, o.Cores, p.Cores+1e-9, q)
	}
}

func TestASimulationIsTheSameEachTime(t *testing.T) {
	p := photos()
	p.Stages[1].Time = tune.Fixed(4e-3).Spared(0.3)
	o := tune.Options{Seed: 5, Items: 300}
	assert.Equal(t, tune.Simulate(p, o), tune.Simulate(p, o))
	assert.NotEqual(t, tune.Simulate(p, o).Waits, tune.Simulate(p, tune.Options{Seed: 6, Items: 300}).Waits)
}

// Two cores are two tokens here, which the workers of both stages take in turn.
func TestCoresAreSharedAsTheEnginesWorkersShareTokens(t *testing.T) {
	var s graph.Snapshot
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan struct{}, 2)
		compute := func(d time.Duration) graph.Stage[int64, int64] {
			return graph.Map(func(v int64) (int64, error) {
				tokens <- struct{}{}
				time.Sleep(d)
				<-tokens
				return v, nil
			})
		}
		g := graph.New("tokens")
		in := graph.From(g, "read", numbers{2000, ms(1)}, graph.Workers(4))
		in = graph.Via(in, "decode", compute(3*time.Millisecond), graph.Workers(4))
		in = graph.Via(in, "crop", compute(2*time.Millisecond), graph.Workers(4))
		out := graph.Output(in, "train")
		run, err := g.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
		}
		s = run.Snapshot()
	})
	p, err := tune.Of(s)
	require.NoError(t, err)
	p.Overhead = 0 // what the engine itself computes takes no virtual time
	p.Cores, p.Stages[1].Time, p.Stages[2].Time = 2, tune.Fixed(3e-3), tune.Fixed(2e-3)
	p.Stages[1].Waits, p.Stages[2].Waits = false, false
	o := tune.Simulate(p, tune.Options{})
	assert.InEpsilon(t, measured(t, s).Rate, o.Rate, 0.02)
	assert.InEpsilon(t, 400, o.Rate, 0.02, "2 cores, 5 ms each")
	assert.InDelta(t, 2, o.Cores, 0.02)
}

func TestTimesKeepTheirMeanAndShare(t *testing.T) {
	x := tune.Fixed(2)
	assert.Equal(t, 2.0, x.Mean())
	assert.Equal(t, 1.0, x.Scaled(0.5).Mean())
	assert.InDelta(t, 1.5, x.Spared(0.25).Mean(), 1e-12)
	assert.InDelta(t, 0.75, x.Spared(0.25).Spared(0.5).Mean(), 1e-12)
	assert.Zero(t, x.Spared(7).Mean())
	assert.False(t, math.IsNaN(tune.Fixed(0).Scaled(3).Mean()))
}

// A machine that no test has: 64 cores, 8 devices. It must not take long to ask.
func TestALargeMachineIsSimulatedQuickly(t *testing.T) {
	p := ask(t, photos(), "cores=64,accelerators=8,decode.workers=64,read.workers=32")
	began := time.Now()
	o := tune.Simulate(p, tune.Options{Items: 20_000})
	took := time.Since(began)
	t.Logf("%d events in %v: %.3g a second; %.0f samples/s", o.Events, took, float64(o.Events)/took.Seconds(), o.Rate)
	assert.InEpsilon(t, 16_000, o.Rate, 0.02)
	assert.Less(t, took, 20*time.Second)
}

func TestFiguresThatNoRunHasAreRefused(t *testing.T) {
	const stages = `"stages":[{"id":"read","items_out":9,"service":{"mean":1}},{"id":"end","from":["read"],"items_in":9}]`
	for want, part := range map[string]string{
		"environment.cores is 1e+300, wanted 0 to 1048576":       `"environment":{"cores":1e300}`,
		"environment.cores_quota is -1, wanted 0 to":             `"environment":{"cores_quota":-1}`,
		"totals.seconds is -3, wanted 0 to 1000000000":           `"totals":{"seconds":-3}`,
		"sink.waits.p95 is 1e+300, wanted 0 to 1000000000":       `"sink":{"waits":{"p95":1e300}}`,
		"sink.phases.steady is -1, wanted":                       `"sink":{"phases":{"steady":-1}}`,
		"sink.steady_busy_seconds is -1, wanted 0 to 1000000000": `"sink":{"steady_busy_seconds":-1}`,
		"sink.wait_ratio is 7, wanted 0 to 1":                    `"sink":{"wait_ratio":7}`,
	} {
		_, err := tune.Read([]byte(`{"version":1,` + part + `,` + stages + `}`))
		require.ErrorContains(t, err, want)
	}
}
