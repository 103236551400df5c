package sinks

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

func call(ctx context.Context, place int64) *graph.Call {
	return graph.NewCall(ctx, 7, "train", item.Pos{Place: place})
}

func TestAcceleratorIsBusyForItsStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Accelerator[int]{Step: graph.Fixed(30 * time.Millisecond)}.Open(t.Context(), &graph.Env{})
		require.NoError(t, err)
		start := time.Now()
		for i := range int64(10) {
			require.NoError(t, c.Take(call(t.Context(), i), 1))
		}
		assert.Equal(t, 300*time.Millisecond, time.Since(start))
	})
}

func TestAcceleratorDrawsTheSameStepsInEveryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func() (d time.Duration) {
			c, err := Accelerator[int]{Step: graph.LognormalTime(10*time.Millisecond, 0.5)}.Open(t.Context(), &graph.Env{})
			require.NoError(t, err)
			start := time.Now()
			for i := range int64(50) {
				require.NoError(t, c.Take(call(t.Context(), i), 1))
			}
			return time.Since(start)
		}
		a := run()
		assert.Equal(t, a, run())
		assert.InDelta(t, 500*time.Millisecond, a, float64(150*time.Millisecond))
	})
}

func TestAcceleratorStopsInTheMiddleOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		go func() { time.Sleep(time.Second); cancel(why) }()
		c, err := Accelerator[int]{Step: graph.Fixed(time.Hour)}.Open(ctx, &graph.Env{})
		require.NoError(t, err)
		start := time.Now()
		assert.ErrorIs(t, c.Take(call(ctx, 0), 1), why)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestAcceleratorSaysThatItIsEmulated(t *testing.T) {
	var s any = Accelerator[*item.Batch]{}
	assert.True(t, s.(graph.Emulator).Emulated())
	assert.Equal(t, graph.Wait, s.(graph.Loader).Load())
	assert.Equal(t, "accelerator", s.(graph.Kinder).Kind())
	assert.ErrorContains(t, Accelerator[int]{Step: graph.Fixed(-time.Second)}.Check(), "step")
}

func TestDiscardTakesEverything(t *testing.T) {
	c, err := Discard[string]{}.Open(t.Context(), &graph.Env{})
	require.NoError(t, err)
	assert.NoError(t, c.Take(call(t.Context(), 0), "x"))
}

func TestEachCallsTheFunction(t *testing.T) {
	boom := errors.New("boom")
	var got []string
	c, err := Each(func(_ context.Context, s string) error {
		got = append(got, s)
		if s == "b" {
			return boom
		}
		return nil
	}).Open(t.Context(), &graph.Env{})
	require.NoError(t, err)
	assert.NoError(t, c.Take(call(t.Context(), 0), "a"))
	assert.Equal(t, boom, c.Take(call(t.Context(), 1), "b"))
	assert.Equal(t, []string{"a", "b"}, got)
	_, err = Each[int](nil).Open(t.Context(), &graph.Env{})
	assert.Error(t, err)
}
