package report_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// event is one of a trace. Times are in microseconds.
type event struct {
	Ph, Name, Cat, Bp string
	Pid, Tid, ID      int
	Ts, Dur           float64
	Args              map[string]any
}

type traced struct {
	TraceEvents []event
	OtherData   struct {
		Pipeline   string
		CutSeconds *float64 `json:"cut_seconds"`
	}
}

func written(t *testing.T, tr graph.Trace) (x traced) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Trace(&b, tr))
	require.NoError(t, json.Unmarshal(b.Bytes(), &x), b.String())
	return x
}

// nest checks that the slices of each track lie within each other or beside each other.
func nest(t *testing.T, all []event) {
	t.Helper()
	tracks := map[[2]int][]event{}
	for _, e := range all {
		require.GreaterOrEqual(t, e.Ts, 0.0)
		if e.Ph == "X" {
			require.Positive(t, e.Dur)
			tracks[[2]int{e.Pid, e.Tid}] = append(tracks[[2]int{e.Pid, e.Tid}], e)
		}
	}
	for at, list := range tracks {
		slices.SortFunc(list, func(a, b event) int { return cmp.Or(cmp.Compare(a.Ts, b.Ts), cmp.Compare(b.Dur, a.Dur)) })
		var open []event
		for _, e := range list {
			for len(open) > 0 && open[len(open)-1].Ts+open[len(open)-1].Dur <= e.Ts+1e-6 {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				top := open[len(open)-1]
				require.LessOrEqual(t, e.Ts+e.Dur, top.Ts+top.Dur+1e-6, "track %v: %v reaches out of %v", at, e, top)
			}
			open = append(open, e)
		}
	}
}

// numbers is a source of n numbers; each takes some time to read.
type numbers struct {
	n int64
	d time.Duration
}

func (s numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: s.n, At: func(_ *graph.Call, i int64) (int, error) { time.Sleep(s.d); return int(i), nil }}, nil
}

// run takes 40 numbers by fives; slow takes longest.
func run(t *testing.T, opts ...graph.PipelineOption) (*graph.Run, graph.Snapshot) {
	t.Helper()
	p := graph.New("traced <b>", opts...)
	src := graph.From(p, "read", numbers{40, ms}, graph.Workers(2))
	slow := graph.Via(src, "slow", graph.Map(func(i int) (int, error) { time.Sleep(10 * ms); return i, nil }), graph.Workers(2))
	out := graph.Output(graph.Via(slow, "pack", graph.Collect[int](5)), "out")
	r, err := p.Start(t.Context())
	require.NoError(t, err)
	for _, err := range out.All(r) {
		require.NoError(t, err)
		time.Sleep(5 * ms)
	}
	require.NoError(t, r.Wait())
	return r, r.Snapshot()
}

func TestATraceShowsEveryStateAndLinksWaitsToWhatCausedThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := run(t, graph.KeepTrace(10_000), graph.KeepTimeline())
		x := written(t, r.Trace())
		nest(t, x.TraceEvents)
		assert.Equal(t, "traced <b>", x.OtherData.Pipeline)
		assert.Nil(t, x.OtherData.CutSeconds)

		busy, waits, flows := map[int]float64{}, 0.0, map[int][]event{}
		names := map[int]string{}
		for _, e := range x.TraceEvents {
			switch {
			case e.Ph == "M" && e.Name == "process_name":
				names[e.Pid] = e.Args["name"].(string)
			case e.Ph == "X" && e.Name == "busy":
				busy[e.Pid] += e.Dur
			case e.Ph == "X" && e.Cat == "wait":
				waits += e.Dur
			case e.Cat == "blame":
				flows[e.ID] = append(flows[e.ID], e)
			}
		}
		assert.Equal(t, "slow (map)", names[2])
		for i, st := range s.Stages {
			assert.InDelta(t, st.Busy.Seconds()*1e6, busy[i+1], 1e-3, st.ID)
		}
		assert.InDelta(t, s.Sink.Wait.Seconds()*1e6, waits, 1, "but for the wait for the end")
		require.GreaterOrEqual(t, len(flows), 7, "each batch was waited for")
		for _, f := range flows {
			require.Len(t, f, 2)
			require.Equal(t, []string{"s", "f", "e"}, []string{f[0].Ph, f[1].Ph, f[1].Bp})
			require.Equal(t, 2, f[0].Pid, "slow is to blame")
			require.LessOrEqual(t, f[0].Ts, f[1].Ts)
			for _, end := range f { // an arrow begins and ends in a slice
				require.True(t, slices.ContainsFunc(x.TraceEvents, func(e event) bool {
					return e.Ph == "X" && e.Pid == end.Pid && e.Tid == end.Tid && e.Ts <= end.Ts && end.Ts < e.Ts+e.Dur
				}), "%v", end)
			}
		}
		assert.True(t, slices.ContainsFunc(x.TraceEvents, func(e event) bool { return e.Ph == "C" && e.Pid == 1 && e.Args["items"].(float64) > 1 }))
	})
}

func TestATraceEndsWhereItIsFullAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := run(t, graph.KeepTrace(50), graph.NoDigest())
		tr := r.Trace()
		spans := len(tr.Waits)
		for _, st := range tr.Stages {
			spans += len(st.Queue)
			for _, w := range st.Workers {
				spans += len(w)
			}
		}
		assert.LessOrEqual(t, spans, 50)
		assert.Positive(t, tr.Cut)
		x := written(t, tr)
		nest(t, x.TraceEvents)
		assert.Equal(t, tr.Cut.Seconds(), *x.OtherData.CutSeconds)
		require.Len(t, s.Warnings, 1)
		assert.Contains(t, s.Warnings[0], "the trace ends after")

		r, s = run(t, graph.NoDigest())
		assert.Empty(t, r.Trace().Stages, "nothing is kept by default")
		assert.Empty(t, s.Warnings)
		assert.Empty(t, written(t, r.Trace()).TraceEvents)
	})
}

func TestATraceThatCannotBeWrittenSaysSo(t *testing.T) {
	full := errors.New("full")
	assert.ErrorIs(t, report.Trace(broken{full}, graph.Trace{Stages: []graph.TraceStage{{ID: "a", Workers: [][]graph.Span{make([]graph.Span, 9999)}}}}), full)
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestWorkersAreToldOfOnTheirOwnGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type at struct {
			stage  string
			worker int
		}
		started, entered := make(chan at, 100), make(chan string, 10_000)
		_, _ = run(t, graph.OnWorker(func(stage string, worker int) { started <- at{stage, worker} }),
			graph.OnState(func(stage string) func(string) {
				return func(state string) { entered <- stage + " " + state }
			}))
		close(started)
		close(entered)
		seen, states := map[at]int{}, map[string]int{}
		for a := range started {
			seen[a]++
		}
		for s := range entered {
			states[s]++
		}
		assert.Equal(t, 1, seen[at{"read", 0}])
		assert.Equal(t, 1, seen[at{"slow", 1}])
		assert.NotContains(t, seen, at{"out", 0}, "the loop is not the pipeline's")
		assert.Equal(t, 2, states["slow "], "both leave")
		assert.Positive(t, states["slow busy"])
		assert.Positive(t, states["slow wait_in"])
		assert.Positive(t, states["read wait_out"])
	})
}
