package compare_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report/compare"
)

// sleepy is a run in virtual time of a stage that sleeps 5 ms an item, times slow, behind a sink that takes 2 ms. Each
// run is a little off as a whole (1 %), as a machine is from hour to hour, and each item much more (20 %).
func sleepy(t *testing.T, name string, slow float64, seed uint64) *compare.Report {
	var s graph.Snapshot
	r := rand.New(rand.NewPCG(seed, 77))
	day := 1 + 0.01*r.NormFloat64()
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("sleepy", graph.Seed(7))
		src := graph.From(p, "read", counter(200), graph.Workers(2))
		work := graph.Via(src, "work", graph.MapCall(func(c *graph.Call, i int) (int, error) {
			time.Sleep(time.Duration(5e6 * slow * day * max(0.2, 1+0.2*normal(c))))
			return i, nil
		}), graph.Workers(2))
		out := graph.Output(work, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(2 * time.Millisecond)
		}
		require.NoError(t, run.Wait())
		s = run.Snapshot()
	})
	return read(t, name, s)
}

func normal(c *graph.Call) float64 { return c.Rand().Normal() }

// sets are five interleaved runs a side.
func sets(t *testing.T, slow float64, seed uint64) *compare.Comparison {
	var a, b []*compare.Report
	for i := range uint64(compare.Runs) {
		a = append(a, sleepy(t, fmt.Sprint("a", i), 1, seed+2*i))
		b = append(b, sleepy(t, fmt.Sprint("b", i), slow, seed+2*i+1))
	}
	return of(t, a, b)
}

func TestTenEqualSetsDoNotAlarmInVirtualTime(t *testing.T) {
	for set := range uint64(10) {
		c := sets(t, 1, 1000*set)
		assert.Zero(t, c.Alarms, c.Text())
	}
}

func TestTenPerCentOnASleepingStageAreCaughtInVirtualTime(t *testing.T) {
	for set := range uint64(10) {
		c := sets(t, 1.1, 1000*set)
		assert.Equal(t, compare.Worse, figure(t, c, "stages.work.service.p50").Standing, c.Text())
		assert.InDelta(t, 0.1, *figure(t, c, "stages.work.service.p50").Change, 0.04)
		assert.Equal(t, 1, c.Unexplained, "the stage's: nothing in settings or environment explains it")
	}
}

type counter int64

func (n counter) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: int64(n), At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}
