package tune_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// row is a number that takes 1000 bytes in a cache.
type row int64

func (row) Bytes() int64 { return 1000 }

// store keeps rows.
type store struct{ limit int64 }

func (store) Kind() string        { return "memory_cache" }
func (s store) CacheLimit() int64 { return s.limit }
func (store) Stream() string      { return "" }

func (s store) Open(context.Context, *graph.Env) (graph.Transform[row, row], error) {
	var mu sync.Mutex
	kept := map[int64][]row{}
	full := func() bool { return int64(len(kept)+1)*1000 > s.limit }
	return graph.Transform[row, row]{Cache: &graph.Cache[row]{
		Limit: s.limit,
		Keep: func(index int64, made []row) bool {
			mu.Lock()
			defer mu.Unlock()
			if full() {
				return false
			}
			kept[index] = append([]row(nil), made...)
			return true
		},
		Find: func(index int64, emit func(row)) {
			mu.Lock()
			entry := kept[index]
			mu.Unlock()
			for _, v := range entry {
				emit(v)
			}
		},
		Full: func() bool { mu.Lock(); defer mu.Unlock(); return full() },
		Held: func() int64 { mu.Lock(); defer mu.Unlock(); return int64(len(kept)) * 1000 },
	}}, nil
}

// storing tries settings in virtual time: a store of 1 ms, decoding of 8 ms by one worker, a step of 2 ms; 60 rows an epoch.
func storing(t *testing.T, set []tune.Setting) (s graph.Snapshot) {
	workers, limit := 1, int64(0)
	for _, x := range set {
		switch n, err := strconv.ParseInt(strings.TrimSuffix(x.Value, "KB"), 10, 64); {
		case x.Key == tune.CacheKey && x.Value == tune.CacheOff:
		case err != nil:
			t.Fatal(x)
		case x.Key == tune.CacheKey:
			limit = 1000 * n
		default:
			workers = int(n)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := graph.New("storing", graph.Seed(3), graph.Epochs(4))
		in := graph.Via(graph.From(g, "read", numbers{60, ms(1)}, graph.Workers(1)), "size",
			graph.Map(func(v int64) (row, error) { return row(v), nil }), graph.Workers(1))
		in = graph.Via(in, "decode", sleep[row](ms(8)), graph.Workers(workers))
		if limit > 0 {
			in = graph.Via(in, "keep", store{limit})
		}
		out := graph.Output(graph.Via(in, "crop", sleep[row](ms(0.2)), graph.Workers(1)), "train")
		run, err := g.Start(t.Context())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
			time.Sleep(2 * time.Millisecond)
		}
		require.NoError(t, run.Wait())
		s = run.Snapshot()
	})
	s.CPUWait = 0
	return s
}

func onStore(t *testing.T) func(set []tune.Setting) (tune.Trial, error) {
	return func(set []tune.Setting) (tune.Trial, error) {
		s := storing(t, set)
		for _, x := range set {
			if x.Key == tune.CacheKey {
				x, ok := tune.Later(graph.Snapshot{}, s)
				require.True(t, ok)
				return x, nil
			}
		}
		return tune.Between(graph.Snapshot{}, s), nil
	}
}

var behindDecode = tune.Knob{Stage: "decode", Key: tune.CacheKey, Now: tune.CacheOff, Values: []string{tune.CacheOff, "64KB"}, Note: "it holds all"}

func TestACacheIsTakenByTheEpochsAfterTheFirst(t *testing.T) {
	asked := 0
	s := tune.Search{Repeat: 1, Try: onStore(t), Cache: func(set []tune.Setting) (tune.Knob, string, error) {
		if asked++; asked > 1 {
			assert.Contains(t, set, tune.Setting{Stage: "decode", Key: "cache", Value: "64KB"})
			return tune.Knob{}, "", nil
		}
		return behindDecode, "", nil
	}}
	// One worker is all that there is, so that the cache has something to bring.
	try := s.Try
	s.Try = func(set []tune.Setting) (tune.Trial, error) {
		var left []tune.Setting
		for _, x := range set {
			if x.Key == tune.CacheKey {
				left = append(left, x)
			}
		}
		return try(left)
	}
	r, err := s.Run()
	require.NoError(t, err)
	t.Logf("%+v", r.Decisions)
	require.Equal(t, []tune.Setting{{Stage: "decode", Key: "cache", Value: "64KB"}}, r.Settings)
	assert.Equal(t, 2, asked, "after one that was kept it is asked for another")
	last := r.Steps[len(r.Steps)-1]
	assert.Equal(t, "+ cache behind decode, 64 KB", last.Setting)
	assert.InEpsilon(t, 3, last.Gain, 0.02, "four times as much: 500 for 125")
	assert.InEpsilon(t, 125, r.Before.Rate, 0.02)
	assert.InEpsilon(t, 500, r.After.Rate, 0.02, "the first epoch is left out")
	assert.Equal(t, "off", r.Was["decode.cache"])
	for _, d := range r.Decisions {
		if d.Knob == "decode.cache" {
			assert.True(t, d.Kept)
			assert.Equal(t, "it holds all; it held 58.6 KiB and had 100 % of what later epochs asked for; then train limits", d.Why)
			return
		}
	}
	t.Fatal("no decision")
}

func TestACacheThatBringsNothingIsLeftOut(t *testing.T) {
	s := tune.Search{Repeat: 1, Try: func(set []tune.Setting) (tune.Trial, error) {
		if len(set) > 0 && set[0].Key == tune.CacheKey {
			return told(100, 1, 1e6, graph.CPU, true), nil
		}
		return told(100, 1, 1e6, graph.CPU, true), nil
	}, Cache: func([]tune.Setting) (tune.Knob, string, error) { return behindDecode, "", nil }}
	r, err := s.Run()
	require.NoError(t, err)
	assert.Empty(t, r.Settings)
	n := 0
	for _, d := range r.Decisions {
		if d.Knob == "decode.cache" {
			n++
			assert.False(t, d.Kept)
			assert.Contains(t, d.Why, "it is best as it is: it holds all; then end limits")
		}
	}
	assert.Equal(t, 1, n, "once")
}

func TestWhyThereIsNoCacheIsADecision(t *testing.T) {
	try := func(set []tune.Setting) (tune.Trial, error) {
		for _, x := range set {
			if x.Value == "64KB" {
				return tune.Trial{}, fmt.Errorf("%w: too long", tune.ErrUnfit)
			}
		}
		return told(100, 1, 1e6, graph.CPU, true), nil
	}
	for want, cache := range map[string]func([]tune.Setting) (tune.Knob, string, error){
		"one epoch": func([]tune.Setting) (tune.Knob, string, error) { return tune.Knob{}, "one epoch", nil },
		"decode.cache=64KB: this cannot be measured here: too long": func([]tune.Setting) (tune.Knob, string, error) { return behindDecode, "", nil },
	} {
		s := tune.Search{Repeat: 1, Try: try, Cache: cache}
		r, err := s.Run()
		require.NoError(t, err)
		require.NotEmpty(t, r.Decisions)
		d := r.Decisions[len(r.Decisions)-1]
		assert.Equal(t, want, d.Why)
		assert.False(t, d.Kept)
		assert.Empty(t, r.Settings)
	}
	s := tune.Search{Repeat: 1, Try: try, Cache: func([]tune.Setting) (tune.Knob, string, error) { return tune.Knob{}, "", errors.New("no more") }}
	_, err := s.Run()
	require.EqualError(t, err, "no more")
	s = tune.Search{Repeat: 1, Try: try, Knobs: []tune.Knob{behindDecode}}
	_, err = s.Run()
	require.ErrorIs(t, err, tune.ErrUnfit, "one that was asked for must not be passed over")
}

func TestAMatrixMeasuresACacheWithOtherKnobs(t *testing.T) {
	s := tune.Search{Repeat: 1, Matrix: true, Try: onStore(t), Knobs: []tune.Knob{
		{Stage: "decode", Key: "workers", Now: "1", Values: []string{"1", "2"}}, behindDecode}}
	r, err := s.Run()
	require.NoError(t, err)
	require.Len(t, r.Matrix, 4)
	for i, want := range []float64{125, 500, 250, 500} {
		assert.InEpsilon(t, want, r.Matrix[i].Rate, 0.02, r.Matrix[i].Value)
	}
	assert.Contains(t, r.Settings, tune.Setting{Stage: "decode", Key: "cache", Value: "64KB"})
}

func TestLaterLeavesTheFirstEpochOutAndTheOneThatGoesOn(t *testing.T) {
	s := graph.Snapshot{Totals: graph.Totals{Elapsed: 30 * time.Second}, CPU: 25 * time.Second, Epochs: []graph.EpochStats{
		{Samples: 80, Batches: 10, Elapsed: 20 * time.Second, Goroutines: 9},
		{Samples: 80, Batches: 10, Elapsed: 4 * time.Second, Wait: time.Second, Goroutines: 9},
		{Samples: 8, Batches: 1, Elapsed: 6 * time.Second},
	}}
	x, ok := tune.Later(graph.Snapshot{Totals: graph.Totals{Elapsed: 20 * time.Second}, CPU: 20 * time.Second}, s)
	require.True(t, ok)
	assert.InEpsilon(t, 20, x.Rate, 1e-9)
	assert.InEpsilon(t, 2.5, x.Items, 1e-9)
	assert.InEpsilon(t, 0.25, x.WaitRatio, 1e-9)
	assert.InEpsilon(t, 0.5, x.CPU, 1e-9)
	s.Epochs = s.Epochs[:1]
	_, ok = tune.Later(graph.Snapshot{}, s)
	assert.False(t, ok)
}

func TestACachesLimitIsWhatThereIsOrWhatThereIsRoomFor(t *testing.T) {
	limit := int64(10 << 30)
	s := graph.Snapshot{Environment: graph.Environment{MemoryLimit: &limit}, Memory: graph.MemoryStats{PeakRSS: 1 << 30}}
	room := tune.CacheRoom(&s, &graph.CacheStats{}, 64<<30, 0, 0, 0)
	assert.InEpsilon(t, 8<<30, room, 1e-9, "nine tenths, less what the run took")
	assert.InEpsilon(t, 6<<30, tune.CacheRoom(&s, &graph.CacheStats{}, 0, 3<<30, 0, 0), 1e-9, "its budget of memory is left to it")
	assert.InEpsilon(t, 4<<30, tune.CacheRoom(&s, &graph.CacheStats{}, 0, 0, 1e6, 440e6), 1e-9, "entries take as much as samples")
	assert.Zero(t, tune.CacheRoom(&s, &graph.CacheStats{}, 0, 10<<30, 0, 0))
	got, text, all := tune.CacheLimit(100<<20, room)
	assert.Equal(t, "102MiB", text)
	assert.InEpsilon(t, 102<<20, got, 1e-9)
	assert.True(t, all)
	_, text, all = tune.CacheLimit(100<<30, room)
	assert.Equal(t, "8192MiB", text)
	assert.False(t, all)
}
