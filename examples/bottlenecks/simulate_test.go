package bottlenecks

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// What the simulation draws from a report is what the engine did: rates within 5 %, the tail of the sink's waits within
// 15 %, or within 1 % of a batch's time where there is hardly any.
func TestTheSimulationOfAReportIsTheRunInVirtualTime(t *testing.T) {
	for _, file := range specs(t) {
		t.Run(file, func(t *testing.T) {
			p := load(t, file, "epochs=12")
			var s graph.Snapshot
			synctest.Test(t, func(t *testing.T) { s = run(t, p) })
			prof, err := tune.Of(s)
			require.NoError(t, err)
			prof.Cores = 0 // time stands still while a stage computes here
			o, m := tune.Simulate(prof, tune.Options{}), prof.Measured
			assert.InEpsilon(t, m.Rate, o.Rate, 0.05)
			assert.InDelta(t, m.P95, o.Waits.P95, max(0.15*m.P95, 0.01*prof.Samples/m.Rate))
			assert.InDelta(t, m.WaitRatio, o.WaitRatio, 0.05)
		})
	}
}

// The advice of a verdict, tried in the simulation before it is taken.
func TestTheAdviceHelpsInTheSimulationToo(t *testing.T) {
	for file, question := range map[string]string{"decode.yaml": "decode.workers=4", "read.yaml": "read.workers=4", "transform.yaml": "transform.workers=4",
		"batch_stage.yaml": "mix_up.workers=3", "jitter.yaml": "read.window=512,read.buffer=512"} {
		t.Run(file, func(t *testing.T) {
			before := load(t, file, "epochs=12")
			q, err := tune.ParseQuestion(question)
			require.NoError(t, err)
			after := load(t, file, append(strings.Split(question, ","), "epochs=12")...)
			var first, second graph.Snapshot
			synctest.Test(t, func(t *testing.T) { first, second = run(t, before), run(t, after) })
			p, err := tune.Of(first)
			require.NoError(t, err)
			p.Cores = 0
			asked, err := q.Apply(p)
			require.NoError(t, err)
			real, err := tune.Of(second)
			require.NoError(t, err)
			// Where a few items take a hundred times as long as most, when they come decides; no prediction knows that. Over
			// the orders in which they may come, the engine's is one of many.
			low, high := math.Inf(1), 0.0
			for seed := range uint64(20) {
				rate := tune.Simulate(asked, tune.Options{Seed: seed}).Rate
				low, high = min(low, rate), max(high, rate)
			}
			assert.GreaterOrEqual(t, real.Measured.Rate, 0.95*low, "predicted from the run before")
			assert.LessOrEqual(t, real.Measured.Rate, 1.05*high, "predicted from the run before")
			if file != "jitter.yaml" {
				assert.Less(t, high-low, 0.05*high, "times that do not vary leave nothing to chance")
			}
		})
	}
}
