package graph_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// counted counts how often it was released.
type counted struct{ n atomic.Int64 }

func (c *counted) Release() { c.n.Add(1) }

// A call that returns after the run was broken off has used its input up: nobody else may release it.
func TestTimedCallsThatOutliveTheRunReleaseTheirInputOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := make([]counted, 5)
		p := graph.New("timed")
		src := graph.From(p, "read", source[*counted]{5, func(_ *graph.Call, i int64) (*counted, error) { return &items[i], nil }}, graph.Workers(1))
		out := graph.Output(graph.Via(src, "late", graph.Map(func(c *counted) (*counted, error) {
			time.Sleep(5 * ms)
			return c, nil
		}), graph.Workers(2), graph.Timeout(100*ms)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for range out.All(run) {
			time.Sleep(2 * ms)
			break
		}
		require.NoError(t, run.Wait())
		time.Sleep(time.Second)
		for i := range items {
			require.LessOrEqual(t, items[i].n.Load(), int64(1), "item %d", i)
		}
	})
}
