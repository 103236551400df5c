package stages

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func TestDelayHoldsItemsUpAndHandsThemOn(t *testing.T) {
	for _, mode := range []string{"", "sleep", "spin"} { // in a bubble spin sleeps
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr, err := Delay[string]{Time: graph.Fixed(5 * time.Millisecond), Mode: mode}.Open(t.Context(), &graph.Env{})
				require.NoError(t, err)
				w, err := tr.NewWorker(t.Context())
				require.NoError(t, err)
				start := time.Now()
				for range 3 {
					out, err := w.Map(call(0), "x")
					require.NoError(t, err)
					assert.Equal(t, "x", out)
				}
				assert.Equal(t, 15*time.Millisecond, time.Since(start))
			})
		})
	}
}

func TestSpinKeepsTheCoreBusyAtLeastAsLong(t *testing.T) {
	start := time.Now()
	require.NoError(t, spin(t.Context(), 2*time.Millisecond))
	assert.GreaterOrEqual(t, time.Since(start), 2*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, spin(ctx, time.Hour), context.Canceled)
}

func TestDelayEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		go func() { time.Sleep(time.Second); cancel(why) }()
		tr, err := Delay[*item.Sample]{Time: graph.Fixed(time.Hour)}.Open(ctx, &graph.Env{})
		require.NoError(t, err)
		in := sample("a", "raw", item.Bytes(item.Heap.Take(3)))
		start := time.Now()
		_, err = tr.Map(graph.NewCall(ctx, 1, "delay", item.Pos{}), in)
		assert.ErrorIs(t, err, why)
		assert.Equal(t, time.Second, time.Since(start))
		assert.NotPanics(t, in.Release, "a failed stage leaves its input to the engine")
	})
}

func TestDelayDeclaresItsLoad(t *testing.T) {
	assert.Equal(t, graph.Wait, Delay[int]{}.Load())
	assert.Equal(t, graph.CPU, Delay[int]{Mode: "spin"}.Load())
	assert.ErrorContains(t, Delay[int]{Mode: "nap"}.Check(), "mode")
	assert.ErrorContains(t, Delay[int]{Time: graph.Fixed(-1)}.Check(), "time")
	assert.Equal(t, "delay", Delay[int]{}.Kind())
}
