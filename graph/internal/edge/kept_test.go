package edge

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeptPartsAreFoundByTheirFirstOrdinal(t *testing.T) {
	for _, step := range []int64{1, 7, 64, 256} {
		r := rand.New(rand.NewPCG(uint64(step), 1))
		var k kept[int]
		there := map[int64]*Part[int]{}
		for range 20_000 {
			lo := r.Int64N(400) * step
			require.Same(t, there[lo], k.find(lo))
			switch p := there[lo]; {
			case p != nil:
				k.remove(p)
				delete(there, lo)
			case len(there) < 100:
				p = &Part[int]{Lo: lo}
				k.put(p)
				there[lo] = p
			}
			require.Equal(t, len(there), k.n)
		}
		require.LessOrEqual(t, len(k.slots), 256, "twice the most that was kept")
		k.clear(func(p *Part[int]) {
			require.Same(t, there[p.Lo], p)
			delete(there, p.Lo)
		})
		require.Empty(t, there)
		require.Nil(t, k.find(0))
	}
}
