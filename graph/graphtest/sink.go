package graphtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// SinkCase is what [Sink] needs to know of a sink.
type SinkCase[T any] struct {
	// New makes the sink, new each time, and what tells which items it has taken so far; that may be nil.
	New     func() (s graph.Sink[T], taken func() []string)
	Input   func(c *graph.Call, i int64) (T, error) // as in [StageCase]
	N       int64                                   // inputs; 0 is 13
	Want    []string                                // what taken gives after all of them
	Refused []graph.Sink[T]
}

// Open makes the case the source of its inputs.
func (c SinkCase[T]) Open(context.Context, *graph.Env) (graph.Reader[T], error) {
	return graph.Reader[T]{Len: c.N, At: c.Input}, nil
}

// Sink runs the suite on a sink.
func Sink[T any](t *testing.T, c SinkCase[T]) {
	t.Helper()
	if c.N == 0 {
		c.N = 13
	}
	for _, s := range settings() {
		t.Run(s.String(), func(t *testing.T) {
			taken, err := c.run(t, s, &Fault{At: -1})
			require.NoError(t, err)
			if c.Want != nil {
				require.Equal(t, c.Want, taken)
			}
			for at := range c.N {
				for _, how := range []string{"error", "panic", "cancel"} {
					f := &Fault{At: at}
					want := ErrInjected
					switch how {
					case "error":
						f.Do = func() error { return ErrInjected }
					case "panic":
						f.Do = func() error { panic(ErrInjected) }
					case "cancel":
						want = errCancelled
					}
					what := fmt.Sprintf("%s at item %d", how, at)
					taken, err := c.run(t, s, f)
					if how != "cancel" || err != nil || at < c.N-1 {
						require.ErrorIs(t, err, want, what)
					}
					if c.Want != nil && how != "cancel" {
						begins(t, c.Want, taken, what)
					}
				}
			}
		})
	}
	one, _ := c.New()
	refused(t, one, c.Refused)
}

func (c SinkCase[T]) run(t *testing.T, s setting, f *Fault) ([]string, error) {
	t.Helper()
	mem := &Memory{}
	p := graph.New("suite", graph.Seed(seed), graph.Buffers(mem))
	if s.sync {
		p.With(graph.Sync())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if f.At >= 0 && f.Do == nil {
		f.Do = func() error { cancel(errCancelled); return nil }
	}
	k, taken := c.New()
	graph.Into(graph.From(p, "inputs", graph.Source[T](c), s.options()...), "part", InjectSink(k, f))
	run, err := p.Start(ctx)
	require.NoError(t, err)
	err = run.Wait()
	snap := run.Snapshot()
	require.Empty(t, snap.Totals.Unbalanced, "counts balance")
	require.Zero(t, f.Open(), "what was opened is closed, once")
	mem.Empty(t)
	if err == nil {
		require.Equal(t, c.N, f.Calls())
	}
	if taken == nil {
		return nil, err
	}
	return taken(), err
}
