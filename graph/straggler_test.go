package graph_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// held runs n items through a stage of which some are slow, and gives what its report says of stragglers.
func held(t *testing.T, n, epochs int, step time.Duration, takes func(i int) time.Duration, o ...graph.Option) (s graph.StageStats) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("held", graph.Epochs(epochs))
		src := graph.From(p, "read", ints(int64(n)), graph.Workers(1))
		work := graph.Via(src, "work", graph.Filter(func(i int) (bool, error) {
			time.Sleep(takes(i))
			return i != 30, nil
		}), o...)
		out := graph.Output(work, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(step)
		}
		require.NoError(t, run.Wait())
		timesAddUp(t, run.Snapshot())
		s = run.Snapshot().Stages[1]
	})
	return s
}

// Four workers, 4 ms an item; item 8 takes 200 ms. 9, 10 and 11 are finished with the slow one's siblings, at 4 ms of
// its time, and then lie behind it for 196 ms. The window of 4 keeps the workers of the next three from 8 ms of its time
// on: 3 times 192 ms.
func TestAStragglerIsChargedWhatOthersWaitedBehindIt(t *testing.T) {
	s := held(t, 40, 1, 0, func(i int) time.Duration {
		if i == 8 {
			return 200 * ms
		}
		return 4 * ms
	}, graph.Workers(4), graph.Window(4), graph.Buffer(64))
	require.Equal(t, []graph.Straggler{{Key: "#8", Times: 1, Held: 196 * ms, Blocked: 3 * 192 * ms}}, s.Stragglers)
	require.Equal(t, 3*192*ms, s.WaitOut, "the stage's workers wait for nothing else")
}

func TestAWideWindowBlocksNobodyButStillHoldsWhatIsFinished(t *testing.T) {
	s := held(t, 40, 1, 0, func(i int) time.Duration {
		if i == 8 {
			return 30 * ms
		}
		return 4 * ms
	}, graph.Workers(4), graph.Window(400), graph.Buffer(400))
	require.Equal(t, []graph.Straggler{{Key: "#8", Times: 1, Held: 26 * ms}}, s.Stragglers)
	require.Zero(t, s.WaitOut)
}

func TestAStragglerThatIsFilteredAwayIsNamedToo(t *testing.T) {
	s := held(t, 40, 1, 0, func(i int) time.Duration {
		if i == 30 { // of which nothing comes out
			return 100 * ms
		}
		return 4 * ms
	}, graph.Workers(4), graph.Window(400), graph.Buffer(400))
	require.Equal(t, []graph.Straggler{{Key: "#30", Times: 1, Held: 96 * ms}}, s.Stragglers)
}

func TestAStragglerOfEachEpochIsOneEntry(t *testing.T) {
	s := held(t, 40, 3, 0, func(i int) time.Duration {
		if i == 8 {
			return 28 * ms
		}
		return 4 * ms
	}, graph.Workers(4), graph.Window(400), graph.Buffer(400))
	require.Equal(t, []graph.Straggler{{Key: "#8", Times: 3, Held: 3 * 24 * ms}}, s.Stragglers)
}

// Downstream is slow: whoever is next in order is finished and only lacks room. That is nobody's straggling.
func TestBackPressureIsNoStraggling(t *testing.T) {
	s := held(t, 40, 1, 50*ms, func(int) time.Duration { return 4 * ms }, graph.Workers(4), graph.Window(4), graph.Buffer(2))
	require.Empty(t, s.Stragglers)
	require.NotZero(t, s.WaitOut)
}

func TestOutOfOrderNobodyWaitsBehindAStraggler(t *testing.T) {
	s := held(t, 40, 1, 0, func(i int) time.Duration {
		if i == 8 {
			return 200 * ms
		}
		return 4 * ms
	}, graph.Workers(4), graph.Order(graph.CompletionOrder), graph.Buffer(64))
	require.Empty(t, s.Stragglers)
}

// However many slow items there are, only the worst are kept.
func TestOnlyTheWorstStragglersAreKept(t *testing.T) {
	s := held(t, 4000, 1, 0, func(i int) time.Duration {
		if i%400 == 8 {
			return 20*ms + time.Duration(i)*ms/100
		}
		return 4 * ms
	}, graph.Workers(4), graph.Window(400), graph.Buffer(4000))
	require.Len(t, s.Stragglers, 8)
	require.Equal(t, "#3608", s.Stragglers[0].Key)
	require.InDelta(t, float64(20*ms+3608*ms/100), float64(s.Stragglers[0].Held), float64(5*ms))
	for i, g := range s.Stragglers[1:] {
		require.LessOrEqual(t, g.Held, s.Stragglers[i].Held)
	}
}
