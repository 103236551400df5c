package sinks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sinks"
)

// receiver has the shape of a sink of go-streams: it takes values until its channel is closed.
type receiver struct {
	values chan any
	done   chan struct{}
	got    []string
}

func receive() *receiver {
	r := &receiver{values: make(chan any), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for v := range r.values {
			r.got = append(r.got, fmt.Sprint(v))
		}
	}()
	return r
}

func (r *receiver) In() chan<- any   { return r.values }
func (r *receiver) AwaitCompletion() { <-r.done }

func key(s *item.Sample) (any, error) { return s.Key(), nil }

func TestInletConforms(t *testing.T) {
	var want []string
	for i := range 13 {
		want = append(want, fmt.Sprint(i))
	}
	graphtest.Sink(t, graphtest.SinkCase[*item.Sample]{
		Input: numbered, Want: want,
		New: func() (graph.Sink[*item.Sample], func() []string) {
			r := receive()
			return sinks.Inlet(r, key), func() []string { <-r.done; return r.got }
		},
		Refused: []graph.Sink[*item.Sample]{sinks.Inlet[*item.Sample](nil, key)},
	})
}

func TestInletSendsPlainValuesAsTheyAre(t *testing.T) {
	p := graph.New("x")
	r := receive()
	graph.Into(graph.From(p, "read", three{}), "write", sinks.Inlet[int](r, nil))
	assert.Contains(t, p.Describe(), "write: inlet {*sinks_test.receiver}")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	require.NoError(t, run.Wait())
	assert.Equal(t, []string{"0", "10", "20"}, r.got)
	assert.Equal(t, int64(3), run.Snapshot().Stages[1].ItemsIn)
}

func TestInletRefusesToSendWhatIsTakenBack(t *testing.T) {
	err := sinks.Inlet[*item.Sample](receive(), nil).(graph.Checker).Check()
	assert.ErrorContains(t, err, "give a function that copies them")
	_, err = sinks.Inlet[int](&receiver{}, nil).Open(t.Context(), &graph.Env{})
	assert.ErrorContains(t, err, "is nil")
}

func TestTheReceiverEndsHoweverTheRunDoes(t *testing.T) {
	boom := errors.New("boom")
	p := graph.New("x")
	r := receive()
	graph.Into(graph.From(p, "read", three{}), "write", sinks.Inlet(r, func(v int) (any, error) {
		if v == 10 {
			return nil, boom
		}
		return v, nil
	}))
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	assert.ErrorIs(t, run.Wait(), boom)
	assert.Equal(t, []string{"0"}, r.got)

	stuck := &receiver{values: make(chan any), done: make(chan struct{})}
	close(stuck.done)
	p = graph.New("x")
	graph.Into(graph.From(p, "read", three{}), "write", sinks.Inlet[int](stuck, nil))
	ctx, cancel := context.WithCancelCause(t.Context())
	run, err = p.Start(ctx)
	require.NoError(t, err)
	cancel(boom)
	assert.ErrorIs(t, run.Wait(), boom, "a sink that waits for its receiver ends with the run")
}
