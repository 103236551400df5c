package tune_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

func TestATrialIsWhatHappenedAfterTheWarmUp(t *testing.T) {
	at := func(elapsed, wait, busy, cpu time.Duration, items int64) graph.Snapshot {
		return graph.Snapshot{Pipeline: "p", CPU: cpu * time.Second, Totals: graph.Totals{Elapsed: elapsed * time.Second, Samples: 8 * items},
			Sink:   graph.SinkStats{Wait: wait * time.Second, Busy: busy * time.Second, SteadyItems: items - 1, SteadyWait: (wait - 2) * time.Second, SteadyBusy: busy * time.Second},
			Stages: []graph.StageStats{{ID: "train", ItemsIn: items}}}
	}
	warm, end := at(10, 9, 1, 5, 10), at(20, 12, 7, 25, 60)
	x := tune.Between(warm, end)
	assert.InEpsilon(t, 50.0/9, x.Items, 1e-9)
	assert.InEpsilon(t, 400.0/9, x.Rate, 1e-9)
	assert.InEpsilon(t, 3.0/9, x.WaitRatio, 1e-9)
	assert.InEpsilon(t, 2.0, x.CPU, 1e-9)
	x = tune.Between(graph.Snapshot{}, end)
	assert.InEpsilon(t, 59.0/17, x.Items, 1e-9, "of a short run only the steady phase")
	assert.Zero(t, tune.Between(end, end).CPU)
	assert.Zero(t, tune.Between(graph.Snapshot{}, graph.Snapshot{}).Rate)
}

func TestWhatGrowsFromEpochToEpochRaisesAnAlarm(t *testing.T) {
	epochs := func(goroutines ...int) (all []graph.EpochStats) {
		for _, n := range goroutines {
			all = append(all, graph.EpochStats{Goroutines: n, PeakRSS: 100})
		}
		return all
	}
	assert.Equal(t, []tune.Growth{{What: "goroutines", From: 20, To: 28, Epochs: 5}}, tune.Growing(epochs(5, 20, 22, 24, 26, 28)))
	leak := epochs(20, 20, 20, 20, 20, 20)
	for i := range leak {
		leak[i].InFlight = int64(1000 + 100*i)
	}
	assert.Equal(t, []tune.Growth{{What: "in_flight", From: 1100, To: 1500, Epochs: 5}}, tune.Growing(leak))
	assert.Empty(t, tune.Growing(epochs(5, 20, 20, 20, 20)), "the first epoch fills what stays")
	assert.Empty(t, tune.Growing(epochs(5, 20, 30, 20, 31)), "up and down is no growth")
	assert.Empty(t, tune.Growing(epochs(5, 20, 30)), "too few to tell")
	assert.Equal(t, 24.0, tune.Growing(epochs(5, 20, 21, 22, 24, 0))[0].To, "the last one goes on")
}

func TestFindingsNameTheLowestCeiling(t *testing.T) {
	p := photos()
	c := tune.Ceilings{Profile: p, Whole: tune.Trial{Rate: 245}, Replay: 2000, Prep: 250, Warm: 2000, Alone: make([]float64, 4)}
	name, rate := c.Slowest()
	assert.Equal(t, "prep", name)
	assert.Equal(t, 250.0, rate)
	assert.Equal(t, []string{
		"preparing limits: 250 samples/s without the sink, which could take 2000",
		"no cache is needed to hide the store of read",
		"to keep the sink busy takes 8 cores; there are 4",
		"a store twice as fast would bring 1.00 x (250 samples/s, limited by decode)",
	}, c.Findings())
	c.Cold = 100
	assert.Equal(t, []string{
		"reading limits: 100 samples/s alone on cold data, while preparing makes 250",
		"cold data are read at 100 samples/s, warm ones at 2000: the first pass is that much slower",
		"a cache of 60.0 MB of the 100 MB behind read would hide the store, from the second epoch on",
		"to keep the sink busy takes 8 cores; there are 4",
		"a store twice as fast would bring 2.00 x (200 samples/s, limited by read)",
	}, c.Findings())
	c.Alone, c.AloneFirst = []float64{0, 1000, 900, 2000}, []tune.First{{}, {Rate: 400, Seconds: 0.5}, {Rate: 300, Seconds: 0.001}, {Rate: 500, Seconds: 2, Open: 1.4}}
	c.WholeFirst, c.Later = tune.First{Rate: 100, Seconds: 2}, 240
	assert.Subset(t, c.Findings(), []string{
		"the first epoch of the whole takes 2.4 times as long as later ones (1.167s longer): judge it by the later ones",
		"decode is 2.5 times slower in its first pass (300ms longer): first-epoch effect: memory that is touched for the first time, or what it fills once",
		"train is 4.0 times slower in its first pass (1.5s longer): it is opened for 1.4s, once a run",
	})
	assert.NotContains(t, strings.Join(c.Findings(), "\n"), "collate", "a millisecond is worth no word")
	c.Caches = map[string]bool{"decode": true}
	assert.Contains(t, c.Findings(), "decode gives items 2.5 times as quickly once it has them")
	c.Cold, c.Prep, c.Whole.Rate = 0, 5000, 1990
	assert.Contains(t, c.Findings()[0], "the sink itself limits")
	c.Whole.Rate = 1000
	assert.Contains(t, c.Findings()[0], "in each other's way")
	assert.Contains(t, tune.Ceilings{Profile: p}.Findings()[0], "too little was measured")
	assert.InEpsilon(t, 300.0, p.AtSink("read", 300), 1e-9)
	assert.InEpsilon(t, 300.0, p.AtSink("collate", 30), 1e-9)
	assert.Zero(t, p.AtSink("nowhere", 30))
}
