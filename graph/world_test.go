package graph_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

var sizes = []int{1, 2, 3, 4, 7}

// sweep says that every combination is tried, which takes minutes: PENSTOCK_SWEEP is set.
func sweep() bool { return os.Getenv("PENSTOCK_SWEEP") != "" }

// some leaves out the last of the values where tests are to be short.
func some(values ...int) []int {
	if testing.Short() {
		return values[:len(values)-1]
	}
	return values
}

// tries are the places to cut a run at, from 1 on without end: every one in a sweep, else from a random one on every second,
// or every so many where tests are to be short.
func tries(short int) iter.Seq[int] {
	step := 2
	if testing.Short() {
		step = short
	}
	if sweep() {
		step = 1
	}
	return func(yield func(int) bool) {
		for i := 1 + rand.IntN(step); yield(i); i += step {
		}
	}
}

// reread writes a state as a file has it and reads it, without waiting for a disk.
func reread(t *testing.T, s graph.State) graph.State {
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.Less(t, len(text), 64<<10)
	back, err := graph.ParseState(text)
	require.NoError(t, err)
	require.Equal(t, s, back)
	return back
}

// whole runs every rank of a job; the state is that of one of those that have come to the step stop.
func whole(t *testing.T, build shaped, size, world, stop int, opts ...graph.PipelineOption) (jobs []job, state graph.State, ok bool) {
	for rank := range world {
		all := append([]graph.PipelineOption{graph.Rank(rank, world)}, opts...)
		j := ranked(t, build, size, []int{1, 8, 2}[rank%3], stop, all...)
		if jobs = append(jobs, j); j.state.Version > 0 && (!ok || rank == stop%world) {
			state, ok = reread(t, j.state), true
		}
	}
	return jobs, state, ok
}

// noneTwice says that what comes several times is marked.
func noneTwice(t *testing.T, rows []row) {
	seen := map[item.Pos]bool{}
	for _, r := range rows {
		if r.padding || r.standIn {
			continue
		}
		require.False(t, seen[r.pos], "%v (%s) comes twice", r.pos, r.key)
		seen[r.pos] = true
	}
}

// sampleBy makes what the short form of the sweep draws its tries by: PENSTOCK_SWEEP_SEED, else the time.
func sampleBy(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("PENSTOCK_SWEEP_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("PENSTOCK_SWEEP_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestWorldMayChangeAtAnyStepWherePlacesFollowFromIt(t *testing.T) {
	r := sampleBy(t)
	for _, name := range []string{"plain", "ordered", "few", "merge"} {
		for _, size := range []int{1, 3} {
			for _, steps := range []int{0, 4} {
				if testing.Short() && (size == 1) != (name == "merge") {
					continue
				}
				for _, uneven := range []graph.UnevenBy{graph.Pad, graph.Keep} {
					if uneven == graph.Keep && (name == "merge" || steps > 0) {
						continue
					}
					t.Run(fmt.Sprintf("%s/size=%d/steps=%d/%s", name, size, steps, uneven), func(t *testing.T) {
						opts := []graph.PipelineOption{graph.Uneven(uneven)}
						if uneven == graph.Keep {
							opts = append(opts, graph.Epochs(1)) // else ranks come to an epoch's end at different steps
						}
						if steps > 0 {
							opts = append(opts, graph.StepsPerEpoch(steps))
						}
						one := merged([]job{ranked(t, alike[name], size, 1, 0, opts...)})
						for i, before := range sizes {
							var afters []int
							for k, after := range sizes {
								if !testing.Short() || (i+k)%5 == 0 {
									afters = append(afters, after)
								}
							}
							changed(t, alike[name], size, before, afters, steps, one, opts, r)
						}
					})
				}
			}
		}
	}
}

// changed cuts a job at every step and goes on with each of these numbers of ranks, or with some of them, drawn.
func changed(t *testing.T, build shaped, size, before int, afters []int, steps int, one []row, opts []graph.PipelineOption, r *rand.Rand) {
	for stop := 1; ; stop++ {
		head, state, ok := whole(t, build, size, before, stop, opts...)
		if !ok {
			return
		}
		for _, after := range afters {
			if !sweep() && r.IntN(5) > 0 {
				continue
			}
			tail, _, _ := whole(t, build, size, after, 0, append([]graph.PipelineOption{graph.Resume(state, false)}, opts...)...)
			all := merged(slices.Concat(head, tail))
			what := fmt.Sprintf("%d ranks, then %d after step %d: %+v", before, after, stop, state)
			noneTwice(t, all)
			if steps == 0 {
				require.Equal(t, real(one), real(all), what)
				continue
			}
			for _, j := range tail {
				require.EqualValues(t, rankEpochs*steps-stop, j.steps, what)
			}
			withoutHoles(t, all, what)
		}
	}
}

// withoutHoles checks that the places of each source in each epoch come without a hole.
func withoutHoles(t *testing.T, rows []row, what string) {
	epoch := int64(-1)
	var next map[int]int64 // by source
	for _, r := range rows {
		if r.pos.Epoch != epoch {
			epoch, next = r.pos.Epoch, map[int]int64{}
		}
		require.Equal(t, next[r.pos.Source], r.pos.Place, what)
		next[r.pos.Source]++
	}
}

func TestStepsEndEveryRanksEpochAtTheSameStep(t *testing.T) {
	for name, build := range alike {
		for _, world := range sizes {
			for _, steps := range []int{1, 2, 9} {
				t.Run(fmt.Sprintf("%s/world=%d/steps=%d", name, world, steps), func(t *testing.T) {
					const size = 4
					for _, workers := range some(1, 8, 2) {
						var jobs []job
						var samples, padded, dropped int64
						for rank := range world {
							j := ranked(t, build, size, workers, 0, graph.Rank(rank, world), graph.StepsPerEpoch(steps))
							require.EqualValues(t, steps*rankEpochs, j.steps)
							require.Len(t, j.rows, steps*rankEpochs*size, "no batch is short")
							x := j.snap.Totals
							samples, padded, dropped = samples+x.Samples, padded+x.Padded, dropped+x.Dropped
							jobs = append(jobs, j)
						}
						all := merged(jobs)
						noneTwice(t, all)
						require.EqualValues(t, len(real(all)), samples)
						if name == "skip" {
							continue
						}
						require.EqualValues(t, len(all), samples+padded)
						n := map[string]int64{"plain": 17, "ordered": 5, "few": 2, "merge": 22}[name]
						require.EqualValues(t, rankEpochs*n, samples+dropped, "what was not delivered is counted")
					}
				})
			}
		}
	}
}

func TestStateOfAnotherWorldIsRefusedWherePlacesDoNotFollow(t *testing.T) {
	filtered := cuts["filter"]
	opts := []graph.PipelineOption{graph.StepsPerEpoch(2)}
	middle := ranked(t, filtered, 3, 2, 1, opts...).state
	start := func(s graph.State, more ...graph.PipelineOption) error {
		p := graph.New("ranks", append(append(opts, graph.Seed(4), graph.Epochs(rankEpochs), graph.Resume(s, false)), more...)...)
		out := graph.Output(graph.Via(filtered(p, graph.Workers(1)), "group", rowsOf{3}, graph.Workers(1)), "out")
		run, err := p.Start(t.Context())
		if err != nil {
			return err
		}
		for range out.All(run) {
			break
		}
		return run.Wait()
	}
	require.NoError(t, start(middle))
	err := start(middle, graph.Rank(1, 2))
	require.ErrorIs(t, err, graph.ErrState)
	require.ErrorContains(t, err, "rank 0 of 1 in the middle of an epoch, this is rank 1 of 2")
	require.NoError(t, start(ranked(t, filtered, 3, 2, 2, opts...).state, graph.Rank(1, 2)), "at the end of an epoch")
}
