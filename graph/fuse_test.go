package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// adder adds n and a random number below 10; it can be joined with another adder.
type adder struct {
	N   []int
	bad int // fails for this input; 0: never
}

func (a adder) Fuse(next any) (any, bool) {
	b, ok := next.(adder)
	return adder{append(append([]int(nil), a.N...), b.N...), a.bad + b.bad}, ok
}

func (a adder) Phases() []string { return []string{"add"} }

func (a adder) Open(context.Context, *graph.Env) (graph.Transform[int, int], error) {
	return graph.Transform[int, int]{Map: func(c *graph.Call, v int) (int, error) {
		if a.bad != 0 && v == a.bad && len(a.N) == 1 {
			return 0, errBad
		}
		in := v
		for i, n := range a.N {
			if a.bad != 0 && in == a.bad && i == 1 {
				return 0, graph.InMember(i, errBad)
			}
			v += n + c.Of(i).Rand().IntN(10)
		}
		c.Lap(0)
		return v, nil
	}}, nil
}

func fusing(t *testing.T, second adder, third []graph.Option, opts ...graph.PipelineOption) ([]int, graph.Snapshot, error) {
	p := graph.New("fused", append([]graph.PipelineOption{graph.Epochs(2)}, opts...)...)
	src := graph.From(p, "src", ints(50), graph.Workers(3))
	a := graph.Via[int, int](src, "first", adder{N: []int{1}})
	b := graph.Via[int, int](a, "second", second)
	c := graph.Via[int, int](b, "third", adder{N: []int{100}}, third...)
	out := graph.Output(c, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var got []int
	for v, err := range out.All(run) {
		if err == nil {
			got = append(got, v)
		}
	}
	err = run.Wait()
	s := run.Snapshot()
	require.Empty(t, s.Totals.Unbalanced)
	return got, s, err
}

func TestFusedStagesGiveWhatTheyGiveApart(t *testing.T) {
	apart, _, err := fusing(t, adder{N: []int{10}}, nil, graph.NoFuse())
	require.NoError(t, err)
	got, s, err := fusing(t, adder{N: []int{10}}, nil)
	require.NoError(t, err)
	require.Equal(t, apart, got)
	byID := map[string]graph.StageStats{}
	for _, st := range s.Stages {
		byID[st.ID] = st
	}
	for _, id := range []string{"first", "second", "third"} {
		require.Equal(t, int64(100), byID[id].ItemsIn, id)
		require.Equal(t, int64(100), byID[id].ItemsOut, id)
		require.Equal(t, int64(50), s.Epochs[1].ItemsIn[id], id)
	}
	require.Empty(t, byID["first"].FusedInto)
	require.Equal(t, "first", byID["third"].FusedInto)
	require.Zero(t, byID["third"].Lifetime)
	require.Equal(t, "add", byID["first"].Phases[0].Name)
}

func TestStageThatPinsAnOptionIsNotAbsorbed(t *testing.T) {
	for _, o := range []graph.Option{graph.Workers(1), graph.Buffer(4), graph.Window(9), graph.Order(graph.InputOrder)} {
		_, s, err := fusing(t, adder{N: []int{10}}, []graph.Option{o})
		require.NoError(t, err)
		for _, st := range s.Stages {
			if st.ID == "third" {
				require.Empty(t, st.FusedInto)
				require.NotZero(t, st.Lifetime)
			}
		}
	}
}

func TestFailureInAFusedStageBelongsToTheMember(t *testing.T) {
	// One epoch: the same item of the next may fail too before the run has ended.
	_, s, err := fusing(t, adder{N: []int{10}, bad: 7}, nil, graph.Epochs(1))
	var se *graph.StageError
	require.ErrorAs(t, err, &se)
	require.Equal(t, "second", se.Stage)
	require.Equal(t, "#7", se.Key)
	for _, st := range s.Stages {
		require.Equal(t, map[bool]int64{true: 1, false: 0}[st.ID == "second"], st.Failed, st.ID)
	}
}

func TestMemberOfAFusedStageSkipsByItsOwnPolicy(t *testing.T) {
	for _, skips := range []string{"second", "first"} {
		p := graph.New("fused")
		src := graph.From(p, "src", ints(50), graph.Workers(3))
		of := func(id string) graph.Option {
			if id == skips {
				return graph.OnError(graph.Skip)
			}
			return graph.OnError(graph.Fail)
		}
		a := graph.Via[int, int](src, "first", adder{N: []int{1}}, of("first"))
		out := graph.Output(graph.Via[int, int](a, "second", adder{N: []int{10}, bad: 7}, of("second")), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for _, err := range out.All(run) {
			if err == nil {
				n++
			}
		}
		err = run.Wait()
		s := run.Snapshot()
		require.Equal(t, "first", s.Stages[2].FusedInto)
		require.Empty(t, s.Totals.Unbalanced)
		if skips == "second" {
			require.NoError(t, err)
			require.Equal(t, 49, n)
			require.Equal(t, int64(1), s.Stages[2].Skipped)
			require.Equal(t, "second", run.Skips()[0].Stage)
			continue
		}
		require.ErrorIs(t, err, errBad)
		require.Equal(t, 7, n)
	}
}
