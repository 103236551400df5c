package stages_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/stages"
)

// numbers are read forward, in two splits.
type numbers struct{ N, Splits int }

func (s numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	if s.Splits == 0 {
		return graph.Reader[int]{Len: int64(s.N), At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
	}
	return graph.Reader[int]{Splits: s.Splits, Interleave: 1, Read: func(_ *graph.Call, split int, from int64, emit func(int) error) error {
		for i := split*s.N/s.Splits + int(from); i < (split+1)*s.N/s.Splits; i++ {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// shuffledBy runs numbers through a shuffle and gives the epochs.
func shuffledBy(t *testing.T, src numbers, size int, seed uint64, workers, buffer int, opts ...graph.PipelineOption) (epochs [][]int) {
	p := graph.New("shuffle", append(opts, graph.Seed(seed), graph.Epochs(3))...)
	port := graph.From(p, "read", src, graph.Workers(workers), graph.Buffer(buffer))
	port = graph.Via(port, "shuffle", stages.Shuffle[int]{Size: size}, graph.Buffer(buffer))
	out := graph.Output(graph.Via(port, "pass", graph.Map(func(v int) (int, error) { return v, nil }), graph.Workers(workers), graph.Buffer(buffer)), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for e := range out.Epochs(run) {
		var got []int
		for v, err := range e.All() {
			require.NoError(t, err)
			got = append(got, v)
		}
		epochs = append(epochs, got)
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	require.True(t, s.Totals.Balanced, s.Totals.Unbalanced)
	return epochs
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// G-SHF-01 and G-SHF-02: epochs differ, runs agree, each is a permutation; no tail is lost, and size 1 is the identity.
func TestShufflePermutesBlocksAnewInEachEpoch(t *testing.T) {
	for _, n := range []int{1, 10, 64, 999} {
		for _, size := range []int{1, 4, 10, 1000} {
			for _, splits := range []int{0, 2} {
				if splits > n {
					continue
				}
				t.Run(fmt.Sprint(n, size, splits), func(t *testing.T) {
					want := shuffledBy(t, numbers{n, splits}, size, 7, 1, 0)
					require.Len(t, want, 3)
					for _, e := range want {
						require.ElementsMatch(t, upTo(n), e)
						for at := 0; at < n; at += size {
							part := slices.Sorted(slices.Values(e[at:min(n, at+size)]))
							require.Equal(t, upTo(n)[at:min(n, at+size)], part, "blocks stay in their order")
						}
					}
					if size == 1 {
						require.Equal(t, upTo(n), want[0])
					} else if n >= 64 {
						require.NotEqual(t, upTo(n), want[0])
						require.NotEqual(t, want[0], want[1])
						require.NotEqual(t, want[0], shuffledBy(t, numbers{n, splits}, size, 8, 1, 0)[0], "another seed")
						if size < n/2 {
							require.NotEqual(t, offsets(want[0][:size], 0), offsets(want[0][size:2*size], size), "each block has an order of its own")
						}
					}
					for _, w := range []int{2, 8} {
						for _, buffer := range []int{0, 1, 33} {
							require.Equal(t, want, shuffledBy(t, numbers{n, splits}, size, 7, w, buffer))
						}
					}
					require.Equal(t, want, shuffledBy(t, numbers{n, splits}, size, 7, 1, 0, graph.Sync()))
				})
			}
		}
	}
}

func offsets(list []int, by int) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = v - by
	}
	return out
}

func TestShuffleOfNothingIsRefused(t *testing.T) {
	p := graph.New("bad")
	out := graph.Via(graph.From(p, "read", numbers{N: 3}), "shuffle", stages.Shuffle[int]{Size: -1}, graph.Workers(4), graph.OnError(graph.Skip))
	graph.Output(out, "out")
	require.ErrorContains(t, p.Build(), "size must be")
	require.ErrorContains(t, p.Build(), "it has one worker")
	var hints []string
	for _, x := range p.Problems() {
		if x.Warn {
			hints = append(hints, x.Msg)
		}
	}
	require.Len(t, hints, 1)
	require.Contains(t, hints[0], "on_error has no effect")
}

// Whoever comes into which row of a block is a matter of chance: over many seeds each item is first equally often.
func TestShuffleIsUniform(t *testing.T) {
	first := make([]int, 8)
	for seed := range uint64(400) {
		for _, e := range shuffledBy(t, numbers{N: 8}, 8, seed, 1, 0) {
			first[e[0]]++
		}
	}
	for _, n := range first { // 150 expected of 1200, deviation 11.5
		require.InDelta(t, 150, n, 50)
	}
}

// again reads the numbers below N Passes times in an epoch: a repeat before all that comes below.
type again struct{ N, Passes int }

func (s again) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: int64(s.N * s.Passes), At: func(_ *graph.Call, i int64) (int, error) { return int(i) % s.N, nil }}, nil
}

// G-SHF-03: epochs repeat what stands above them all, so each is shuffled anew and ends before the next begins. A source
// that repeats itself within an epoch is a repeat before the shuffle, whose blocks mix the passes. steps_per_epoch takes of
// the source, above the shuffle; see docs/ranks.md.
func TestRepeatsAboveAShuffleMixAndEpochsDoNot(t *testing.T) {
	const n, passes = 10, 5
	read := func(src graph.Source[int], epochs int, opts ...graph.PipelineOption) (all [][]int) {
		p := graph.New("repeat", append(opts, graph.Seed(7), graph.Epochs(epochs))...)
		port := graph.Via(graph.From(p, "read", src), "shuffle", stages.Shuffle[int]{Size: n * passes})
		out := graph.Output(port, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		for e := range out.Epochs(run) {
			var got []int
			for v, err := range e.All() {
				require.NoError(t, err)
				got = append(got, v)
			}
			all = append(all, got)
		}
		require.NoError(t, run.Wait())
		return all
	}
	epochs := read(numbers{n, 0}, passes)
	require.Len(t, epochs, passes)
	for _, e := range epochs {
		require.ElementsMatch(t, upTo(n), e, "all of an epoch comes before the next")
	}
	require.NotEqual(t, epochs[0], epochs[1])

	whole := read(again{n, passes}, 1)
	require.Len(t, whole, 1)
	require.Len(t, whole[0], n*passes)
	require.NotEqual(t, upTo(n), slices.Sorted(slices.Values(whole[0][:n])), "the passes are mixed")
	seen := map[int]int{}
	for _, v := range whole[0] {
		seen[v]++
	}
	for v := range n {
		require.Equal(t, passes, seen[v])
	}

	taken := read(numbers{n, 0}, passes, graph.StepsPerEpoch(3))
	require.Len(t, taken, passes)
	different := false
	for i, e := range taken {
		require.ElementsMatch(t, upTo(3), e, "the source hands out as many as there are steps, and those are shuffled")
		different = different || !slices.Equal(e, taken[0]) && i > 0
	}
	require.True(t, different, "in another order each epoch")
	require.Equal(t, taken, read(numbers{n, 0}, passes, graph.StepsPerEpoch(3)), "the same in another run")
}

// BenchmarkShuffle is numbers that pass a pipeline with a shuffle and one without: the difference of their processor time.
func BenchmarkShuffle(b *testing.B) {
	for _, size := range []int{0, 1000, 100_000} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			p := graph.New("shuffle", graph.NoDigest())
			port := graph.From(p, "read", numbers{N: b.N}, graph.Workers(1))
			if size > 0 {
				port = graph.Via(port, "shuffle", stages.Shuffle[int]{Size: size})
			}
			out := graph.Output(port, "out")
			b.ResetTimer()
			run, err := p.Start(b.Context())
			require.NoError(b, err)
			for _, err := range out.All(run) {
				if err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, run.Wait())
			b.ReportMetric(float64(run.Snapshot().CPU)/float64(b.N), "cpu-ns/op")
		})
	}
}
