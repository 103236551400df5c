package graph_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// records is an iterable of splits with these numbers of samples.
type records struct {
	of    []int
	width int
	read  *atomic.Int64 // counts what is read; may be nil
}

func (s records) String() string { return fmt.Sprint(s.of, s.width) }

func (s records) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Splits: len(s.of), Interleave: s.width, Read: func(_ *graph.Call, split int, from int64, emit func(*item.Sample) error) error {
		for i := int(from); i < s.of[split]; i++ {
			if s.read != nil {
				s.read.Add(1)
			}
			x := item.NewSample(fmt.Sprintf("%d/%d", split, i))
			x.Set("n", item.Int(int64(10*split+i)))
			if err := emit(x); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

var (
	manySplits = records{of: []int{3, 0, 4, 1, 6, 2, 2, 5, 3, 3, 1, 2}, width: 3}
	fewSplits  = records{of: []int{9, 20}, width: 8}
	longSplits = records{of: []int{700, 1, 600, 300, 0, 0, 900}, width: 3}
)

func forward(s records, by ...graph.Option) shaped {
	return func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", s, append(by, w)...)
	}
}

// ahead are pipelines over iterables; the first ones make one row of each record.
var ahead = map[string]shaped{
	"many":     forward(manySplits),
	"few":      forward(fewSplits),
	"one":      forward(records{of: []int{23}}),
	"shuffled": forward(manySplits, graph.Sampler(shuffledSplits{})),
	"filter": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.Via(forward(manySplits)(p, w), "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%3 != 1, nil }), w)
	},
	"flat_map": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.Via(forward(fewSplits)(p, w), "some", graph.FlatMap(copies(func(n int64) int64 { return n % 4 })), w)
	},
	"merge": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a := graph.From(p, "a", manySplits, w)
		b := graph.From(p, "b", samples{17, "b"}.source(), w, graph.Sampler(rotated{5}))
		return graph.Merge(p, "m", []graph.Port[*item.Sample]{a, b})
	},
}

// shuffledSplits is another order of splits in each epoch.
type shuffledSplits struct{}

func (shuffledSplits) Kind() string { return "shuffled" }
func (shuffledSplits) Places(n int64, _ uint64) (graph.Places, error) {
	return rotation{n, 5}, nil
}

func TestRanksOfAnIterableTogetherDeliverWhatOneProcessWould(t *testing.T) {
	const size = 2
	for _, name := range []string{"many", "few", "one", "shuffled", "merge"} {
		one := merged([]job{ranked(t, ahead[name], size, 1, 0)})
		for _, world := range []int{1, 2, 3, 7} {
			for _, steps := range []int{1, 3, 40} {
				t.Run(fmt.Sprintf("%s/world=%d/steps=%d", name, world, steps), func(t *testing.T) {
					for _, workers := range some(1, 8, 2) {
						var jobs []job
						for rank := range world {
							j := ranked(t, ahead[name], size, workers, 0, graph.Rank(rank, world), graph.StepsPerEpoch(steps))
							require.EqualValues(t, rankEpochs*steps, j.steps)
							require.Len(t, j.rows, rankEpochs*steps*size)
							jobs = append(jobs, j)
						}
						all := merged(jobs)
						noneTwice(t, all)
						if steps == 40 {
							require.Equal(t, real(one), real(all))
						} else {
							require.Subset(t, real(one), real(all))
						}
					}
				})
			}
		}
	}
}

func TestResumedIterableIsTheRestOfTheUnbrokenOne(t *testing.T) {
	for name, build := range ahead {
		for _, size := range some(0, 4, 1) {
			for _, world := range []int{1, 2, 3} {
				t.Run(fmt.Sprintf("%s/size=%d/world=%d", name, size, world), func(t *testing.T) {
					for rank := range world {
						var opts []graph.PipelineOption
						if world > 1 {
							opts = append(opts, graph.Rank(rank, world), graph.StepsPerEpoch(7))
						}
						resumes(t, build, size, opts)
					}
				})
			}
		}
	}
}

// resumes cuts a stream at every delivery.
func resumes(t *testing.T, build shaped, size int, opts []graph.PipelineOption) {
	want := ranked(t, build, size, 2, 0, opts...)
	for cut := range tries(5) {
		if cut >= int(want.steps) {
			break
		}
		head := ranked(t, build, size, 1+cut%2*7, cut, opts...)
		tail := ranked(t, build, size, 1+cut%3, 0, append(opts, graph.Resume(reread(t, head.state), false))...)
		got := append(head.rows, tail.rows...)
		for i := range got {
			got[i].n = want.rows[min(i, len(want.rows)-1)].n
		}
		require.Equal(t, want.rows, got, "cut at %d: %+v", cut, head.state)
		require.Equal(t, want.snap.Digest, tail.snap.Digest, "cut at %d: %+v %v", cut, head.state, tail.snap.Warnings)
		require.Equal(t, want.snap.Totals.Samples, head.snap.Totals.Samples+tail.snap.Totals.Samples, "cut at %d", cut)
	}
}

// A state is taken at any place of long splits, and right after a resume.
func TestStatesOfAResumedIterableAreThoseOfTheUnbrokenOne(t *testing.T) {
	build := forward(longSplits)
	want := ranked(t, build, 50, 2, 0)
	var got []row
	var opts []graph.PipelineOption
	for i := 0; len(got) < len(want.rows); i++ {
		j := ranked(t, build, 50, 1+i%3, 1+i%2, opts...)
		require.NotEmpty(t, j.rows)
		got = append(got, j.rows...)
		if j.state.Version == 0 {
			break
		}
		opts = []graph.PipelineOption{graph.Resume(reread(t, j.state), false)}
	}
	for i := range got {
		got[i].n = want.rows[min(i, len(want.rows)-1)].n
	}
	require.Equal(t, want.rows, got)
}

func TestResumeOfAnIterableReadsLittleAgainWhereverItIs(t *testing.T) {
	const n = 20000
	for _, at := range []int{1, 10, 100, 199} {
		var read atomic.Int64
		build := forward(records{of: []int{n / 2, n / 2}, width: 2, read: &read})
		state := reread(t, ranked(t, build, 100, 2, at).state)
		read.Store(0)
		j := ranked(t, build, 100, 1, 0, graph.Resume(state, false), graph.Epochs(1))
		require.LessOrEqual(t, read.Load()-int64(len(j.rows)), int64(512), "after %d batches", at)
	}
}

func TestIterableOfSeveralRanksNeedsItsSteps(t *testing.T) {
	p := graph.New("x", graph.Rank(0, 2))
	graph.Output(graph.From(p, "read", manySplits), "out")
	_, err := p.Start(t.Context())
	require.ErrorContains(t, err, "set steps_per_epoch")
	p = graph.New("x", graph.StepsPerEpoch(3))
	out := graph.Output(graph.From(p, "read", records{of: []int{0, 0, 0}}), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
	}
	require.ErrorContains(t, run.Wait(), `stage "read": read: its splits hold no records`)
}

// A stream without end is cut and resumed, and ends its epochs by steps.
func TestStreamWithoutEndHasStatesAndSteps(t *testing.T) {
	build := func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", records{of: []int{1 << 40, 1 << 40, 1 << 40}, width: 2}, w)
	}
	opts := []graph.PipelineOption{graph.StepsPerEpoch(9)}
	want := ranked(t, build, 100, 2, 0, opts...)
	require.EqualValues(t, 9*rankEpochs, want.steps)
	resumes(t, build, 100, opts)
}
