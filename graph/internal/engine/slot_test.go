package engine

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Epochs of 6 inputs in outputs of 4: two each. An input of epoch 2 that asks before all of epoch 1 must not be given a
// place in an output of epoch 1.
func TestAnEpochsFirstOutputIsKnownOnceThoseBeforeHaveAsked(t *testing.T) {
	var g groups[int, int]
	first, known := g.spanOf(0, 0, 4)
	require.True(t, known)
	require.Zero(t, first)
	_, known = g.spanOf(2, 12, 4)
	require.False(t, known, "epoch 1 has not asked")
	for epoch, want := range []int64{0, 2, 4, 6} {
		first, known = g.spanOf(int32(epoch), int64(6*epoch), 4)
		require.True(t, known)
		require.Equal(t, want, first, "epoch %d", epoch)
	}
}

// An output that could not be made has no places, and its error stays, also where the next one can be made.
func TestAnOutputThatCouldNotBeMadeHasNoPlaces(t *testing.T) {
	none := errors.New("no memory")
	asked := 0
	g := &Group[int, *int, int]{
		In:   edge.New[int](edge.Config{Producers: 1, Consumers: 1}, func(*edge.Cell[int]) {}),
		Size: 1, Slabs: 3, clock: meter.StartClock(false),
		Slab: func() (*int, error) {
			if asked++; asked == 2 {
				return nil, none
			}
			return new(int), nil
		},
	}
	g.g.active = map[*slab[*int, int]]struct{}{}
	g.g.fitted = true
	v, _, ok := g.Slot(0, 0, 0)
	require.True(t, ok)
	require.NotNil(t, v)
	_, _, ok = g.Slot(0, 0, 1)
	require.False(t, ok)
	g.In.WithLock(func() { g.begin(0) })
	require.Equal(t, none, g.g.firstErr)
}
