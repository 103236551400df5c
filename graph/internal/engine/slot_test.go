package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
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
