package graph_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// row is a delivered row of some rank.
type row struct {
	pos      item.Pos
	key      string
	padding  bool
	standIn  bool
	rank     int
	batch, n int64
}

// shaped builds one of the pipelines that ranks are tried with, up to collate.
type shaped func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample]

var alike = map[string]shaped{
	"plain": cuts["plain"],
	"skip": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.Via(cuts["plain"](p, w), "bad", graph.MapCall(func(c *graph.Call, s *item.Sample) (*item.Sample, error) {
			if place := c.Pos().Place; place%8 == 1 && place < 16 {
				return nil, errBad
			}
			return s, nil
		}), w, graph.OnError(graph.Skip))
	},
	"ordered": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", samples{5, "a"}.source(), w)
	},
	"few": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		return graph.From(p, "read", samples{2, "a"}.source(), w)
	},
	"merge": func(p *graph.Pipeline, w graph.Option) graph.Port[*item.Sample] {
		a := graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3}))
		b := graph.From(p, "b", samples{4, "b"}.source(), w)
		c := graph.From(p, "c", samples{7, "c"}.source(), w, graph.Sampler(rotated{1}))
		return graph.Merge(p, "all", []graph.Port[*item.Sample]{graph.Merge(p, "ab", []graph.Port[*item.Sample]{a, b}), c})
	},
}

// job is what one rank of a job delivered.
type job struct {
	rows  []row
	steps int64 // of all epochs
	snap  graph.Snapshot
	state graph.State
}

const rankEpochs = 3

// ranked runs one rank, to its end or until it has made so many steps; size 0 is no collate.
func ranked(t *testing.T, build shaped, size, workers, stop int, opts ...graph.PipelineOption) job {
	t.Helper()
	p := graph.New("ranks", append([]graph.PipelineOption{graph.Seed(4), graph.Epochs(rankEpochs)}, opts...)...)
	rank, _ := p.World()
	w := graph.Workers(workers)
	port := build(p, w)
	var j job
	var run *graph.Run
	var err error
	note := func() bool {
		if j.steps++; int(j.steps) == stop {
			j.state, err = run.State()
			require.NoError(t, err)
			return false
		}
		return true
	}
	if size == 0 {
		out := graph.Output(graph.Via(port, "pos", graph.MapCall(func(c *graph.Call, s *item.Sample) (row, error) {
			return row{pos: c.Pos(), key: s.Key(), rank: rank}, nil
		})), "out")
		run, err = p.Start(t.Context())
		require.NoError(t, err)
		for r, err := range out.All(run) {
			require.NoError(t, err)
			r.n = j.steps
			j.rows = append(j.rows, r)
			if !note() {
				break
			}
		}
	} else {
		out := graph.Output(graph.Via(port, "group", rowsOf{size}, w), "out")
		run, err = p.Start(t.Context())
		require.NoError(t, err)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			for _, r := range b.Rows {
				j.rows = append(j.rows, row{r.Pos, strings.Clone(r.Key), r.Padding, r.StandIn, rank, b.Number, j.steps})
			}
			if !note() {
				break
			}
		}
	}
	require.NoError(t, run.Wait())
	j.snap = run.Snapshot()
	require.Empty(t, j.snap.Totals.Unbalanced)
	return j
}

// merged sorts the rows of all ranks by position.
func merged(jobs []job) (all []row) {
	for _, j := range jobs {
		all = append(all, j.rows...)
	}
	slices.SortFunc(all, func(a, b row) int { return a.pos.Compare(b.pos) })
	return all
}

// real leaves out what is there for the ranks' sake only.
func real(rows []row) (keys []string) {
	for _, r := range rows {
		if !r.padding && !r.standIn {
			keys = append(keys, fmt.Sprintf("%d:%s", r.pos.Epoch, r.key))
		}
	}
	return keys
}

func TestRanksTogetherDeliverWhatOneProcessWould(t *testing.T) {
	for name, build := range alike {
		for _, size := range []int{1, 4} {
			one := merged([]job{ranked(t, build, size, 2, 0)})
			want := real(one)
			for _, world := range []int{2, 3, 7} {
				if name == "skip" && size == 1 {
					continue // a batch without a good row is an error there
				}
				for _, uneven := range []graph.UnevenBy{graph.Pad, graph.Drop, graph.Keep} {
					t.Run(fmt.Sprintf("%s/size=%d/world=%d/%s", name, size, world, uneven), func(t *testing.T) {
						for _, workers := range []int{1, 2, 8} {
							sameAsOne(t, build, size, workers, world, uneven, one, want)
						}
					})
				}
			}
		}
	}
}

func sameAsOne(t *testing.T, build shaped, size, workers, world int, uneven graph.UnevenBy, one []row, want []string) {
	var jobs []job
	var padded, dropped, samples int64
	for rank := range world {
		j := ranked(t, build, size, workers, 0, graph.Rank(rank, world), graph.Uneven(uneven))
		require.Equal(t, rank, j.snap.Rank)
		require.Equal(t, world, j.snap.World)
		padded, dropped, samples = padded+j.snap.Totals.Padded, dropped+j.snap.Totals.Dropped, samples+j.snap.Totals.Samples
		jobs = append(jobs, j)
	}
	all := merged(jobs)
	seen := map[item.Pos]bool{}
	for _, r := range all {
		require.False(t, seen[r.pos], "%v comes twice", r.pos)
		seen[r.pos] = true
	}
	got := real(all)
	most := slices.MaxFunc(jobs, func(a, b job) int { return cmp.Compare(a.steps, b.steps) }).steps
	least := slices.MinFunc(jobs, func(a, b job) int { return cmp.Compare(a.steps, b.steps) }).steps
	require.EqualValues(t, len(got), samples)
	switch uneven {
	case graph.Pad:
		require.Equal(t, most, least)
		require.Equal(t, want, got)
		require.Zero(t, len(all)%world)
		var marked int64
		for _, r := range all {
			if r.padding && !r.standIn {
				marked++
			}
		}
		require.Equal(t, marked, padded)
		require.Zero(t, dropped)
	case graph.Drop:
		require.Equal(t, most, least)
		require.EqualValues(t, len(one), int64(len(all))+dropped)
		require.Zero(t, padded)
		require.Less(t, dropped, int64(3*world*rankEpochs))
		require.Subset(t, want, got)
	case graph.Keep:
		require.LessOrEqual(t, most-least, int64(3*rankEpochs), "one for each source and epoch")
		require.Equal(t, want, got)
		require.Zero(t, padded+dropped)
	}
}
