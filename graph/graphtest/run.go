package graphtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// seed is that of all the suites' pipelines.
const seed = 7

// setting is one way to run a part.
type setting struct {
	sync            bool
	workers, buffer int
}

func (s setting) String() string {
	if s.sync {
		return "sync"
	}
	return fmt.Sprintf("workers=%d/buffer=%d", s.workers, s.buffer)
}

func (s setting) options(more ...graph.Option) []graph.Option {
	return append([]graph.Option{graph.Workers(s.workers), graph.Buffer(s.buffer)}, more...)
}

// settings are those which must not change the output.
func settings() []setting {
	all := []setting{{sync: true, workers: 1, buffer: 1}}
	for _, w := range []int{1, 2, 8} {
		for _, b := range []int{1, 16} {
			all = append(all, setting{workers: w, buffer: b})
		}
	}
	return all
}

// trial is one run of a pipeline that is built around a part.
type trial[T any] struct {
	setting setting
	fault   *Fault
	epochs  int
	stop    int // the consumer breaks off after so many items; 0 is never
	text    func(T) string
	see     func(T)
	build   func(p *graph.Pipeline, s setting, f *Fault) graph.Port[T]
}

// result is what a trial delivered.
type result struct {
	texts  []string
	epochs [][]string
	err    error
	snap   graph.Snapshot
}

var errCancelled = errors.New("cancelled")

// run runs a trial and checks what must hold however it ends.
func (c trial[T]) run(t *testing.T) (r result) {
	t.Helper()
	mem := &Memory{}
	p := graph.New("suite", graph.Seed(seed), graph.Epochs(max(1, c.epochs)), graph.Buffers(mem))
	if c.setting.sync {
		p.With(graph.Sync())
	}
	if c.fault == nil {
		c.fault = &Fault{At: -1}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if f := c.fault; f.At >= 0 && f.Do == nil {
		f.Do = func() error { cancel(errCancelled); return nil }
	}
	out := graph.Output(c.build(p, c.setting, c.fault), "out")
	run, err := p.Start(ctx)
	require.NoError(t, err)
	seen := map[string]bool{}
loop:
	for e := range out.Epochs(run) {
		var texts []string
		for v, err := range e.All() {
			if err != nil {
				break
			}
			text := c.text(v)
			if c.see != nil && !seen[text] {
				c.see(v)
				seen[text] = true
			}
			texts = append(texts, text)
			r.texts = append(r.texts, text)
			if len(r.texts) == c.stop {
				break loop
			}
		}
		r.epochs = append(r.epochs, texts)
	}
	r.err = run.Wait()
	r.snap = run.Snapshot()
	require.Empty(t, r.snap.Totals.Unbalanced, "counts balance")
	require.Zero(t, c.fault.Open(), "what was opened is closed, once")
	mem.Empty(t)
	return r
}

// faults runs a trial with an error, a panic and a cancellation at calls of the part, and with a consumer that breaks
// off. want is the whole output. one says that each call makes one item of the output, in order.
func faults[T any](t *testing.T, c trial[T], calls int64, want []string, one bool) {
	t.Helper()
	for _, s := range []setting{{sync: true, workers: 1, buffer: 1}, {workers: 1, buffer: 1}, {workers: 3, buffer: 2}} {
		c.setting = s
		for at := range min(calls, 8) {
			if at > 3 {
				at = calls - 1 - (at - 4) // the last ones
			}
			for _, how := range []string{"error", "panic", "cancel"} {
				c.fault = &Fault{At: at}
				switch how {
				case "error":
					c.fault.Do = func() error { return ErrInjected }
				case "panic":
					c.fault.Do = func() error { panic(ErrInjected) }
				}
				what := fmt.Sprintf("%s at call %d, %v", how, at, s)
				r := c.run(t)
				begins(t, want, r.texts, what)
				if !c.fault.Hit() {
					continue
				}
				if how == "cancel" {
					if r.err != nil || len(r.texts) < len(want) {
						require.ErrorIs(t, r.err, errCancelled, what)
					}
					continue
				}
				var se *graph.StageError
				require.ErrorAs(t, r.err, &se, what)
				require.ErrorIs(t, r.err, ErrInjected, what)
				require.Equal(t, "part", se.Stage, what)
				require.NotEmpty(t, se.Key, what)
				require.Equal(t, how == "panic", se.Stack != nil, what)
				if one && s.workers == 1 {
					require.Len(t, r.texts, int(at), what)
				}
			}
		}
		c.fault = nil
		for _, n := range []int{1, 2, len(want)/2 + 1, len(want)} {
			if n > len(want) || n == 0 {
				continue
			}
			c.stop = n
			r := c.run(t)
			require.NoError(t, r.err, "break off after %d, %v", n, s)
			require.Equal(t, want[:n], r.texts, "break off after %d, %v", n, s)
		}
		c.stop = 0
	}
}

func begins(t *testing.T, want, got []string, what string) {
	t.Helper()
	require.LessOrEqual(t, len(got), len(want), what)
	for i := range got {
		require.Equal(t, want[i], got[i], "%s: item %d", what, i)
	}
}

// refused demands that Check refuses each declaration, and accepts good.
func refused[S any](t *testing.T, good S, bad []S) {
	t.Helper()
	check := func(s S) error {
		c, ok := any(s).(graph.Checker)
		require.True(t, ok, "%T has no Check", s)
		return c.Check()
	}
	if _, ok := any(good).(graph.Checker); ok {
		require.NoError(t, check(good))
	}
	for _, s := range bad {
		require.Error(t, check(s), "%+v is out of range", s)
	}
}
