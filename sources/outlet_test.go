package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// producer has the shape of a source of go-streams: it sends values until it is stopped, and closes its channel.
type producer struct {
	values chan any
	ended  sync.WaitGroup
	ctx    context.Context
	stop   context.CancelFunc
}

func produce(t *testing.T, values ...any) *producer {
	p := &producer{values: make(chan any)}
	p.ctx, p.stop = context.WithCancel(t.Context())
	p.ended.Go(func() {
		defer close(p.values)
		for i := 0; ; i++ {
			v := any(i)
			if len(values) > 0 {
				if i == len(values) {
					return
				}
				v = values[i]
			}
			select {
			case p.values <- v:
			case <-p.ctx.Done():
				return
			}
		}
	})
	return p
}

func (p *producer) Out() <-chan any { return p.values }

func TestOutletReadsAChannelOfValuesAndErrors(t *testing.T) {
	boom := errors.New("boom")
	p := produce(t, "a", boom, "b", 7, "c")
	var got []string
	_, err := take(t, Outlet(p, p.stop), func(c Carried) {
		s, err := As[string](c)
		got = append(got, fmt.Sprint(c.Key(), s, err))
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"#0a<nil>", "#1boom", "#2b<nil>", "#3wanted a string, got a int", "#4c<nil>"}, got)
	p.ended.Wait()
	_, err = As[fmt.Stringer](Carried{Value: 7})
	assert.EqualError(t, err, "wanted a fmt.Stringer, got a int")
}

func TestErrorsOfAnOutletAreSkippedWhereTheyAreUnpacked(t *testing.T) {
	p := graph.New("x")
	in := graph.From(p, "in", Outlet(produce(t, 1, errors.New("no"), 3), nil))
	out := graph.Output(graph.Via(in, "unpack", graph.Map(As[int]), graph.OnError(graph.Skip)), "take")
	assert.Contains(t, p.Describe(), "in: outlet {*sources.producer}")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var got []int
	for v, err := range out.All(run) {
		require.NoError(t, err)
		got = append(got, v)
	}
	require.NoError(t, run.Wait())
	assert.Equal(t, []int{1, 3}, got)
	s := run.Snapshot()
	assert.Equal(t, int64(3), s.Stages[0].ItemsOut, "counted at the source")
	assert.Equal(t, int64(1), s.Totals.Skipped)
}

func TestAProducerIsToldToEndAndDoesNotHang(t *testing.T) {
	for _, how := range []string{"break", "cancel", "fail"} {
		endless := produce(t)
		p := graph.New("x")
		in := graph.From(p, "in", Outlet(endless, endless.stop))
		out := graph.Output(graph.Via(in, "work", graph.Map(func(c Carried) (int, error) {
			if n, err := As[int](c); n != 50 || how != "fail" {
				return n, err
			}
			return 0, errors.New("boom")
		})), "take")
		ctx, cancel := context.WithCancel(t.Context())
		run, err := p.Start(ctx)
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			if n++; n == 20 && how == "break" {
				break
			} else if n == 20 && how == "cancel" {
				cancel()
			}
		}
		err = run.Wait()
		cancel()
		assert.Equal(t, how != "break", err != nil, "%s: %v", how, err)
		endless.ended.Wait()
	}
}

func TestWhatIsDroppedIsTold(t *testing.T) {
	full := make(chan any, 10_000) // far more than is read ahead
	for i := range cap(full) {
		full <- i
	}
	p := graph.New("x")
	out := graph.Output(graph.From(p, "in", Outlet(pipe(full), func() { close(full) }), graph.Buffer(1)), "take")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for range out.All(run) {
		break
	}
	require.NoError(t, run.Wait())
	assert.Regexp(t, `stage "in": [0-9]+ values were dropped that came over the channel after the end`, strings.Join(run.Snapshot().Warnings, "\n"))
}

type pipe chan any

func (o pipe) Out() <-chan any { return o }

func TestOutletSaysWhatCannotBe(t *testing.T) {
	for text, c := range map[string]struct {
		s graph.Source[Carried]
		o graph.PipelineOption
	}{
		"sources.Outlet of nil":       {Outlet(nil, nil), graph.Epochs(1)},
		"the channel of sources.pipe": {Outlet(pipe(nil), nil), graph.Epochs(1)},
		"the pipeline has 2 epochs":   {Outlet(pipe(make(chan any)), nil), graph.Epochs(2)},
		"has epochs without end":      {Outlet(pipe(make(chan any)), nil), graph.Epochs(graph.Forever)},
	} {
		p := graph.New("x", c.o)
		graph.Output(graph.From(p, "in", c.s), "take")
		_, err := p.Start(t.Context())
		assert.ErrorContains(t, err, text)
	}
}

func TestARecordNumberToReadFromIsCounted(t *testing.T) {
	var got []any
	require.NoError(t, receive(t.Context(), produce(t, 1, 2, 3, 4).values, 2, func(c Carried) error {
		got = append(got, c.Value)
		return nil
	}))
	assert.Equal(t, []any{3, 4}, got)
}
