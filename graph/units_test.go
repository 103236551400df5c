package graph_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func drawer(pos item.Pos) *graph.Rand {
	return graph.NewCall(context.Background(), 7, "stage", pos).Rand()
}

// Known answers, worked out by a second implementation in Python: the same on every processor, and for ever.
func TestRandKnownAnswers(t *testing.T) {
	r := drawer(item.Pos{Epoch: 1, Place: 5})
	require.Equal(t, uint64(0xcec6016091f0a55a), r.Uint64())
	require.Equal(t, 0.7473037125587619, r.Float64())
	require.Equal(t, 1, r.IntN(1000))
	require.Equal(t, 0.26801895551649835, r.Normal())
}

func TestRandIsUniformOverPositions(t *testing.T) {
	const n = 60_000
	var buckets [16]float64
	var sum, squares float64
	for i := range int64(n) {
		r := drawer(item.Pos{Epoch: i % 3, Place: i / 3})
		buckets[r.IntN(16)]++
		v := r.Normal()
		sum, squares = sum+v, squares+v*v
		f := r.Float64()
		require.True(t, f >= 0 && f < 1)
	}
	chi := 0.0
	for _, b := range buckets {
		chi += (b - n/16) * (b - n/16) / (n / 16)
	}
	require.Less(t, chi, 37.7, "15 degrees of freedom, one in a thousand")
	require.InDelta(t, 0, sum/n, 0.02)
	require.InDelta(t, 1, squares/n, 0.03)
	require.Panics(t, func() { drawer(item.Pos{}).IntN(0) })
}

func TestRandDependsOnEveryPartOfThePosition(t *testing.T) {
	seen := map[uint64]item.Pos{}
	for _, p := range []item.Pos{
		{}, {Epoch: 1}, {Source: 1}, {Place: 1}, item.Pos{}.Down(0), item.Pos{}.Down(1), item.Pos{}.Down(0).Down(0), {Epoch: 1, Source: 1}, {Epoch: 1, Place: 1},
	} {
		v := drawer(p).Uint64()
		_, twice := seen[v]
		require.False(t, twice, "%v", p)
		seen[v] = p
	}
	a, b := graph.NewCall(context.Background(), 7, "a", item.Pos{}).Rand().Uint64(), graph.NewCall(context.Background(), 7, "b", item.Pos{}).Rand().Uint64()
	require.NotEqual(t, a, b, "another stage, other numbers")
	require.NotEqual(t, a, graph.NewCall(context.Background(), 8, "a", item.Pos{}).Rand().Uint64(), "another seed")
}

func TestTimesAreDrawnAsTheySay(t *testing.T) {
	for _, c := range []struct {
		time graph.Time
		mean time.Duration
		text string
	}{
		{graph.Fixed(5 * ms), 5 * ms, "5ms"}, {graph.Time{}, 0, "0s"}, {graph.NormalTime(50*ms, 5*ms), 50 * ms, "normal(50ms, 5ms)"},
		{graph.LognormalTime(10*ms, 0.5), 10 * ms, "lognormal(10ms, 0.5)"}, {graph.UniformTime(2*ms, 4*ms), 3 * ms, "uniform(2ms, 4ms)"},
	} {
		require.NoError(t, c.time.Check())
		require.Equal(t, c.text, c.time.String())
		var sum time.Duration
		for i := range int64(4000) {
			d := c.time.Draw(drawer(item.Pos{Place: i}))
			require.GreaterOrEqual(t, d, time.Duration(0))
			sum += d
		}
		require.InDelta(t, float64(c.mean), float64(sum)/4000, 0.04*float64(c.mean), c.text)
	}
	for _, bad := range []graph.Time{{Shape: "odd"}, {A: -1}, {Shape: "uniform", A: 2, B: 1}, {Sigma: math.NaN()}, {Sigma: math.Inf(1)}} {
		require.Error(t, bad.Check())
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{"DecodeImage": "decode_image", "Delay": "delay", "x": "x", "": "", "aB": "a_b"} {
		require.Equal(t, want, graph.Snake(in))
	}
}

type odd struct{ opening }

func (odd) Check() error { return &graph.FieldError{Field: "f", Code: "field_range", Msg: "f is odd"} }

func (odd) Schema(in item.Schema) (item.Schema, error) {
	return in, in.Needs("x", "make_x", item.KindInt)
}

func (ints) Schema(item.Schema) (item.Schema, error) { return item.Schema{}, nil }

// Every problem is found at once, with its stage and code.
func TestBuildFindsEveryProblem(t *testing.T) {
	p := graph.New("bad", graph.Epochs(0), graph.WithBudget(graph.Budget{CPU: 2, Memory: -1}))
	src := graph.From(p, "src", ints(1), graph.Workers(-1), graph.Buffer(graph.MaxBuffer+1), graph.Window(-1))
	bad := graph.Via(src, "Bad-Id", graph.Stage[int, int](odd{}), graph.Order("sideways"), graph.OnError("shrug"), graph.Sampler(touchyPlaces{}))
	graph.Via(src, "src", sleeper[int](0))
	m := graph.Merge(p, "merge", []graph.Port[int]{bad}, graph.Workers(3))
	graph.Into(m, "sink", counting{}, graph.Buffer(2))
	other := graph.New("other")
	graph.Into(graph.Via(graph.From(other, "o", ints(1)), "w", sleeper[int](0)), "s", counting{})
	graph.Merge(p, "strange", []graph.Port[int]{graph.From(other, "o2", ints(1)), graph.From(p, "late", ints(2))})
	graph.Into(graph.From(p, "more", ints(1)), "second", counting{})
	err := p.Build()
	var be *graph.BuildError
	require.ErrorAs(t, err, &be)
	got := map[string]bool{}
	for _, pr := range be.Problems {
		got[pr.Stage+" "+pr.Field+" "+pr.Code] = true
		require.Contains(t, err.Error(), pr.Msg)
	}
	for _, want := range []string{
		" epochs field_range", " budget field_range", "src workers field_range", "src buffer field_range", "src window field_range",
		"Bad-Id  bad_id", "Bad-Id order field_value", "Bad-Id on_error field_value", "Bad-Id sampler not_a_source", "Bad-Id f field_range",
		"Bad-Id  missing_field", "src id duplicate_id", "src from used_twice", "src  no_reader", "merge from merge_inputs", "merge workers serial_stage",
		"sink buffer serial_stage", "strange from other_pipeline", "strange  no_reader", "second  two_sinks",
	} {
		require.True(t, got[want], "%q is missing of %v", want, got)
	}
	none := graph.New("none").Build()
	require.ErrorContains(t, none, "[no_stages]")
	q := graph.New("q")
	graph.From(q, "src", ints(1))
	require.ErrorContains(t, q.Build(), "[no_sink]")
	_, err = q.Start(t.Context())
	require.ErrorAs(t, err, &be, "Start says the same")
	h := graph.New("hints")
	graph.Into(graph.From(h, "src", ints(1), graph.Workers(1), graph.Window(4), graph.Order(graph.CompletionOrder)), "sink", counting{})
	require.NoError(t, h.Build())
	require.Len(t, h.Problems(), 3)
}
