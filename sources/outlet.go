package sources

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/penstock-go/penstock/graph"
)

// Carried is a value that came over a channel, or the error that came in its place.
type Carried struct {
	Value  any
	Err    error
	number int64
}

// Key is that of the value if it has one, else its number.
func (c Carried) Key() string {
	if k, ok := c.Value.(graph.Keyer); ok {
		return k.Key()
	}
	return indexKey(c.number)
}

// Release releases the value if it can be.
func (c Carried) Release() {
	if r, ok := c.Value.(graph.Releaser); ok {
		r.Release()
	}
}

// As takes what was carried out: the value as a T, or the error, with which the stage that calls it fails. It is made for
// graph.Map:
//
//	docs := graph.Via(in, "unpack", graph.Map(sources.As[Doc]), graph.OnError(graph.Skip))
func As[T any](c Carried) (T, error) {
	var none T
	if c.Err != nil {
		return none, c.Err
	}
	v, ok := c.Value.(T)
	if !ok {
		return none, fmt.Errorf("wanted a %v, got a %T", reflect.TypeFor[T](), c.Value)
	}
	return v, nil
}

// Outlet is a source of what comes over a channel: of anything that has the shape of a source or a flow of go-streams
// (github.com/reugn/go-streams), without that module. A value that is an error is carried as one, see [As].
//
// A channel is gone through once, so the pipeline must have one epoch; its order is that of the channel, and there is one
// reader. stop, which may be nil, tells the producer to end. It is called once, when the last item has been read or the
// run is cancelled. What the producer sends after that is read and dropped until it closes the channel, so that it does
// not hang; the report's warnings say how many. A run therefore ends when its producer does.
//
// Between two values a stop of the run is not noticed, a cancelled context is. What values hold in memory is not known.
func Outlet(from interface{ Out() <-chan any }, stop func()) graph.Source[Carried] {
	return outlet{from, stop}
}

type outlet struct {
	from interface{ Out() <-chan any }
	stop func()
}

// String keeps addresses out of the pipeline's description.
func (o outlet) String() string { return fmt.Sprintf("{%T}", o.from) }

// Kind is the name in reports.
func (outlet) Kind() string { return "outlet" }

// Load is waiting for the producer.
func (outlet) Load() graph.Load { return graph.Wait }

// Open makes the reader.
func (o outlet) Open(_ context.Context, env *graph.Env) (graph.Reader[Carried], error) {
	var none graph.Reader[Carried]
	switch {
	case o.from == nil:
		return none, errors.New("sources.Outlet of nil")
	case env.Epochs != 1:
		return none, fmt.Errorf("a channel can be gone through once; the pipeline has %s", epochsText(env.Epochs))
	}
	values := o.from.Out()
	if values == nil {
		return none, fmt.Errorf("the channel of %T is nil", o.from)
	}
	return graph.Reader[Carried]{
		Splits: 1,
		Read: func(c *graph.Call, _ int, from int64, emit func(Carried) error) error {
			return receive(c.Context(), values, from, emit)
		},
		Close: func() error {
			if o.stop != nil {
				o.stop()
			}
			dropped := 0
			for v := range values {
				dropped++
				Carried{Value: v}.Release()
			}
			if dropped > 0 {
				env.Warn(fmt.Sprintf("%d values were dropped that came over the channel after the end", dropped))
			}
			return nil
		},
	}, nil
}

func epochsText(n int) string {
	if n == graph.Forever {
		return "epochs without end"
	}
	return fmt.Sprintf("%d epochs", n)
}

// receive hands values on from record number from on; those before it were delivered in an earlier run.
func receive(ctx context.Context, values <-chan any, from int64, emit func(Carried) error) error {
	for n := int64(0); ; n++ {
		select {
		case v, open := <-values:
			if !open {
				return nil
			}
			c := Carried{Value: v, number: n}
			if err, ok := v.(error); ok {
				c = Carried{Err: err, number: n}
			}
			if n < from {
				c.Release()
				continue
			}
			if err := emit(c); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
