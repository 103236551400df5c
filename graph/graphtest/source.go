package graphtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// SourceCase is what [Source] needs to know of a source.
type SourceCase[T any] struct {
	Source  graph.Source[T]
	Options []graph.Option // a sampler
	N       int            // items of an epoch; 0 is not checked
	Text    func(T) string // writes an item out; nil is [Text]
	// Same says that every epoch gives the same items in the same order.
	Same    bool
	Refused []graph.Source[T]
}

// Source runs the suite on a source. It reads two epochs a hundred times: give it a small one.
func Source[T any](t *testing.T, c SourceCase[T]) {
	t.Helper()
	text := c.Text
	if text == nil {
		text = func(v T) string { return Text(v) }
	}
	base := trial[T]{
		epochs: 2, text: text, setting: settings()[0],
		build: func(p *graph.Pipeline, s setting, f *Fault) graph.Port[T] {
			return graph.From(p, "part", InjectSource(c.Source, f), s.options(c.Options...)...)
		},
	}
	count := &Fault{At: -1}
	base.fault = count
	plain := base.run(t)
	require.NoError(t, plain.err)
	require.NotEmpty(t, plain.texts)
	base.fault = nil
	if c.N > 0 {
		require.Len(t, plain.epochs[0], c.N)
		require.Len(t, plain.epochs[1], c.N)
	}
	if c.Same {
		require.Equal(t, plain.epochs[0], plain.epochs[1])
	}
	t.Run("the output is the same for any setting", func(t *testing.T) {
		for _, s := range settings() {
			k := base
			k.setting = s
			r := k.run(t)
			require.NoError(t, r.err, "%v", s)
			require.Equal(t, plain.texts, r.texts, "%v", s)
		}
	})
	t.Run("faults leave nothing behind", func(t *testing.T) {
		faults(t, base, count.Calls(), plain.texts, !count.forward.Load() && int64(len(plain.texts)) == count.Calls())
	})
	t.Run("settings out of range are refused", func(t *testing.T) { refused(t, c.Source, c.Refused) })
	if s, ok := c.Source.(graph.Shaper); ok {
		t.Run("the output is what the schema says", func(t *testing.T) {
			out, err := s.Schema(item.Schema{})
			require.NoError(t, err)
			k := base
			k.see = func(v T) { Fits(t, out, v) }
			require.NoError(t, k.run(t).err)
		})
	}
}
