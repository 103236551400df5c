package sinks_test

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/sinks"
)

// three is a source of three numbers.
type three struct{}

func (three) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: 3, At: func(_ *graph.Call, i int64) (int, error) { return int(i) * 10, nil }}, nil
}

func ExampleEach() {
	p := graph.New("numbers")
	graph.Into(graph.From(p, "read", three{}), "show", sinks.Each(func(_ context.Context, v int) error {
		fmt.Println(v)
		return nil
	}))
	run, err := p.Start(context.Background())
	if err == nil {
		err = run.Wait()
	}
	fmt.Println(err)
	// Output:
	// 0
	// 10
	// 20
	// <nil>
}

// printer has the shape of a sink of go-streams.
type printer struct{ values, done chan any }

func (p printer) In() chan<- any   { return p.values }
func (p printer) AwaitCompletion() { <-p.done }

func ExampleInlet() {
	to := printer{make(chan any), make(chan any)}
	go func() {
		defer close(to.done)
		for v := range to.values {
			fmt.Println(v)
		}
	}()
	p := graph.New("numbers")
	graph.Into(graph.From(p, "read", three{}), "write", sinks.Inlet(to, func(v int) (any, error) { return fmt.Sprint("number ", v), nil }))
	run, err := p.Start(context.Background())
	if err == nil {
		err = run.Wait()
	}
	fmt.Println(err)
	// Output:
	// number 0
	// number 10
	// number 20
	// <nil>
}
