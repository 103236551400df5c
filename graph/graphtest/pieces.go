package graphtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Text writes an item out so that equal texts mean equal items: samples and batches with their keys, fields and a hash
// of the bytes, everything else by %v.
func Text(v any) string {
	switch x := v.(type) {
	case *item.Sample:
		var b strings.Builder
		fmt.Fprintf(&b, "%q", x.Key())
		for i := range x.Len() {
			name, f := x.Field(i)
			fmt.Fprintf(&b, " %s=%s", name, f.Describe())
		}
		fmt.Fprintf(&b, " %016x", x.Hash())
		return b.String()
	case *item.Batch:
		var b strings.Builder
		fmt.Fprintf(&b, "epoch %d batch %d %s", x.Epoch, x.Number, x.Describe())
		for i := range x.Rows {
			r := &x.Rows[i]
			fmt.Fprintf(&b, " %q@%v/%v/%v", r.Key, r.Pos, r.StandIn, r.Padding)
		}
		for i := range x.Columns {
			c := &x.Columns[i]
			fmt.Fprintf(&b, " %s=%016x %q %q", c.Name, xxhash.Sum64(c.Data), c.Texts, c.Blobs)
		}
		return b.String()
	}
	return fmt.Sprintf("%v", v)
}

// Recorder is a sink that keeps the text of everything it takes. It may be read while the run goes on.
type Recorder[T any] struct {
	// Text writes an item out; nil is [Text].
	Text func(T) string

	mu    sync.Mutex
	texts []string
}

// Kind is the name in reports.
func (r *Recorder[T]) Kind() string { return "recorder" }

// Open makes the consumer.
func (r *Recorder[T]) Open(context.Context, *graph.Env) (graph.Consumer[T], error) {
	return graph.Consumer[T]{Take: func(_ *graph.Call, v T) error { r.Add(v); return nil }}, nil
}

// Add keeps the text of an item.
func (r *Recorder[T]) Add(v T) {
	text := ""
	if r.Text != nil {
		text = r.Text(v)
	} else {
		text = Text(v)
	}
	r.mu.Lock()
	r.texts = append(r.texts, text)
	r.mu.Unlock()
}

// Texts is what was taken so far, in order.
func (r *Recorder[T]) Texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.texts...)
}

// Gauge tells how many are inside at once, and the most there were.
type Gauge struct{ now, most atomic.Int64 }

// Enter adds one and gives what ends it.
func (g *Gauge) Enter() (leave func()) {
	n := g.now.Add(1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
	return func() { g.now.Add(-1) }
}

// Now is how many are inside.
func (g *Gauge) Now() int64 { return g.now.Load() }

// Most is the most that were inside at once.
func (g *Gauge) Most() int64 { return g.most.Load() }

// Golden compares got with a file below testdata. With PENSTOCK_UPDATE=1 in the environment it writes the file.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("PENSTOCK_UPDATE") == "1" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with PENSTOCK_UPDATE=1 to write it")
	require.Equal(t, string(want), got, "run the test with PENSTOCK_UPDATE=1 if the change is meant")
}
