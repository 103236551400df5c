package doctor_test

import (
	"cmp"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune/doctor"
)

func TestTheTimeIsSharedOutAndTheWayIsTold(t *testing.T) {
	p := calm()
	p.decode = one(6 * ms)
	var sets [][]string
	x, err := doctor.Examine(func(set []string, most time.Duration) (graph.Snapshot, error) {
		assert.Equal(t, 2*time.Second, most)
		sets = append(sets, set)
		return p.run(t, set), nil
	}, doctor.Options{Time: 10 * time.Second})
	require.NoError(t, err)
	require.Len(t, sets, x.Runs)
	assert.Empty(t, sets[0], "the first run is as it is")
	assert.Equal(t, x.Actions[0].Set, sets[1])
	for _, line := range []string{"1. Is the sink waiting? yes\n   58 % of the steady time, at 167 samples/s\n", `3. Which stage, and what does it do? "decode": transforming`, "4. Are the cores the limit? no",
		"5. Slow on average, or only now and then? slow on average", "6. Does more concurrency help? yes\n   decode.workers=3: predicted 400 samples/s, measured 400 (was 167)",
		"\nactions\n  1. raise workers of \"decode\" from 1 to 3\n     predicted 400 samples/s, +140 %; measured 400\n     --set decode.workers=3\n"} {
		assert.Contains(t, x.Text(), line)
	}
}

func TestAnExaminationEndsWhereARunFails(t *testing.T) {
	p := calm()
	p.decode = one(6 * ms)
	broken := errors.New("the disk is gone")
	_, err := doctor.Examine(func([]string, time.Duration) (graph.Snapshot, error) { return graph.Snapshot{}, broken }, doctor.Options{})
	assert.ErrorIs(t, err, broken)
	x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) {
		if len(set) > 0 {
			return graph.Snapshot{}, broken
		}
		return p.run(t, set), nil
	}, doctor.Options{})
	require.NoError(t, err)
	require.Len(t, x.Actions, 1)
	assert.Nil(t, x.Actions[0].Measured)
	assert.Contains(t, x.Text(), "+140 %; not tried")
	assert.Contains(t, x.Text(), "note: the run with decode.workers=3 failed: the disk is gone")
	_, err = doctor.Examine(nil, doctor.Options{Time: -1})
	assert.ErrorContains(t, err, "must be more than 0")
}

func TestTooShortARunSaysSo(t *testing.T) {
	p := calm()
	p.items, p.epochs = 8, 1
	x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) { return p.run(t, set), nil }, doctor.Options{})
	require.NoError(t, err)
	assert.False(t, x.Healthy)
	assert.Empty(t, x.Actions)
	assert.Contains(t, x.Text(), "1. Is the sink waiting? not known")
	assert.Contains(t, x.Text(), "give it more time (--seconds)")
}

// What needs real cores and real locks, judged by name.
func TestCoresAndLocksAreNamedOnTheRealClock(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps all cores busy for seconds")
	}
	burn := func(i int64) (int64, error) {
		x := uint64(i)
		for range 4_000_000 { // some milliseconds of work, however long a core is missing meanwhile
			x = x*6364136223846793005 + 1442695040888963407
		}
		return int64(x), nil
	}
	var mu sync.Mutex
	locked := func(i int64) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(4 * ms)
		return i, nil
	}
	var disk sync.Mutex
	served := func(i int64) (int64, error) { // one request after the other, however many readers ask
		disk.Lock()
		defer disk.Unlock()
		time.Sleep(4 * ms)
		return i, nil
	}
	quick := func(i int64) (int64, error) { return i, nil }
	for _, c := range []struct {
		name, action string
		at, f        func(int64) (int64, error)
		readers      int
		workers      int
		opts         []graph.Option
	}{
		{"oversubscribed", "work cores", quick, burn, 1, 32, nil},
		{"lock", "work sharing", quick, locked, 1, 4, []graph.Option{graph.Waits()}},
		{"disk", "read sharing", served, quick, 8, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var x *doctor.Examination
			for range 3 { // other programs can spoil an examination, not make a wrong one right
				var err error
				x, err = doctor.Examine(func(set []string, most time.Duration) (graph.Snapshot, error) {
					values := valuesOf(t, set)
					return real(t, c.at, c.f, cmp.Or(values["read.workers"], c.readers), cmp.Or(values["work.workers"], c.workers), most, c.opts...), nil
				}, doctor.Options{Time: 5 * time.Second})
				require.NoError(t, err)
				if len(x.Actions) > 0 && x.Actions[0].Stage+" "+x.Actions[0].Knob == c.action {
					return
				}
			}
			if strings.Contains(x.Text(), "other programs had the cores") {
				t.Skip("other programs have the cores")
			}
			t.Error(x.Text())
		})
	}
}

// real runs read, work and a quick sink on the real clock for a while.
func real(t *testing.T, at, f func(int64) (int64, error), readers, workers int, most time.Duration, o ...graph.Option) graph.Snapshot {
	g := graph.New("real", graph.Epochs(graph.Forever))
	in := graph.From(g, "read", numbers{1000, func(_ *graph.Call, i int64) (int64, error) { return at(i) }}, graph.Workers(readers), graph.Buffer(8))
	out := graph.Output(graph.Via(in, "work", graph.Map(f), append(o, graph.Workers(workers), graph.Buffer(8), graph.Window(max(8, workers)))...), "train")
	run, err := g.Start(t.Context())
	require.NoError(t, err)
	timer := time.AfterFunc(most, run.Stop)
	defer timer.Stop()
	for _, err := range out.All(run) {
		require.NoError(t, err)
	}
	require.NoError(t, run.Wait())
	return run.Snapshot()
}

// More cores are no advice where others have taken them.
func TestCrowdedCoresAreNoAction(t *testing.T) {
	p := calm()
	p.decode = part{takes: always(12 * ms), workers: 2}
	x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) {
		s := p.run(t, set)
		for i := range s.Stages {
			s.Stages[i].Load = graph.CPU
		}
		s.Environment.CoresQuota, s.CPU, s.CPUWait = 2, s.Totals.Elapsed/2, s.Totals.Elapsed
		return s, nil
	}, doctor.Options{})
	require.NoError(t, err)
	assert.Empty(t, x.Actions, x.Text())
	assert.Contains(t, x.Text(), "3. Do other programs have the cores? yes")
	assert.Contains(t, x.Text(), "Are the cores the limit? not known: other programs have them")
	assert.Contains(t, x.Text(), "note: other programs had the cores")
}

// With the cores kept busy by the pipeline itself no setting is tried.
func TestWhereTheCoresAreTheLimitNoSettingIsTried(t *testing.T) {
	p := calm()
	p.decode = part{takes: always(12 * ms), workers: 2}
	x, err := doctor.Examine(func(set []string, _ time.Duration) (graph.Snapshot, error) {
		s := p.run(t, set)
		for i := range s.Stages {
			s.Stages[i].Load = graph.CPU
		}
		s.Stages[0].Load = graph.Wait
		s.Environment.CoresQuota, s.CPU = 2, s.Totals.Elapsed*2
		return s, nil
	}, doctor.Options{})
	require.NoError(t, err)
	require.Len(t, x.Actions, 1, x.Text())
	assert.Equal(t, 1, x.Runs)
	a := x.Actions[0]
	assert.Equal(t, "decode cores", a.Stage+" "+a.Knob)
	assert.Empty(t, a.Set)
	assert.Contains(t, a.Text, `make "decode" cheaper, cache what it makes, or give it more cores: about 5 would do`)
	assert.InEpsilon(t, 400, a.Predicted, 0.1, x.Text())
}
