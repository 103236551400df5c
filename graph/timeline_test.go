package graph_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

func sum(all []time.Duration) (total time.Duration) {
	for _, d := range all {
		total += d
	}
	return total
}

// timelineAddsUp checks that the timeline shows the same times as the snapshot, no more and no less.
func timelineAddsUp(t *testing.T, s graph.Snapshot) {
	t.Helper()
	l := s.Timeline
	require.NotNil(t, l)
	require.LessOrEqual(t, len(l.RSS), 128)
	require.GreaterOrEqual(t, l.Bucket*time.Duration(len(l.RSS)), l.Until)
	var waits time.Duration
	blamed := map[string]time.Duration{}
	for _, w := range l.Waits {
		blamed[w.Stage] = sum(w.Wait)
		waits += sum(w.Wait)
	}
	require.Equal(t, s.Sink.Wait, waits)
	for _, b := range s.Blame {
		blamed[b.Stage] -= b.Time
	}
	for stage, rest := range blamed {
		require.Zero(t, rest, "waits for %q", stage)
	}
	lines := map[string]graph.StageLine{}
	for _, line := range l.Stages {
		lines[line.ID] = line
	}
	for _, st := range s.Stages {
		line := lines[st.ID]
		require.Equal(t, st.WaitIn, sum(line.WaitIn), st.ID)
		require.Equal(t, st.Busy, sum(line.Busy), st.ID)
		require.Equal(t, st.WaitOut, sum(line.WaitOut), st.ID)
		if st.Queue.Mean != nil {
			items := 0.0
			for i, n := range line.Queue {
				items += n * min(l.Bucket, l.Until-time.Duration(i)*l.Bucket).Seconds()
			}
			// The mean is up to the last change of the queue, which then is empty.
			require.LessOrEqual(t, items/l.Until.Seconds(), *st.Queue.Mean+1e-9, st.ID)
			require.Equal(t, *st.Queue.Mean > 0, items > 0, st.ID)
		}
	}
}

func TestTimelineShowsEachStateWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("line", graph.KeepTimeline())
		src := graph.From(p, "src", ints(10), graph.Workers(1))
		out := graph.Output(graph.Via(src, "slow", sleeper[int](25*ms), graph.Workers(1), graph.Buffer(4)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(30 * ms)
		}
		require.NoError(t, run.Wait())
		s := run.Snapshot()
		timesAddUp(t, s)
		timelineAddsUp(t, s)
		l := s.Timeline
		require.Equal(t, 325*ms, l.Until)
		require.Equal(t, 4*ms, l.Bucket)
		slow, sink := l.Stages[1], l.Stages[2]
		// The first item takes until 25 ms; from then on slow works until 250 ms and the sink without a break.
		for i := range slow.Busy {
			from := time.Duration(i) * l.Bucket
			require.Equal(t, min(l.Bucket, max(0, 250*ms-from)), slow.Busy[i], "bucket %d", i)
			require.Equal(t, min(l.Bucket, max(0, 25*ms-from)), sink.WaitIn[i], "bucket %d", i)
			require.Equal(t, min(l.Bucket, 325*ms-from)-sink.WaitIn[i], sink.Busy[i], "bucket %d", i)
			require.Equal(t, sink.WaitIn[i], l.Waits[0].Wait[i], "bucket %d", i)
		}
		require.Len(t, l.Waits, 1)
		require.Equal(t, "slow", l.Waits[0].Stage)
	})
}

func TestTimelineAddsUpOverLongAndShortRuns(t *testing.T) {
	for _, step := range []time.Duration{time.Microsecond, 5 * ms, 90 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			c := planted{read: step, first: step, second: step / 3, batch: 8 * step, step: 5 * step, workers: 3, items: 320, epochs: 3}
			s := c.run(t, graph.KeepTimeline())
			timelineAddsUp(t, s)
			require.NotEmpty(t, s.Timeline.RSS)
		})
	}
}

func TestTimelineOfARunningRunCountsTheStateThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("line", graph.KeepTimeline())
		src := graph.From(p, "src", ints(2), graph.Workers(1))
		out := graph.Output(graph.Via(src, "slow", sleeper[int](time.Hour), graph.Workers(1)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range out.All(run) {
			}
		}()
		time.Sleep(30 * time.Minute)
		l := run.Snapshot().Timeline
		require.Equal(t, 30*time.Minute, l.Until)
		require.Equal(t, 30*time.Minute, sum(l.Stages[1].Busy), "slow has read no clock since it began")
		require.Equal(t, 30*time.Minute, sum(l.Stages[2].WaitIn))
		require.Empty(t, l.Waits, "what a wait is for is known when it is over")
		require.NotZero(t, l.Goroutines[len(l.Goroutines)-1])
		<-done
		require.NoError(t, run.Wait())
		require.Equal(t, 2*time.Hour, sum(run.Snapshot().Timeline.Stages[1].Busy))
	})
}
