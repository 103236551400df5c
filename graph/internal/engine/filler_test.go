package engine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// An item that fails ends the input of a group, while other workers of the stage before still ask for places. It is the
// race detector that sees it fail.
func TestAGroupEndsWhilePlacesAreAskedFor(t *testing.T) {
	const slabs = 64
	in := edge.New[int](edge.Config{Producers: 2, Consumers: 1, Ordered: true}, func(*edge.Cell[int]) {})
	g := &Group[int, int, int]{In: in, Size: 1, Slabs: slabs, Slab: func() (int, error) { return 0, nil }, clock: meter.StartClock(false)}
	g.g.active = map[int64]*slab[int, int]{}
	g.g.fitted = true
	for i := range int64(slabs / 2) {
		_, _, ok := g.Slot(0, 0, i)
		require.True(t, ok)
	}
	in.Close(nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := int64(slabs / 2); i < slabs; i++ {
			g.Slot(0, 0, i)
		}
	})
	w := &filler[int, int, int]{g: g}
	w.last()
	wg.Wait()
	require.Len(t, g.g.active, slabs)
}
