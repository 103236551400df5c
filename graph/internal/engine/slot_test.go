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
	g.g.active = map[int64]*slab[*int, int]{}
	g.g.fitted = true
	v, _, ok := g.Slot(0, 0, 0)
	require.True(t, ok)
	require.NotNil(t, v)
	_, _, ok = g.Slot(0, 0, 1)
	require.False(t, ok)
	g.In.WithLock(func() { g.begin(0) })
	require.Equal(t, none, g.g.firstErr)
}

// Batches are opened in order, as far as there are slabs, and never those of an epoch whose predecessor is not all open.
func TestWhoAsksFarAheadOpensAllBatchesUpToThere(t *testing.T) {
	made := 0
	g := &Group[int, *int, int]{
		In:   edge.New[int](edge.Config{Producers: 1, Consumers: 1}, func(*edge.Cell[int]) {}),
		Size: 4, Slabs: 4, clock: meter.StartClock(false),
		Slab: func() (*int, error) { made++; n := made; return &n, nil },
	}
	g.g.active = map[int64]*slab[*int, int]{}
	g.g.fitted = true
	v, row, ok := g.Slot(0, 0, 9) // of 10 inputs in an epoch, in the third of its outputs
	require.True(t, ok)
	require.Equal(t, 3, *v)
	require.Equal(t, 1, row)
	require.Len(t, g.g.early, 3)
	v, row, ok = g.Slot(0, 0, 2)
	require.True(t, ok)
	require.Equal(t, 1, *v)
	require.Equal(t, 2, row)
	_, _, ok = g.Slot(1, 10, 19)
	require.False(t, ok, "there is one slab left, and it is the third output of the epoch")
	v, row, ok = g.Slot(1, 10, 13)
	require.True(t, ok)
	require.Equal(t, 4, *v)
	require.Equal(t, 3, row)
	for i, o := range g.g.early {
		require.Equal(t, int64(i), o.ordinal)
	}
}

func TestAnEpochsOutputsAreNotOpenedBeforeAllOfTheOneBefore(t *testing.T) {
	g := &Group[int, *int, int]{
		In:   edge.New[int](edge.Config{Producers: 1, Consumers: 1}, func(*edge.Cell[int]) {}),
		Size: 4, Slabs: 8, clock: meter.StartClock(false),
		Slab: func() (*int, error) { return new(int), nil },
	}
	g.g.active = map[int64]*slab[*int, int]{}
	g.g.fitted = true
	_, _, ok := g.Slot(0, 0, 0)
	require.True(t, ok)
	_, _, ok = g.Slot(1, 10, 10)
	require.False(t, ok, "two outputs of the epoch before are not open yet")
	require.Len(t, g.g.early, 1)
}
