package sinks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sinks"
)

func numbered(c *graph.Call, i int64) (*item.Sample, error) {
	b := c.Buffer(16)
	for j := range b.Data {
		b.Data[j] = byte(i)
	}
	s := item.NewSample(fmt.Sprint(i))
	s.Set("bytes", item.Bytes(b))
	return s, nil
}

func TestSinksConform(t *testing.T) {
	var want []string
	for i := range 13 {
		want = append(want, fmt.Sprint(i))
	}
	for name, c := range map[string]graphtest.SinkCase[*item.Sample]{
		"each": {Want: want, New: func() (graph.Sink[*item.Sample], func() []string) {
			var taken []string
			return sinks.Each(func(_ context.Context, s *item.Sample) error {
				taken = append(taken, s.Key())
				return nil
			}), func() []string { return taken }
		}},
		"discard": {New: func() (graph.Sink[*item.Sample], func() []string) { return sinks.Discard[*item.Sample]{}, nil }},
		"accelerator": {
			New: func() (graph.Sink[*item.Sample], func() []string) {
				return sinks.Accelerator[*item.Sample]{Step: graph.Fixed(10 * time.Microsecond)}, nil
			},
			Refused: []graph.Sink[*item.Sample]{sinks.Accelerator[*item.Sample]{Step: graph.Fixed(-1)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.Input = numbered
			graphtest.Sink(t, c)
		})
	}
}
