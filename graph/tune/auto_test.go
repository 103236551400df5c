package tune_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// line is a pipeline of numbers: read, decode, crop, batches of 4, and a step. What computes takes one of a number of
// modelled cores.
type line struct {
	read, decode, crop, step func(at time.Duration) time.Duration
	cores                    int
	memory                   int64
	workers                  [3]int // 0: auto
	seconds                  float64
	reading                  func() func() // makes what a read does instead
}

func always(ms float64) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
}

// then changes after so many seconds.
func then(ms, second, later float64) func(time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		if at.Seconds() >= second {
			return always(later)(at)
		}
		return always(ms)(at)
	}
}

// big is an item of a million bytes.
type big int64

func (big) Bytes() int64 { return 1e6 }

type bigs struct{ work func() }

func (bigs) Load() graph.Load { return graph.Wait }
func (s bigs) Open(context.Context, *graph.Env) (graph.Reader[big], error) {
	return graph.Reader[big]{Len: 1 << 40, At: func(_ *graph.Call, i int64) (big, error) {
		s.work()
		return big(i), nil
	}}, nil
}

// went is what a run did.
type went struct {
	rate   float64 // samples a second in the last two seconds
	second []float64
	snaps  []graph.Snapshot // of each second
}

// run runs the line for its time, with a tuner or without, and looks at the settings at each look of the tuner.
func (l *line) run(t *testing.T, begin func(graph.Tunable) graph.Tuner) (w went) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		base := time.Now()
		cores := make(chan struct{}, l.cores)
		wait := func(d func(time.Duration) time.Duration) { time.Sleep(d(time.Since(base))) }
		compute := func(d func(time.Duration) time.Duration) graph.Stage[big, big] {
			return graph.Map(func(v big) (big, error) {
				cores <- struct{}{}
				wait(d)
				<-cores
				return v, nil
			})
		}
		reading := func() { wait(l.read) }
		if l.reading != nil {
			reading = l.reading()
		}
		p := graph.New("line", graph.Tuned(begin), graph.WithBudget(graph.Budget{Memory: l.memory}))
		port := graph.From(p, "read", graph.Source[big](bigs{reading}), graph.Workers(l.workers[0]))
		port = graph.Via(port, "decode", compute(l.decode), graph.Workers(l.workers[1]))
		port = graph.Via(port, "crop", compute(l.crop), graph.Workers(l.workers[2]))
		out := graph.Output(graph.Via(port, "list", graph.Collect[big](4), graph.Workers(1)), "train")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		next := time.Second
		var last graph.Snapshot
		for _, err := range out.All(run) {
			require.NoError(t, err)
			wait(l.step)
			if at := time.Since(base); at >= next {
				s := run.Snapshot()
				w.second = append(w.second, tune.Between(last, s).Rate)
				w.snaps = append(w.snaps, s)
				last, next = s, next+time.Second
				if at.Seconds() >= l.seconds {
					break
				}
			}
		}
		require.NoError(t, run.Wait())
	})
	n := len(w.second)
	w.rate = (w.second[n-1] + w.second[n-2]) / 2
	return w
}

// watched checks at each look that no budget is exceeded.
func watched(t *testing.T, cores int, begin *int) func(graph.Tunable) graph.Tuner {
	return func(may graph.Tunable) graph.Tuner {
		may.Cores = cores
		return &watcher{t: t, Tuner: tune.Auto(may), may: may, begin: begin}
	}
}

type watcher struct {
	graph.Tuner
	t     *testing.T
	may   graph.Tunable
	begin *int
}

func (w *watcher) Next(s graph.Snapshot) (graph.Move, bool, time.Duration) {
	computing := 0
	for _, st := range s.Stages {
		if st.Load == graph.CPU && st.WorkersAuto && st.Group == 0 {
			computing += st.Workers
		}
	}
	if *w.begin == 0 {
		*w.begin = max(computing, w.may.Cores)
	}
	assert.LessOrEqual(w.t, computing, *w.begin, "at %v", s.Totals.Elapsed)
	return w.Tuner.Next(s)
}

// best is the highest rate of all static settings of a sweep that keep within the cores.
func (l line) best(t *testing.T) (best float64, at [3]int) {
	l.seconds = 6
	for _, read := range []int{1, 4, 16, 48, 128} {
		for decode := 1; decode < l.cores; decode++ {
			for crop := 1; decode+crop <= l.cores; crop++ {
				l.workers = [3]int{read, decode, crop}
				if rate := l.run(t, nil).rate; rate > best {
					best, at = rate, l.workers
				}
			}
		}
	}
	return best, at
}

func TestAutoComesNearTheBestOfAFullSweepWithinTenSeconds(t *testing.T) {
	for name, l := range map[string]line{
		"slow store":      {read: always(60), decode: always(1), crop: always(0.5), step: always(4), cores: 4},
		"slow decode":     {read: always(2), decode: always(5), crop: always(1), step: always(4), cores: 6},
		"two that limit":  {read: always(20), decode: always(6), crop: always(6), step: always(4), cores: 6},
		"the step limits": {read: always(2), decode: always(0.5), crop: always(0.5), step: always(50), cores: 4},
		"few cores":       {read: always(8), decode: always(3), crop: always(2), step: always(2), cores: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "the step limits" {
				t.Skip("a full sweep of every line takes long under the race detector")
			}
			best, at := l.best(t)
			l.seconds = 10
			begin := 0
			w := l.run(t, watched(t, l.cores, &begin))
			assert.GreaterOrEqual(t, w.rate, 0.95*best, "%v is the best; by seconds %.0f%s", at, w.second, decided(w.snaps[len(w.snaps)-1].Decisions))
			if testing.Verbose() {
				t.Log(fmt.Sprintf("best %.0f at %v, got %.0f; by seconds %.0f", best, at, w.rate, w.second), decided(w.snaps[len(w.snaps)-1].Decisions))
			}
		})
	}
}

func (l line) auto(t *testing.T) (w went, log []graph.Decision) {
	t.Helper()
	begin := 0
	w = l.run(t, watched(t, l.cores, &begin))
	return w, w.snaps[len(w.snaps)-1].Decisions
}

func TestAutoFollowsABottleneckThatMoves(t *testing.T) {
	l := line{read: then(60, 6, 2), decode: then(1, 6, 6), crop: always(0.5), step: always(4), cores: 8, seconds: 14}
	w, log := l.auto(t)
	assert.GreaterOrEqual(t, w.second[5], 0.95*1000, "%s", decided(log))
	assert.GreaterOrEqual(t, w.rate, 0.95*1000, "decode needs 6 of the 8 cores%s", decided(log))
	up, down := 0, 0
	for _, d := range log {
		if d.Kept && d.Stage == "read" && d.To > d.From {
			up++
		}
		if d.Kept && d.Stage == "read" && d.To < d.From {
			down++
		}
	}
	assert.Positive(t, up, "%s", decided(log))
	assert.Positive(t, down, "readers that nobody needs any more leave%s", decided(log))
	if testing.Verbose() {
		t.Log(fmt.Sprintf("%.0f", w.second), decided(log))
	}
}

// Behind a lock more workers bring nothing: each try is taken back, and they become rarer.
func TestAutoTakesBackWhatDoesNotHelp(t *testing.T) {
	l := line{decode: always(0.1), crop: always(0.1), step: always(1), cores: 4, seconds: 30, workers: [3]int{0, 1, 1}}
	l.reading = func() func() {
		lock := make(chan struct{}, 1)
		return func() { lock <- struct{}{}; time.Sleep(5 * time.Millisecond); <-lock }
	}
	w, log := l.auto(t)
	assert.InEpsilon(t, 200, w.rate, 0.02)
	undone := 0
	for _, d := range log {
		if d.To > d.From && d.Key == "workers" && !d.Open {
			assert.False(t, d.Kept, "%+v", d)
			undone++
		}
	}
	assert.Positive(t, undone, "%s", decided(log))
	assert.Less(t, undone, 6, "%s", decided(log))
	last := w.snaps[len(w.snaps)-1]
	assert.LessOrEqual(t, last.Stages[0].Workers, 16)
}

func TestAutoStaysWithinTheMemoryBudget(t *testing.T) {
	l := line{read: always(60), decode: always(1), crop: always(0.5), step: always(4), cores: 4, seconds: 10, memory: 150e6}
	w, log := l.auto(t)
	last := w.snaps[len(w.snaps)-1]
	assert.LessOrEqual(t, last.Memory.InFlightPeak, l.memory+last.Memory.OverdraftPeak)
	for _, d := range log {
		if d.Stage == "read" && d.Key == "workers" {
			assert.LessOrEqual(t, d.To, 150, "%s", decided(log))
		}
	}
	assert.Greater(t, w.rate, w.second[0], "%s", decided(log))
	if testing.Verbose() {
		t.Log(fmt.Sprintf("%.0f", w.second), decided(log))
	}
}

func TestAutoGivesRoomWhereTimesVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("jitter", graph.Seed(3), graph.Tuned(tune.Auto), graph.Epochs(graph.Forever))
		in := graph.From(p, "read", numbers{100_000, long(60, 0.7)})
		out := graph.Output(graph.Via(in, "list", graph.Collect[int64](4), graph.Workers(1)), "train")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		began := time.Now()
		var mid graph.Snapshot
		for range out.All(run) {
			time.Sleep(6 * time.Millisecond)
			if at := time.Since(began); at > 10*time.Second && mid.Pipeline == "" {
				mid = run.Snapshot()
			} else if at > 14*time.Second {
				break
			}
		}
		require.NoError(t, run.Wait())
		s := run.Snapshot()
		assert.GreaterOrEqual(t, tune.Between(mid, s).Rate, 0.9*4/0.006, "%s", decided(s.Decisions))
		if testing.Verbose() {
			t.Log(tune.Between(mid, s).Rate, decided(s.Decisions))
		}
	})
}
