package graph_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// splits is an iterable of splits with these numbers of records; record i of split s is 1000*s + i.
type splits struct {
	records    []int
	interleave int
	badSplit   int // fails after its third record; -1: none
}

func (s splits) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Splits: len(s.records), Interleave: s.interleave, Read: func(_ *graph.Call, split int, from int64, emit func(int) error) error {
		for i := int(from); i < s.records[split]; i++ {
			if split == s.badSplit && i == 3 {
				return errBad
			}
			if err := emit(1000*split + i); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// inTurn is the order by definition: width splits give one record each in turn, the next split takes the turn of one
// that has ended.
func (s splits) inTurn() (want []int) {
	width := min(s.interleave, len(s.records))
	type lane struct{ split, at int }
	lanes := make([]lane, width)
	for i := range lanes {
		lanes[i] = lane{i, 0}
	}
	next := width
	for len(lanes) > 0 {
		kept := lanes[:0]
		for _, l := range lanes {
			for l.at == s.records[l.split] && next < len(s.records) {
				l, next = lane{next, 0}, next+1
			}
			if l.at < s.records[l.split] {
				want = append(want, 1000*l.split+l.at)
				l.at++
				kept = append(kept, l)
			}
		}
		lanes = kept
	}
	return want
}

func TestIterableGivesOneRecordOfEachOpenSplitInTurn(t *testing.T) {
	for _, s := range []splits{
		{[]int{5}, 8, -1}, {[]int{3, 0, 4}, 2, -1}, {[]int{10, 1, 1, 1, 30, 0, 7, 2, 9, 400}, 3, -1}, {[]int{0, 0, 1}, 1, -1},
	} {
		for _, workers := range []int{1, 2, 8} {
			for _, sync := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/workers=%d/sync=%v", s.records, workers, sync), func(t *testing.T) {
					p := graph.New("it", graph.Epochs(3))
					if sync {
						p.With(graph.Sync())
					}
					out := graph.Output(graph.Via(graph.From(p, "src", s, graph.Workers(workers)), "inc", graph.Map(func(v int) (int, error) { return v, nil })), "out")
					run, err := p.Start(t.Context())
					require.NoError(t, err)
					for e := range out.Epochs(run) {
						var got []int
						for v, err := range e.All() {
							require.NoError(t, err)
							got = append(got, v)
						}
						require.Equal(t, s.inTurn(), got, "epoch %d", e.Number)
					}
					require.NoError(t, run.Wait())
					require.Empty(t, run.Snapshot().Totals.Unbalanced)
				})
			}
		}
	}
}

func TestIterableThatFailsEndsAtTheRecord(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s := splits{[]int{10, 10, 10}, 2, 1}
		p := graph.New("it")
		out := graph.Output(graph.From(p, "src", s, graph.Workers(workers)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		var got []int
		for v, err := range out.All(run) {
			if err == nil {
				got = append(got, v)
			}
		}
		var se *graph.StageError
		require.True(t, errors.As(run.Wait(), &se))
		require.ErrorIs(t, se, errBad)
		require.Equal(t, "epoch 0, split 1, record 3", se.Key)
		require.Equal(t, []int{0, 1000, 1, 1001, 2, 1002, 3}, got)
	}
}

func TestIterableThatIsBrokenOffLeavesNothingBehind(t *testing.T) {
	p := graph.New("it", graph.Epochs(graph.Forever))
	out := graph.Output(graph.From(p, "src", splits{[]int{1000, 1000, 1000}, 2, -1}), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	n := 0
	for range out.All(run) {
		if n++; n == 5000 {
			break
		}
	}
	require.NoError(t, run.Wait())
}
