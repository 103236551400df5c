package graph_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/graph"
)

type drawn struct {
	Size  int
	Wait  graph.Time
	List  []float64
	Func  func()
	Empty string
	inner int
}

func (drawn) Open(context.Context, *graph.Env) (graph.Transform[int, int], error) {
	panic("drawing opens nothing")
}
func (drawn) Load() graph.Load { return graph.Wait }
func (drawn) Random() bool     { return true }

func TestAnOutlineTellsWhatWasDeclared(t *testing.T) {
	p := graph.New("numbers", graph.Seed(9), graph.Epochs(graph.Forever), graph.WithBudget(graph.Budget{CPU: 0.5}))
	a := graph.From(p, "a", three{}, graph.Workers(2))
	b := graph.From(p, "b", three{})
	m := graph.Merge(p, "both", []graph.Port[int]{a, b})
	d := graph.Via(m, "slow", drawn{Size: 3, Wait: graph.Fixed(time.Second), List: []float64{1, 2}, Func: func() {}, inner: 1},
		graph.Buffer(5), graph.Order(graph.CompletionOrder))
	f := graph.Via(d, "plain", graph.Map(func(x int) (int, error) { return x, nil }), graph.Waits())
	graph.Output(f, "take")

	o := p.Outline()
	assert.Equal(t, "numbers", o.Pipeline)
	assert.Equal(t, []graph.Setting{{Key: "seed", Value: "9"}, {Key: "epochs", Value: "forever"}, {Key: "budget.cpu", Value: "50%"}}, o.Settings)
	slow, ok := o.Stage("slow")
	assert.True(t, ok)
	assert.Equal(t, []graph.Setting{{Key: "size", Value: "3"}, {Key: "wait", Value: "1s"}, {Key: "list", Value: "[1, 2]"}, {Key: "func", Value: "func"}}, slow.Config)
	assert.Equal(t, []graph.Setting{{Key: "buffer", Value: "5"}, {Key: "order", Value: "completion"}}, slow.Options)
	assert.Equal(t, []string{"both"}, slow.From)
	assert.True(t, slow.Random && slow.Schema.Open && slow.Load == graph.Wait)
	var roles, loads []string
	for _, s := range o.Stages {
		roles, loads = append(roles, s.Role), append(loads, string(s.Load))
	}
	assert.Equal(t, []string{"source", "source", "merge", "stage", "stage", "sink"}, roles)
	assert.Equal(t, []string{"cpu", "cpu", "", "wait", "wait", ""}, loads)
	_, ok = o.Stage("none")
	assert.False(t, ok)
	assert.Equal(t, "bad", graph.New("bad").Outline().Pipeline)
}

type three struct{}

func (three) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	panic("drawing opens nothing")
}
