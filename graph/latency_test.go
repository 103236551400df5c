package graph_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// stamped is when an item was finished by the stage that becomes slow.
type stamped struct {
	i    int
	done time.Time
}

// delays runs quick items that suddenly become slow, and gives how long each waited after it was finished until the
// sink had it.
func delays(t *testing.T, quick, slow int, service time.Duration, workers int, tail int, o ...graph.Option) (waits []time.Duration, all time.Duration) {
	start := time.Now()
	p := graph.New("sudden")
	src := graph.From(p, "src", ints(quick+slow), graph.Workers(1))
	port := graph.Via(src, "work", graph.Map(func(i int) (stamped, error) {
		if i >= quick {
			time.Sleep(service)
		}
		return stamped{i, time.Now()}, nil
	}), append(o, graph.Workers(workers))...)
	for n := range tail {
		port = graph.Via(port, fmt.Sprintf("tail%d", n), graph.Map(func(s stamped) (stamped, error) { return s, nil }), graph.Workers(1))
	}
	out := graph.Output(port, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for s, err := range out.All(run) {
		require.NoError(t, err)
		require.Equal(t, len(waits), s.i)
		waits = append(waits, time.Since(s.done))
	}
	require.NoError(t, run.Wait())
	timesAddUp(t, run.Snapshot())
	return waits, time.Since(start)
}

// A finished item waits for one slow item at most, once; after that at most 1 ms longer than with slices of one.
func TestSuddenSlownessHoldsBackNothingForLong(t *testing.T) {
	for _, service := range []time.Duration{100 * time.Microsecond, 700 * time.Microsecond, 10 * ms, time.Second} {
		for _, tail := range []int{0, 2} {
			for _, buffer := range []int{0, 1, 64, 1024} {
				t.Run(fmt.Sprintf("%v/tail=%d/buffer=%d", service, tail, buffer), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						const quick, slow = 5000, 60
						waits, _ := delays(t, quick, slow, service, 1, tail, graph.Buffer(buffer))
						for i, w := range waits[:quick] {
							require.LessOrEqual(t, w, service+ms, "quick item %d", i)
						}
						for i, w := range waits[quick:] {
							require.LessOrEqual(t, w, max(ms, min(service, ms)), "slow item %d", i)
						}
					})
				})
			}
		}
	}
}

// With several workers the slow items are shared out at once: the run takes hardly longer than they do.
func TestSuddenSlownessIsSharedOut(t *testing.T) {
	for _, workers := range []int{2, 4, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const slow = 160
				_, all := delays(t, 20_000, slow, 10*ms, workers, 0)
				ideal := slow * 10 * ms / time.Duration(workers)
				t.Logf("%v, ideal %v", all, ideal)
				require.LessOrEqual(t, all, ideal+20*ms)
			})
		})
	}
}

// All workers help with the first batch.
func TestFirstBatchTakesItsWorkDividedByTheCores(t *testing.T) {
	for _, workers := range []int{1, 2, 4, 8} {
		for _, size := range []int{16, 64} {
			for _, c := range []struct{ read, decode, row time.Duration }{
				{0, 10 * ms, 0}, {2 * ms, 10 * ms, 0}, {10 * ms, 2 * ms, ms}, {ms, ms, ms}, {20 * time.Microsecond, 300 * time.Microsecond, 5 * time.Microsecond},
			} {
				t.Run(fmt.Sprintf("workers=%d/size=%d/%v", workers, size, c), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := graph.Workers(workers)
						p := graph.New("first")
						src := graph.From(p, "read", source[int]{2000, func(_ *graph.Call, i int64) (int, error) {
							time.Sleep(c.read)
							return int(i), nil
						}}, w)
						dec := graph.Via(src, "decode", sleeper[int](c.decode), w)
						row := graph.Via(dec, "row", sleeper[int](c.row), w)
						out := graph.Output(graph.Via(row, "batch", graph.Collect[int](size), w), "out")
						run, err := p.Start(t.Context())
						require.NoError(t, err)
						for range out.All(run) {
							break
						}
						require.NoError(t, run.Wait())
						first := run.Snapshot().Totals.FirstBatch
						require.NotNil(t, first)
						work := time.Duration(size) * (c.read + c.decode + c.row) / time.Duration(workers)
						require.LessOrEqual(t, *first, work*12/10+20*ms)
					})
				})
			}
		}
	}
}
