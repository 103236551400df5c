package graph_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// mixedCuts are pipelines with mixes whose streams are cut and resumed.
var mixedCuts = map[string]func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample]{
	"mix_first":  mixOf(graph.StopFirst),
	"mix_all":    mixOf(graph.StopAll),
	"mix_repeat": mixOf(graph.StopRepeat),
	"mix_below": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { // filters and flat-maps on both sides
		a := graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3}))
		b := graph.From(p, "b", samples{5, "b"}.source(), w)
		more := graph.Via(a, "more", graph.FlatMap(copies(func(n int64) int64 { return n % 3 })), w)
		ab := graph.Mix(p, "ab", []graph.Port[*item.Sample]{more, b}, graph.Mixing{Weights: []float64{2, 1}, Stop: graph.StopAll})
		some := graph.Via(ab, "some", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%4 != 2, nil }), w)
		return graph.Via(some, "most", graph.FlatMap(copies(func(n int64) int64 { return n % 3 })), w)
	},
	"mix_nested": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		var ports []graph.Port[*item.Sample]
		for i, n := range []int64{11, 4, 7, 9, 6} {
			ports = append(ports, graph.From(p, fmt.Sprint("s", i), samples{n, string(rune('a' + i))}.source(), w, graph.Sampler(rotated{1})))
		}
		odd := graph.Via(ports[0], "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%5 != 3, nil }), w)
		one := graph.Mix(p, "one", []graph.Port[*item.Sample]{odd, ports[1]}, graph.Mixing{Stop: graph.StopRepeat})
		two := graph.Merge(p, "two", []graph.Port[*item.Sample]{ports[2], ports[3]})
		three := graph.Mix(p, "three", []graph.Port[*item.Sample]{one, two}, graph.Mixing{Weights: []float64{1, 2}, Stop: graph.StopFirst})
		return graph.Merge(p, "four", []graph.Port[*item.Sample]{three, ports[4]})
	},
}

func mixOf(stop graph.StopRule) func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
	return func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a := graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3}))
		b := graph.From(p, "b", samples{4, "b"}.source(), w)
		c := graph.From(p, "c", samples{7, "c"}.source(), w, graph.Sampler(rotated{1}))
		odd := graph.Via(a, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%5 != 3, nil }), w)
		return graph.Mix(p, "abc", []graph.Port[*item.Sample]{odd, b, c}, graph.Mixing{Weights: []float64{0.5, 0.2, 0.3}, Stop: stop})
	}
}

// keysOf runs a pipeline of samples and gives the keys of each epoch.
func keysOf(t *testing.T, p *graph.Pipeline, port graph.Port[*item.Sample]) (epochs [][]string, s graph.Snapshot) {
	out := graph.Output(port, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for e := range out.Epochs(run) {
		var keys []string
		for s, err := range e.All() {
			require.NoError(t, err)
			keys = append(keys, s.Key())
		}
		epochs = append(epochs, keys)
	}
	require.NoError(t, run.Wait())
	return epochs, run.Snapshot()
}

func count(keys []string, first string) (n int) {
	for _, k := range keys {
		if strings.HasPrefix(k, first) {
			n++
		}
	}
	return n
}

// The stated bound of a mix of k inputs: 1 - 1/(2k-2) items at every prefix.
func TestMixedSharesAreWithinTheBoundAtEveryPrefix(t *testing.T) {
	for _, weights := range [][]float64{{3, 1}, {0.7, 0.2, 0.1}, {1.0 / 3, 2.0 / 3}, {1, 1, 1, 1}, {1e-3, 1}} {
		k, sum := len(weights), 0.0
		p := graph.New("shares", graph.Seed(5), graph.Epochs(2))
		var ports []graph.Port[*item.Sample]
		for i, w := range weights {
			ports = append(ports, graph.From(p, fmt.Sprint("s", i), samples{700, string(rune('a' + i))}.source(), graph.Workers(3)))
			sum += w
		}
		epochs, s := keysOf(t, p, graph.Mix(p, "mix", ports, graph.Mixing{Weights: weights}))
		bound := 1 - 1/float64(2*k-2) + 1e-9
		for _, keys := range epochs {
			given := make([]float64, k)
			for n, key := range keys {
				given[key[0]-'a']++
				for i, w := range weights {
					require.LessOrEqual(t, math.Abs(given[i]-float64(n+1)*w/sum), bound, "%v: input %d after %d", weights, i, n+1)
				}
			}
			for i := range given { // and each input's items come in its own order
				at := 0
				for _, key := range keys {
					if int(key[0]-'a') == i {
						require.Equal(t, fmt.Sprintf("%c%d", 'a'+i, at), key)
						at++
					}
				}
			}
		}
		require.Len(t, s.Mix, 1)
		require.Equal(t, "mix", s.Mix[0].ID)
		items := int64(0)
		for i, in := range s.Mix[0].Inputs {
			require.Equal(t, fmt.Sprint("s", i), in.ID)
			items += in.Items
		}
		require.Equal(t, s.Totals.Samples, items)
		for _, in := range s.Mix[0].Inputs {
			require.InDelta(t, in.Asked*float64(items), float64(in.Items), 2*bound, "two epochs")
			require.InDelta(t, float64(in.Items)/float64(items), *in.Delivered, 1e-12)
		}
		require.True(t, s.Totals.Balanced, s.Totals.Unbalanced)
	}
}

func TestMixEndsAsItsRuleSays(t *testing.T) {
	run := func(stop graph.StopRule, opts ...graph.PipelineOption) ([][]string, graph.Snapshot) {
		p := graph.New("rules", append(opts, graph.Epochs(2))...)
		a := graph.From(p, "a", samples{30, "a"}.source(), graph.Workers(2))
		b := graph.From(p, "b", samples{4, "b"}.source(), graph.Workers(2))
		return keysOf(t, p, graph.Mix(p, "mix", []graph.Port[*item.Sample]{a, b}, graph.Mixing{Stop: stop}))
	}
	for _, opts := range [][]graph.PipelineOption{nil, {graph.Sync()}} {
		first, s := run("", opts...)
		require.Len(t, first, 2)
		for _, keys := range first {
			require.Equal(t, 4, count(keys, "b"))
			require.InDelta(t, 4, count(keys, "a"), 1)
		}
		require.True(t, s.Totals.Balanced, s.Totals.Unbalanced)

		all, _ := run(graph.StopAll, opts...)
		for _, keys := range all {
			require.Equal(t, 30, count(keys, "a"))
			require.Equal(t, 4, count(keys, "b"))
			require.Len(t, keys, 34)
		}

		repeat, s := run(graph.StopRepeat, opts...)
		require.Len(t, repeat, 2)
		for _, keys := range repeat {
			require.Equal(t, 30, count(keys, "a"), "the longest once")
			require.InDelta(t, 30, count(keys, "b"), 1, "the others as often as is asked")
			require.Equal(t, 8, count(keys, "b0"), "30 of 4")
		}
		require.True(t, s.Totals.Balanced, s.Totals.Unbalanced)
	}
}

// The rest of an epoch that has ended is not read, but for what is under way.
func TestMixDoesNotReadWhatIsLeftOfItsEpoch(t *testing.T) {
	for _, sync := range []bool{false, true} {
		p := graph.New("rest", graph.Epochs(3))
		if sync {
			p.With(graph.Sync())
		}
		a := graph.From(p, "a", samples{1_000_000, "a"}.source())
		b := graph.From(p, "b", samples{4, "b"}.source())
		epochs, s := keysOf(t, p, graph.Mix(p, "mix", []graph.Port[*item.Sample]{a, b}, graph.Mixing{}))
		require.Len(t, epochs, 3)
		require.Less(t, s.Stages[0].ItemsIn, int64(100_000), "of three million")
		require.True(t, s.Totals.Balanced, s.Totals.Unbalanced)
	}
}

func TestMixOfWhichNothingComesThroughEndsWithAnError(t *testing.T) {
	for _, opts := range [][]graph.PipelineOption{nil, {graph.Sync()}} {
		p := graph.New("nothing", opts...)
		a := graph.From(p, "a", samples{30, "a"}.source())
		b := graph.Via(graph.From(p, "b", samples{4, "b"}.source()), "none", graph.Filter(func(*item.Sample) (bool, error) { return false, nil }))
		out := graph.Output(graph.Mix(p, "mix", []graph.Port[*item.Sample]{a, b}, graph.Mixing{Stop: graph.StopRepeat}), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for range out.All(run) {
		}
		err = run.Wait()
		require.ErrorContains(t, err, `"mix"`)
		require.ErrorContains(t, err, `stop: repeat would never end`)
		require.ErrorContains(t, err, `"b"`)
	}
}

func TestMixThatCannotBeIsRefusedWhenBuilt(t *testing.T) {
	for want, m := range map[string]graph.Mixing{
		"weights must have one for each of the 2 inputs, got 3": {Weights: []float64{1, 2, 3}},
		"weights[1] must be above 0, got 0":                     {Weights: []float64{1, 0}},
		"weights[0] must be above 0, got -1":                    {Weights: []float64{-1, 1}},
		"weights[0] must be above 0, got NaN":                   {Weights: []float64{math.NaN(), 1}},
		"weights[1] must be above 0, got +Inf":                  {Weights: []float64{1, math.Inf(1)}},
		`stop must be first, all or repeat, got "last"`:         {Stop: "last"},
	} {
		p := graph.New("bad")
		a, b := graph.From(p, "a", ints(3)), graph.From(p, "b", ints(3))
		graph.Output(graph.Mix(p, "mix", []graph.Port[int]{a, b}, m), "out")
		require.ErrorContains(t, p.Build(), want)
	}
	p := graph.New("bad")
	ab := graph.Merge(p, "ab", []graph.Port[int]{graph.From(p, "a", ints(3)), graph.From(p, "b", ints(3))})
	graph.Output(graph.Mix(p, "mix", []graph.Port[int]{ab, graph.From(p, "c", ints(3))}, graph.Mixing{Stop: graph.StopRepeat}, graph.Workers(3)), "out")
	err := p.Build()
	require.ErrorContains(t, err, `the input "ab" joins 2 of them`)
	require.ErrorContains(t, err, "a mix takes its inputs in turn and has no workers")
}

// A mix that is to end when all are used up gives every item at least once.
func TestMixThatEndsWhenAllAreUsedUpGivesEveryItem(t *testing.T) {
	for _, stop := range []graph.StopRule{graph.StopAll, graph.StopRepeat} {
		p := graph.New("used_up", graph.Seed(42))
		var ports []graph.Port[*item.Sample]
		for i, n := range []int64{3, 4, 3} {
			ports = append(ports, graph.From(p, fmt.Sprint("s", i), samples{n, string(rune('a' + i))}.source()))
		}
		epochs, _ := keysOf(t, p, graph.Mix(p, "mix", ports, graph.Mixing{Weights: []float64{.2, .6, .2}, Stop: stop}))
		for _, key := range []string{"a0", "a1", "a2", "b0", "b1", "b2", "b3", "c0", "c1", "c2"} {
			require.Contains(t, epochs[0], key, stop)
		}
		if stop == graph.StopAll {
			require.Len(t, epochs[0], 10)
		}
	}
}

// What a mix remembers of what is under way does not grow with the run.
func TestMixForgetsWhatWasDelivered(t *testing.T) {
	p := graph.New("long")
	a, b := graph.From(p, "a", ints(300_000)), graph.From(p, "b", ints(300_000))
	out := graph.Output(graph.Mix(p, "mix", []graph.Port[int]{a, b}, graph.Mixing{}), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for range out.All(run) {
		if n++; n%100_000 == 0 {
			require.Less(t, run.Remembered(), 20_000)
		}
	}
	require.NoError(t, run.Wait())
	require.InDelta(t, 600_000, n, 1)
}

// A slow input keeps the others waiting, never out of their shares, and the wait is put down to it.
func TestSlowInputOfAMixIsBlamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("slow")
		a := graph.From(p, "a", ints(200))
		b := graph.Via(graph.From(p, "b", ints(200)), "late", sleeper[int](5*ms), graph.Workers(1))
		out := graph.Output(graph.Mix(p, "mix", []graph.Port[int]{a, b}, graph.Mixing{}), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			n++
		}
		require.NoError(t, run.Wait())
		require.InDelta(t, 400, n, 1)
		s := run.Snapshot()
		var late, all time.Duration
		for _, b := range s.Blame {
			if all += b.Time; b.Stage == "late" {
				late += b.Time
			}
		}
		require.Equal(t, s.Sink.Wait, all)
		require.Greater(t, late, all*9/10)
	})
}

// swapped hands blocks on in an order that depends on the epoch and the block.
type swapped struct{ Size int }

func (s swapped) Holds() int64 { return int64(s.Size) }

func (s swapped) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	return graph.Transform[*item.Sample, *item.Sample]{Block: &graph.Block{Size: s.Size, Order: func(epoch, number int64, n int) func(int) int {
		perm := rand.New(rand.NewPCG(uint64(epoch), uint64(number))).Perm(n)
		return func(i int) int { return perm[i] }
	}}}, nil
}

func init() {
	block := func(size int) graph.Stage[*item.Sample, *item.Sample] { return swapped{size} }
	mixedCuts["block"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.Via(graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5})), "block", block(5))
	}
	mixedCuts["block_whole"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{12, "a"}.source(), w)
		return graph.Via(graph.Via(src, "two", block(4)), "one", block(100))
	}
	mixedCuts["block_flat"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { // flat-maps and filters on both sides
		src := graph.From(p, "read", samples{9, "a"}.source(), w, graph.Sampler(rotated{2}))
		more := graph.Via(src, "more", graph.FlatMap(copies(func(n int64) int64 { return n % 3 })), w)
		mixed := graph.Via(more, "block", block(4))
		some := graph.Via(mixed, "some", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int() != 2, nil }), w)
		return graph.Via(some, "most", graph.FlatMap(copies(func(n int64) int64 { return n })), w)
	}
	mixedCuts["block_mix"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a := graph.Via(graph.From(p, "a", samples{11, "a"}.source(), w), "sa", block(4))
		b := graph.Via(graph.From(p, "b", samples{5, "b"}.source(), w), "sb", block(3))
		ab := graph.Mix(p, "ab", []graph.Port[*item.Sample]{a, b}, graph.Mixing{Weights: []float64{2, 1}, Stop: graph.StopRepeat})
		return graph.Via(ab, "sab", block(6))
	}
	mixedCuts["block_merge"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a, b := graph.From(p, "a", samples{11, "a"}.source(), w), graph.From(p, "b", samples{5, "b"}.source(), w)
		return graph.Via(graph.Merge(p, "ab", []graph.Port[*item.Sample]{a, b}), "sab", block(6))
	}
	mixedCuts["merge_late"] = func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] { // of an epoch the inner one begins after a cut
		a, b, c := graph.From(p, "a", samples{5, "a"}.source(), w), graph.From(p, "b", samples{4, "b"}.source(), w), graph.From(p, "c", samples{9, "c"}.source(), w)
		return graph.Merge(p, "all", []graph.Port[*item.Sample]{c, graph.Merge(p, "ab", []graph.Port[*item.Sample]{a, b})})
	}
	for name, f := range mixedCuts {
		cuts[name] = f
	}
}
