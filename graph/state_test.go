package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// rotated is a sampler whose order differs from epoch to epoch.
type rotated struct{ By int64 }

func (r rotated) Places(n int64, _ uint64) (graph.Places, error) { return rotation{n, r.By}, nil }

type rotation struct{ n, by int64 }

func (r rotation) Len(int64) int64                { return r.n }
func (r rotation) Index(epoch, place int64) int64 { return (place + epoch*r.by) % r.n }

// samples is a source of n samples that hold their own number.
type samples struct {
	N    int64
	Name string
}

func (s samples) source() graph.Source[*item.Sample] {
	return source[*item.Sample]{s.N, func(c *graph.Call, i int64) (*item.Sample, error) {
		x := item.NewSample(fmt.Sprintf("%s%d", s.Name, i))
		x.Set("n", item.Int(i))
		return x, nil
	}}
}

// cuts are pipelines whose streams are cut and resumed.
var cuts = map[string]func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample]{
	"plain": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5}))
	},
	"filter": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5}))
		return graph.Via(src, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%3 != 1, nil }), w)
	},
	"skip": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5}))
		return graph.Via(src, "bad", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			if s.Get("n").Int()%4 == 2 {
				return nil, errBad
			}
			return s, nil
		}), w, graph.OnError(graph.Skip))
	},
	"flat_map": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{9, "a"}.source(), w, graph.Sampler(rotated{2}))
		return graph.Via(graph.Via(src, "once", graph.FlatMap(copies(func(n int64) int64 { return n % 4 })), w),
			"twice", graph.FlatMap(copies(func(n int64) int64 { return n % 3 })), w)
	},
	"random": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5}))
		return graph.Via(src, "add", graph.MapCall(func(c *graph.Call, s *item.Sample) (*item.Sample, error) {
			s.Set("r", item.Int(int64(c.Rand().Uint64()>>1)))
			return s, nil
		}), w)
	},
	"cache": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5}))
		kept := graph.Via(src, "keep", graph.Stage[*item.Sample, *item.Sample](&memo[*item.Sample]{limit: 30, copy: (*item.Sample).Share}))
		return graph.Via(kept, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%3 != 1, nil }), w)
	},
	"cached_flat_map": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{9, "a"}.source(), w, graph.Sampler(rotated{2}))
		many := graph.Via(src, "many", graph.FlatMap(copies(func(n int64) int64 { return n % 4 })), w)
		return graph.Via(many, "keep", graph.Stage[*item.Sample, *item.Sample](&memo[*item.Sample]{limit: 1 << 30, copy: (*item.Sample).Share}))
	},
	"merge": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a := graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3}))
		b := graph.From(p, "b", samples{4, "b"}.source(), w)
		c := graph.From(p, "c", samples{7, "c"}.source(), w, graph.Sampler(rotated{1}))
		odd := graph.Via(a, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%5 != 3, nil }), w)
		ab := graph.Merge(p, "ab", []graph.Port[*item.Sample]{odd, b})
		return graph.Merge(p, "all", []graph.Port[*item.Sample]{ab, c})
	},
}

// copies emits a sample as often as of says, numbered.
func copies(of func(int64) int64) func(*item.Sample, func(*item.Sample)) error {
	return func(s *item.Sample, emit func(*item.Sample)) error {
		for i := range of(s.Get("n").Int()) {
			x := item.NewSample(fmt.Sprintf("%s.%d", s.Key(), i))
			x.Set("n", item.Int(i+2))
			emit(x)
		}
		s.Release()
		return nil
	}
}

// stream runs a shape to its end, or to stop deliveries, and gives what was delivered, the state then and the digest.
func stream(t *testing.T, shape string, group, workers, stop int, opts ...graph.PipelineOption) (got []string, st graph.State, digests []string) {
	p := graph.New(shape, append(opts, graph.Seed(4), graph.Epochs(3))...)
	w := graph.Workers(workers)
	port := cuts[shape](p, w)
	var out *graph.Out[*item.Sample]
	var batches *graph.Out[*item.Batch]
	if group == 0 {
		out = graph.Output(port, "out")
	} else {
		batches = graph.Output(graph.Via(port, "group", rowsOf{group}, w), "out")
	}
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	note := func(epoch int64, text string) bool {
		got = append(got, fmt.Sprintf("%d:%s", epoch, text))
		if n++; n == stop {
			st, err = run.State()
			require.NoError(t, err)
		}
		return n != stop
	}
	if group == 0 {
		for e := range out.Epochs(run) {
			more := true
			for s, err := range e.All() {
				require.NoError(t, err)
				text := s.Key()
				if r := s.Get("r"); r != nil {
					text += fmt.Sprint("=", r.Int())
				}
				if more = note(e.Number, text); !more {
					break
				}
			}
			if !more {
				break
			}
		}
	} else {
		for b, err := range batches.All(run) {
			require.NoError(t, err)
			keys := []string{fmt.Sprint(b.Number)}
			for _, r := range b.Rows {
				keys = append(keys, r.Key)
			}
			if !note(b.Epoch, strings.Join(keys, " ")) {
				break
			}
		}
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	for _, e := range s.Epochs {
		if e.Digest != nil {
			digests = append(digests, *e.Digest)
		}
	}
	if s.Digest != nil {
		digests = append(digests, *s.Digest)
	}
	return got, st, digests
}

func TestResumedStreamIsTheRestOfTheUnbrokenOne(t *testing.T) {
	for shape := range cuts {
		for _, group := range []int{0, 1, 4} {
			t.Run(fmt.Sprintf("%s/group=%d", shape, group), func(t *testing.T) {
				want, _, digests := stream(t, shape, group, 1, 0)
				for cut := range tries(7) {
					if cut > len(want) {
						break
					}
					for i, workers := range []int{1, 2, 8} {
						if !sweep() && i == cut%3 { // two of three
							continue
						}
						head, st, _ := stream(t, shape, group, 9-workers, cut)
						require.Equal(t, want[:cut], head)
						st = reread(t, st)
						tail, _, rest := stream(t, shape, group, workers, 0, graph.Resume(st, false))
						require.Equal(t, want[cut:], append([]string{}, tail...), "cut at %d of %d: %+v", cut, len(want), st)
						if len(rest) > 0 && len(digests) > 0 {
							require.Equal(t, digests[len(digests)-1], rest[len(rest)-1], "digest, cut at %d", cut)
						}
					}
				}
			})
		}
	}
}

// A state that is taken right after resuming, and states of runs that were resumed before.
func TestStatesOfResumedRunsAreThoseOfTheUnbrokenOne(t *testing.T) {
	for shape := range cuts {
		for _, group := range some(4, 0) {
			want, _, _ := stream(t, shape, group, 1, 0)
			var got []string
			var opts []graph.PipelineOption
			for i := 0; len(got) < len(want); i++ {
				part, st, _ := stream(t, shape, group, 1+i%3, 1+i%2, opts...)
				require.NotEmpty(t, part)
				got = append(got, part...)
				if len(got) == len(want) { // it may have ended before the state was to be taken
					break
				}
				opts = []graph.PipelineOption{graph.Resume(through(t, st), false)}
			}
			require.Equal(t, want, got, "%s, groups of %d", shape, group)
		}
	}
}

// through writes a state to a file and reads it.
func through(t *testing.T, s graph.State) graph.State {
	path := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, s.Save(path))
	back, err := graph.LoadState(path)
	require.NoError(t, err)
	require.Equal(t, s, back)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(64<<10))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no other file is left")
	return back
}

func TestStateOfAnotherStreamIsRefusedWithWhatChanged(t *testing.T) {
	var st graph.State
	start := func(n int64, opts ...graph.PipelineOption) (warnings []string, err error) {
		p := graph.New("data", append(opts, graph.Seed(4))...)
		out := graph.Output(graph.From(p, "read", listed{&n}), "out")
		run, err := p.Start(t.Context())
		if err != nil {
			return nil, err
		}
		for range out.All(run) {
			st, err = run.State()
			require.NoError(t, err)
			break
		}
		require.NoError(t, run.Wait())
		return run.Snapshot().Warnings, nil
	}
	_, err := start(17)
	require.NoError(t, err)
	_, err = start(17, graph.Resume(st, false))
	require.NoError(t, err)
	_, err = start(18, graph.Resume(st, false))
	require.ErrorIs(t, err, graph.ErrState)
	require.ErrorContains(t, err, `the data of "read" had 17 items, now 18`)
	warnings, err := start(18, graph.Resume(st, true))
	require.NoError(t, err)
	require.Contains(t, warnings[0], "resumed by force")

	_, st, _ = stream(t, "plain", 0, 1, 3)

	p := graph.New("plain", graph.Seed(5), graph.Epochs(3), graph.Resume(st, false))
	graph.Output(graph.From(p, "read", samples{17, "a"}.source(), graph.Sampler(rotated{6})), "out")
	_, err = p.Start(t.Context())
	require.ErrorContains(t, err, `pipeline "plain": resume: the state does not fit; what has changed:`)
	require.ErrorContains(t, err, "was: seed 4")
	require.ErrorContains(t, err, "is:  seed 5")
	require.ErrorContains(t, err, "{By:6}")

	p = graph.New("plain", graph.Seed(4), graph.Epochs(1), graph.Resume(graph.State{Version: 1, Stream: st.Stream, Epoch: 2, Sources: st.Sources}, false))
	graph.Output(graph.From(p, "read", samples{17, "a"}.source(), graph.Sampler(rotated{5})), "out")
	_, err = p.Start(t.Context())
	require.ErrorContains(t, err, "the state is of epoch 2, the pipeline has 1")
}

// listed is a source whose declaration does not tell its length.
type listed struct{ n *int64 }

func (l listed) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: *l.n, At: func(_ *graph.Call, i int64) (*item.Sample, error) {
		return item.NewSample(fmt.Sprint(i)), nil
	}}, nil
}

func TestGroupsAboveAMergeAndAFilterBelowItHaveNoState(t *testing.T) {
	p := graph.New("merge")
	lists := func(id string) graph.Port[[]int] {
		return graph.Via(graph.From(p, id, ints(3)), id+"s", graph.Collect[int](2))
	}
	m := graph.Merge(p, "m", []graph.Port[[]int]{lists("a"), lists("b")})
	out := graph.Output(graph.Via(m, "odd", graph.Filter(func(v []int) (bool, error) { return len(v) == 2, nil })), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
		_, err := run.State()
		require.ErrorContains(t, err, `the stage "as" makes groups above the merge "m"; put it below`)
	}
	require.NoError(t, run.Wait())
}

func TestDamagedStateIsRefused(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"version":9}`, `{"version":1} x`, `{"version":1,"more":2}`, `{"version":1,"epoch":-1}`,
		`{"version":1,"sources":[{"id":"a","len":3,"place":4,"base":5}]}`, `{"version":1,"rank":2,"world":2}`, `{"version":1,"sources":[{"id":"a","len":3,"place":1,"ahead":1}]}`,
		`{"version":1,"inexact":true,"sources":[{"id":"a","len":3,"place":1,"ahead":-1}]}`, `{"version":1,"inexact":true,"sources":[{"id":"a","len":3,"place":1,"child":[1]}]}`,
		`{"version":1,"inexact":true,"mixes":[{"id":"a"}]}`, `{"version":1,"inexact":true,"merges":[{"id":"a"}]}`, `{"version":1,"merges":[{"id":"a","turn":-1}]}`, `{"version":1,"inexact":true,"digest":{"epoch":"1"}}`, `{"version":1,"sources":[{"id":"a","len":3,"place":1,"child":[-1]}]}`} {
		_, err := graph.ParseState([]byte(text))
		require.Error(t, err, text)
	}
	path := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(path, make([]byte, 2<<20), 0o600))
	_, err := graph.LoadState(path)
	require.ErrorContains(t, err, "larger than")
}

func TestDeliveriesAreCountedWhenTheConsumerIsDoneWithThem(t *testing.T) {
	var counts []int64
	p := graph.New("count", graph.OnDelivery(func(n int64) { counts = append(counts, n) }))
	out := graph.Output(graph.From(p, "src", ints(5)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	i := 0
	for range out.All(run) {
		require.Len(t, counts, i)
		i++
	}
	require.NoError(t, run.Wait())
	require.Equal(t, []int64{1, 2, 3, 4, 5}, counts)
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"version":1,"epoch":2,"sources":[{"id":"a","len":3,"place":1,"child":[0,1],"order":2}]}`))
	f.Add([]byte(`{"version":1,"sources":[{"id":"a","len":1,"child":[]}]}`))
	f.Add([]byte(`{"version":1,"inexact":true,"sources":[{"id":"a","len":30,"place":7,"ahead":4}]}`))
	f.Add([]byte(`{"version":1,"inexact":true,"sources":[{"id":"a","len":3,"splits":{"lanes":[{"turn":0,"record":2},{"turn":-1,"record":-1}],"next":2,"at":1,"number":256,"split":1,"record":9},"ahead":1}]}`))
	f.Add([]byte(`{"version":1,"mixes":[{"id":"m","given":[3,1],"gone":[false,true],"done":[true,false]}],"blocks":[{"id":"s","block":2,"offset":3}],"merges":[{"id":"m","turn":1}],"open":{"source":0,"place":4,"child":[1]},"digest":{"epoch":"0a","before":"0b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := graph.ParseState(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		require.NoError(t, err)
		back, err := graph.ParseState(again)
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}
