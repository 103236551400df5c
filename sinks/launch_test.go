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
	"github.com/penstock-go/penstock/graph/report"
)

// looks is a clock that moves by a microsecond each time somebody looks, and by more at the looks that are named.
func looks(away map[int]time.Duration) func() time.Duration {
	n, at := 0, time.Duration(0)
	return func() time.Duration {
		n++
		at += time.Microsecond + away[n]
		return at
	}
}

func TestALaunchIsLateByWhatItsThreadHadNoProcessor(t *testing.T) {
	for name, c := range map[string]struct {
		away map[int]time.Duration
		late time.Duration
	}{
		"never away":       {nil, 0},
		"an interrupt":     {map[int]time.Duration{9: 5 * time.Microsecond}, 0},
		"away once":        {map[int]time.Duration{9: 3 * time.Millisecond}, 3*time.Millisecond + time.Microsecond - grain},
		"away twice":       {map[int]time.Duration{9: time.Millisecond, 50: 2 * time.Millisecond}, 3*time.Millisecond + 2*(time.Microsecond-grain)},
		"away at the last": {map[int]time.Duration{101: time.Millisecond}, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l := &launcher{now: looks(c.away)}
			late, err := l.compute(t.Context(), 100*time.Microsecond)
			require.NoError(t, err)
			assert.Equal(t, c.late, late)
		})
	}
}

func TestALaunchEndsWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	n := 0
	l := &launcher{now: func() time.Duration {
		if n++; n == 10 {
			cancel(why)
		}
		return time.Duration(n) * time.Microsecond
	}}
	_, err := l.compute(ctx, time.Hour)
	assert.ErrorIs(t, err, why)
}

func TestALaunchKeepsTheProcessorAtLeastAsLong(t *testing.T) {
	l := newLauncher(nil)
	require.NotNil(t, l.now, "the clock moves here")
	start := time.Now()
	late, err := l.compute(t.Context(), 2*time.Millisecond)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(start), 2*time.Millisecond+late)
}

func TestAStepIsOverWhenItsLaunchIsToo(t *testing.T) {
	for _, x := range []struct{ step, launch, want time.Duration }{
		{10 * time.Millisecond, 0, 10 * time.Millisecond},
		{10 * time.Millisecond, 4 * time.Millisecond, 10 * time.Millisecond},
		{10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond},
		{10 * time.Millisecond, 15 * time.Millisecond, 15 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, err := Accelerator[int]{Step: graph.Fixed(x.step), Launch: graph.Fixed(x.launch)}.Open(t.Context(), &graph.Env{})
			require.NoError(t, err)
			start := time.Now()
			for i := range int64(3) {
				require.NoError(t, c.Take(call(t.Context(), i), 1))
			}
			assert.Equal(t, 3*x.want, time.Since(start), "%+v", x)
		})
	}
}

// countedSource is a source of numbers.
type countedSource struct{ n int64 }

func (s countedSource) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: s.n, At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

func TestTheReportTellsTheLaunches(t *testing.T) {
	for _, launch := range []time.Duration{0, 3 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			p := graph.New("launches")
			graph.Into(graph.From(p, "count", graph.Source[int](countedSource{40})), "train",
				graph.Sink[int](Accelerator[int]{Step: graph.Fixed(10 * time.Millisecond), Launch: graph.Fixed(launch)}))
			run, err := p.Start(t.Context())
			require.NoError(t, err)
			require.NoError(t, run.Wait())
			s := run.Snapshot()
			assert.Equal(t, 400*time.Millisecond, s.Sink.Busy)
			if launch == 0 {
				assert.Nil(t, s.Sink.Launches)
				assert.NotContains(t, report.Table(s), "Launches")
				return
			}
			require.NotNil(t, s.Sink.Launches)
			assert.Equal(t, 120*time.Millisecond, s.Sink.Launches.Busy)
			assert.Equal(t, int64(40), s.Sink.Launches.Late.Count)
			assert.Zero(t, s.Sink.Launches.Late.Max, "virtual time")
			assert.Contains(t, report.Table(s), `Launches of "train": 40 needed 120 ms of a core, and none was late.`)
		})
	}
}
