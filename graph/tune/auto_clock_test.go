package tune_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// spin computes so many rounds.
func spin(rounds int) graph.Stage[int64, int64] {
	return graph.Map(func(v int64) (int64, error) {
		x := uint64(v) | 1
		for range rounds {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		return int64(x >> 1), nil
	})
}

// clocked is the rate of the last second of a run that computes, on the real clock.
func clocked(t *testing.T, seconds int, decode, crop int, opts ...graph.PipelineOption) (float64, []graph.Decision) {
	p := graph.New("clocked", append(opts, graph.Epochs(graph.Forever))...)
	in := graph.From(p, "read", numbers{100_000, ms(0)})
	in = graph.Via(in, "decode", spin(300_000), graph.Workers(decode))
	in = graph.Via(in, "crop", spin(100_000), graph.Workers(crop))
	out := graph.Output(graph.Via(in, "list", graph.Collect[int64](4), graph.Workers(1)), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	began := time.Now()
	var mid graph.Snapshot
	for range out.All(run) {
		at := time.Since(began)
		if mid.Pipeline == "" && at > time.Duration(seconds-2)*time.Second {
			mid = run.Snapshot()
		}
		if at > time.Duration(seconds)*time.Second {
			break
		}
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	return tune.Between(mid, s).Rate, s.Decisions
}

// On the real clock, where stages compute, ten seconds are enough for 0.85 of the best fixed setting. It needs a quiet
// machine: PENSTOCK_CLOCK=1.
func TestAutoComesNearTheBestWhereStagesCompute(t *testing.T) {
	if os.Getenv("PENSTOCK_CLOCK") == "" {
		t.Skip("measures for half a minute; set PENSTOCK_CLOCK=1 on a quiet machine")
	}
	best, at := 0.0, ""
	for decode := 1; decode <= 4; decode++ {
		for crop := 1; crop <= 2; crop++ {
			rate, _ := clocked(t, 4, decode, crop)
			if rate > best {
				best, at = rate, fmt.Sprint(decode, crop)
			}
		}
	}
	rate, log := clocked(t, 10, 0, 0, graph.Tuned(tune.Auto))
	t.Logf("best %.0f with %s, auto %.0f%s", best, at, rate, decided(log))
	assert.GreaterOrEqual(t, rate, 0.85*best)
}
