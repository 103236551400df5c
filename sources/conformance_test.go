package sources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
)

type sampleSource = graph.Source[*item.Sample]

var shuffled = []graph.Option{graph.Sampler(sources.Shuffled{})}

func sampled(s graph.Sampling) []graph.Option { return []graph.Option{graph.Sampler(s)} }

func TestSourcesConform(t *testing.T) {
	root := t.TempDir()
	for i := range 11 {
		dir := filepath.Join(root, fmt.Sprintf("class-%d", i%3))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.jpg", i)), []byte(fmt.Sprint("not a picture ", i)), 0o644))
	}
	for name, c := range map[string]graphtest.SourceCase[*item.Sample]{
		"range":           {Source: sources.Range{Count: 9}, N: 9, Same: true, Refused: []sampleSource{sources.Range{Count: -1}}},
		"range, shuffled": {Source: sources.Range{Count: 9}, N: 9, Options: shuffled},
		"slow": {Source: sources.Slow{Count: 9, Delay: graph.Fixed(10 * time.Microsecond), FeatureDim: 3}, N: 9,
			Refused: []sampleSource{sources.Slow{Count: -1}, sources.Slow{Delay: graph.Fixed(-1)}, sources.Slow{FeatureDim: -1}}},
		"synthetic_images": {Source: sources.SyntheticImages{Count: 5, Width: 16, Height: 9}, N: 5, Same: true,
			Refused: []sampleSource{sources.SyntheticImages{Width: -1}, sources.SyntheticImages{Height: 9000}, sources.SyntheticImages{Classes: -1}}},
		"folder":         {Source: sources.Folder{Root: root}, N: 11, Same: true, Refused: []sampleSource{sources.Folder{}}},
		"range, windows": {Source: struct{ sampleSource }{sources.Range{Count: 9}}, N: 4, Same: true, Options: sampled(sources.Windows{Length: 3, Stride: 2})},
		"synthetic_images, class_balanced": {Source: sources.SyntheticImages{Count: 5, Width: 16, Height: 9, Classes: 2}, N: 8,
			Options: sampled(sources.ClassBalanced{Batch: 4, Count: 8})},
		"concat": {Source: sources.Concat[*item.Sample](sources.Range{Count: 3}, sources.Range{Count: 4}), N: 7, Same: true,
			Refused: []sampleSource{sources.Concat[*item.Sample](), sources.Concat[*item.Sample](nil)}},
		"concat, shuffled": {Source: sources.Concat[*item.Sample](sources.SyntheticImages{Count: 3, Width: 16, Height: 9}, sources.SyntheticImages{Count: 2, Width: 16, Height: 9}),
			N: 5, Options: shuffled},
		"zip": {Source: sources.Zip(sources.Range{Count: 7}, sources.SyntheticImages{Count: 7, Width: 16, Height: 9}), N: 7, Same: true,
			Refused: []sampleSource{sources.Zip(sources.Range{})}},
		"folder, shuffled": {Source: sources.Folder{Root: root}, N: 11, Options: shuffled},
	} {
		t.Run(name, func(t *testing.T) { graphtest.Source(t, c) })
	}
}

// words is iterable data: split i has i records.
type words int

func (w words) Splits() int { return int(w) }

func (w words) Read(_ context.Context, split int, from int64, emit func(string) error) error {
	for i := from; i < int64(split); i++ {
		if err := emit(fmt.Sprintf("%d.%d", split, i)); err != nil {
			return err
		}
	}
	return nil
}

func TestDataOfOnesOwnConform(t *testing.T) {
	graphtest.Source(t, graphtest.SourceCase[string]{Source: sources.Map(sources.Slice[string]{"a", "b", "c", "d"}), N: 4, Same: true})
	graphtest.Source(t, graphtest.SourceCase[string]{Source: sources.Iter(words(6)), N: 15, Same: true})
	graphtest.Source(t, graphtest.SourceCase[string]{Source: sources.Iter(words(12)), N: 66, Options: shuffled})
}
