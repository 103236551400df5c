package graphtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// StageCase is what [Stage] needs to know of a stage.
type StageCase[A, B any] struct {
	Stage graph.Stage[A, B]
	// Input makes the i-th input, new each time and always the same. Memory comes from the call's Buffer.
	Input func(c *graph.Call, i int64) (A, error)
	N     int64 // inputs of an epoch; 0 is 13
	// Schema is that of the inputs. With it the suite checks what the stage says of its output, and what it needs.
	Schema item.Schema
	// Text writes an output out; nil is [Text].
	Text func(B) string
	// Refused are declarations that Check must refuse.
	Refused []graph.Stage[A, B]
	// Bad makes inputs on which the stage must fail with an error that contains Wants, and not panic.
	Bad   func(c *graph.Call) (A, error)
	Wants string
}

// Stage runs the suite on a stage.
func Stage[A, B any](t *testing.T, c StageCase[A, B]) {
	t.Helper()
	if c.N == 0 {
		c.N = 13
	}
	text := c.Text
	if text == nil {
		text = func(v B) string { return Text(v) }
	}
	base := trial[B]{
		epochs: 2, text: text, setting: settings()[0],
		build: func(p *graph.Pipeline, s setting, f *Fault) graph.Port[B] {
			return graph.Via(graph.From(p, "inputs", graph.Source[A](c)), "part", Inject(c.Stage, f), s.options()...)
		},
	}
	count := &Fault{At: -1}
	base.fault = count
	plain := base.run(t)
	require.NoError(t, plain.err)
	base.fault = nil
	t.Run("the output is the same for any setting", func(t *testing.T) {
		for _, s := range settings() {
			k := base
			k.setting = s
			r := k.run(t)
			require.NoError(t, r.err, "%v", s)
			require.Equal(t, plain.texts, r.texts, "%v", s)
		}
	})
	t.Run("it is random only if it says so", func(t *testing.T) { random[B](t, c.Stage, plain) })
	t.Run("faults leave nothing behind", func(t *testing.T) {
		one := int64(len(plain.texts)) == count.Calls() && count.Calls() == 2*c.N
		faults(t, base, count.Calls(), plain.texts, one)
	})
	t.Run("settings out of range are refused", func(t *testing.T) { refused(t, c.Stage, c.Refused) })
	if c.Bad != nil {
		t.Run("bad input is an error", func(t *testing.T) { c.bad(t, base) })
	}
	if len(c.Schema.Fields) > 0 {
		t.Run("the output is what the schema says", func(t *testing.T) { c.schema(t, base) })
	}
}

// Open makes the case the source of its inputs.
func (c StageCase[A, B]) Open(context.Context, *graph.Env) (graph.Reader[A], error) {
	return graph.Reader[A]{Len: c.N, At: c.Input}, nil
}

// random compares the epochs: the inputs are the same in each, so only random numbers can make a difference, and the
// number of the epoch that batches bear.
func random[B any](t *testing.T, part any, r result) {
	t.Helper()
	if k, ok := part.(graph.Randomizer); ok && k.Random() {
		require.NotEqual(t, r.epochs[0], r.epochs[1], "another epoch, other random numbers")
	} else if _, batches := any(*new(B)).(*item.Batch); !batches {
		require.Equal(t, r.epochs[0], r.epochs[1], "it does not say that it is random")
	}
}

// bad runs the stage on an input that it must refuse.
func (c StageCase[A, B]) bad(t *testing.T, base trial[B]) {
	wrong := c
	wrong.N, wrong.Input = 1, func(call *graph.Call, _ int64) (A, error) { return c.Bad(call) }
	for _, s := range []setting{{sync: true, workers: 1, buffer: 1}, {workers: 2, buffer: 1}} {
		k := base
		k.setting = s
		k.build = func(p *graph.Pipeline, s setting, f *Fault) graph.Port[B] {
			return graph.Via(graph.From(p, "inputs", graph.Source[A](wrong)), "part", Inject(c.Stage, f), s.options()...)
		}
		r := k.run(t)
		var se *graph.StageError
		require.ErrorAs(t, r.err, &se)
		require.Equal(t, "part", se.Stage)
		require.Nil(t, se.Stack, "an error, not a panic: %v", r.err)
		require.ErrorContains(t, r.err, c.Wants)
		require.Empty(t, r.texts)
	}
}

// schema compares what the stage says with what comes out, and leaves each field of the input out in turn: then either
// the schema is refused or the stage does without.
func (c StageCase[A, B]) schema(t *testing.T, base trial[B]) {
	s, ok := c.Stage.(graph.Shaper)
	require.True(t, ok, "%T has no Schema", c.Stage)
	out, err := s.Schema(c.Schema)
	require.NoError(t, err)
	k := base
	k.see = func(v B) { Fits(t, out, v) }
	require.NoError(t, k.run(t).err)
	for _, f := range c.Schema.Fields {
		out, err := s.Schema(c.Schema.Without(f.Name))
		if err != nil {
			require.ErrorContains(t, err, f.Name)
			continue
		}
		less := c
		less.Input = func(call *graph.Call, i int64) (A, error) {
			in, err := c.Input(call, i)
			if sample, ok := any(in).(*item.Sample); ok && err == nil {
				sample.Drop(f.Name)
			}
			return in, err
		}
		if _, ok := any(*new(A)).(*item.Sample); !ok {
			return
		}
		k := base
		k.see = func(v B) { Fits(t, out, v) }
		k.build = func(p *graph.Pipeline, s setting, fault *Fault) graph.Port[B] {
			return graph.Via(graph.From(p, "inputs", graph.Source[A](less)), "part", Inject(c.Stage, fault), s.options()...)
		}
		require.NoError(t, k.run(t).err, "the schema says that field %q is not needed", f.Name)
	}
}
