package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/shard"
)

const manyRanks = 64

// lengths are numbers of places around the multiples of a world.
func lengths(world int) []int64 {
	w := int64(world)
	return []int64{0, 1, 2, w - 1, w, w + 1, 3*w - 1, 3 * w, 3*w + 1, 5*w + w/2, 257}
}

func worlds(t *testing.T, f func(t *testing.T, n int64, ranks []shard.World)) {
	for world := 1; world <= manyRanks; world++ {
		var ranks []shard.World
		for r := range world {
			w := shard.World{Rank: r, World: world}
			require.NoError(t, w.Check())
			ranks = append(ranks, w)
		}
		for _, n := range lengths(world) {
			f(t, n, ranks)
		}
	}
}

func TestEveryPlaceIsTakenByOneRank(t *testing.T) {
	worlds(t, func(t *testing.T, n int64, ranks []shard.World) {
		for _, u := range []shard.Uneven{shard.Pad, shard.Drop, shard.Keep} {
			taken := map[int64]int{}
			var total, beyond int64
			for _, w := range ranks {
				for j := range w.Count(n, u) {
					p := w.Place(j)
					taken[p]++
					require.Equal(t, j, w.Number(p))
					require.Equal(t, j+1, w.Number(p+1))
					if total++; p >= n {
						beyond++
					}
				}
			}
			require.Len(t, taken, int(total), "no place is taken twice")
			world := int64(len(ranks))
			switch u {
			case shard.Pad:
				require.Zero(t, total%world)
				require.Equal(t, total-n, beyond)
				require.Less(t, beyond, world)
			case shard.Drop:
				require.Equal(t, n-n%world, total)
				require.Zero(t, beyond)
			case shard.Keep:
				require.Equal(t, n, total)
				require.Zero(t, beyond)
			}
			for p := range total {
				require.Contains(t, taken, p, "the places are the first ones, without a hole")
			}
		}
	})
}

func TestPaddedAndDroppedPlacesAddUpOverTheRanks(t *testing.T) {
	worlds(t, func(t *testing.T, n int64, ranks []shard.World) {
		world := int64(len(ranks))
		var padded, dropped int64
		for _, w := range ranks {
			padded += w.Padded(n)
			dropped += w.Dropped(n)
		}
		require.Equal(t, (world-n%world)%world, padded)
		require.Equal(t, n%world, dropped)
	})
}

func TestStepsAreEqualAcrossRanksOrOneApart(t *testing.T) {
	worlds(t, func(t *testing.T, n int64, ranks []shard.World) {
		for _, size := range []int64{1, 2, 3, 8} {
			for _, short := range []bool{true, false} {
				for _, u := range []shard.Uneven{shard.Pad, shard.Drop, shard.Keep} {
					first := ranks[0].Steps(n, size, u, short)
					for _, w := range ranks {
						if s := w.Steps(n, size, u, short); u == shard.Keep {
							require.LessOrEqual(t, first-s, int64(1))
							require.GreaterOrEqual(t, first, s)
						} else {
							require.Equal(t, first, s)
						}
					}
				}
			}
		}
	})
}

// After a step of all ranks the places that were taken are the first ones of the job.
func TestStepsCoverTheJobInOnePiece(t *testing.T) {
	worlds(t, func(t *testing.T, n int64, ranks []shard.World) {
		const size = 3
		for step := range ranks[0].Steps(n, size, shard.Drop, false) {
			lo, hi := ranks[0].Next(step, size), ranks[0].Next(step+1, size)
			for _, w := range ranks {
				require.Equal(t, step*size, w.Number(lo))
				require.Equal(t, (step+1)*size, w.Number(hi))
				require.GreaterOrEqual(t, w.Place(step*size), lo)
				require.Less(t, w.Place((step+1)*size-1), hi)
			}
		}
	})
}

func TestSplitsAreSharedOutOrReadByAll(t *testing.T) {
	worlds(t, func(t *testing.T, n int64, ranks []shard.World) {
		of := make([]int, n)
		for _, w := range ranks {
			require.Equal(t, n < int64(len(ranks)), w.Shares(n))
			if !w.Shares(n) {
				require.Positive(t, w.Count(n, shard.Keep))
			}
			for i := range n {
				if w.Keeps(i) {
					of[i]++
				}
			}
		}
		for _, ranks := range of {
			require.Equal(t, 1, ranks)
		}
	})
}

func TestRankOutsideItsWorldIsRefused(t *testing.T) {
	for _, w := range []shard.World{{0, -1}, {-1, 2}, {2, 2}, {1, 0}, {0, shard.MaxWorld + 1}} {
		require.Error(t, w.Check(), "%+v", w)
	}
	require.NoError(t, shard.World{}.Check())
	require.EqualValues(t, 1, shard.World{}.Size())
	require.ErrorContains(t, shard.World{Rank: 3, World: 2}.Check(), "rank must be from 0 to 1 in a world of 2, got 3")
}
