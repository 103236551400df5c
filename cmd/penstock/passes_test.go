package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

type counted struct{}

func (counted) Open(context.Context, *graph.Env) (graph.Reader[int64], error) {
	return graph.Reader[int64]{Len: 1 << 40, At: func(_ *graph.Call, i int64) (int64, error) { return i, nil }}, nil
}

// slowAtFirst takes 20 ms for each of the first 50 items, then 10 ms.
func slowAtFirst(i int64) {
	if i < 50 {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
}

type firmSink struct{}

func (firmSink) Open(context.Context, *graph.Env) (graph.Consumer[int64], error) {
	return graph.Consumer[int64]{Take: func(_ *graph.Call, i int64) error { slowAtFirst(i); return nil }}, nil
}

func TestTheFirstPassIsMeasuredApart(t *testing.T) {
	// The timers end between two items: of the same moment of virtual time it is not told which comes first.
	measure := func(t *testing.T, items int64, sink bool) (cold tune.First, warm tune.Trial) {
		synctest.Test(t, func(t *testing.T) {
			l := &lab{seconds: 2.997, ctx: t.Context()}
			p := graph.New("passes")
			port := graph.From[int64](p, "read", counted{}, graph.Workers(1))
			var err error
			if sink {
				graph.Into(port, "train", firmSink{})
				cold, warm, err = l.passes(p, &pass{items: items}, nil)
			} else {
				first := &pass{items: items}
				port = graph.Via(port, "decode", graph.Map(func(i int64) (int64, error) { slowAtFirst(i); return i, nil }), graph.Workers(1))
				cold, warm, err = l.passes(p, first, drain(graph.Output(port, "out"), first))
			}
			require.NoError(t, err)
		})
		return cold, warm
	}
	for _, sink := range []bool{false, true} {
		cold, warm := measure(t, 50, sink)
		assert.InEpsilon(t, 50, cold.Items, 0.03)
		assert.InEpsilon(t, 1, cold.Seconds, 0.03)
		assert.InEpsilon(t, 100, warm.Items, 0.02)
		cold, warm = measure(t, 1000, sink) // which are never through: half of the time is taken
		assert.InEpsilon(t, 1.5, cold.Seconds, 0.01)
		assert.InEpsilon(t, 100/1.5, cold.Items, 0.03)
		assert.InEpsilon(t, 100, warm.Items, 0.02)
	}
}

func TestProfileShowsTheFirstEpochBesideLaterOnes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	r := penstock(t, "profile", write(t, "p.yaml", `pipeline: kept
stages:
  - {id: read, slow: {count: 60, delay: 2ms}, workers: 1}
  - {id: keep, memory_cache: {limit: 64MiB}}
  - {id: pack, collate: {size: 4}}
  - {id: end, discard: {}}
`), "--seconds", "0.25", "--json", file)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "the first epoch of the whole takes ")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var c struct {
		First  float64 `json:"whole_cold"`
		Later  float64 `json:"whole_warm"`
		Stages []struct {
			ID   string
			Cold *float64 `json:"alone_cold"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &c))
	assert.Less(t, c.First, 510.0, "2 ms each")
	assert.Greater(t, c.Later, 2*c.First)
	for _, s := range c.Stages[1:] {
		assert.NotNil(t, s.Cold, s.ID)
	}
}

func TestAllMeasurementsTakeHalfAMinute(t *testing.T) {
	var o graph.Outline
	for range 3 {
		o.Stages = append(o.Stages, graph.OutlineStage{Role: "stage"})
	}
	assert.Equal(t, 3.0, halfMinute(o))
	for range 7 {
		o.Stages = append(o.Stages, graph.OutlineStage{Role: "stage"})
	}
	assert.Equal(t, 1.5, halfMinute(o))
}
