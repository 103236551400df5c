package mixing

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

func options(t *testing.T, set ...string) (*registry.Catalog, spec.Options) {
	t.Helper()
	c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds())...)
	require.NoError(t, err)
	return c, spec.Options{Set: set}
}

func load(t *testing.T, set ...string) *graph.Pipeline {
	t.Helper()
	c, o := options(t, set...)
	s, found := spec.Load("mixing.yaml", nil, c, o)
	require.Empty(t, found)
	return s.Pipeline
}

func run(t *testing.T, p *graph.Pipeline) graph.Snapshot {
	t.Helper()
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	s := r.Snapshot()
	require.Empty(t, s.Totals.Unbalanced)
	require.NotNil(t, s.Digest, "%v", s.Warnings)
	return s
}

// declare is the spec as a Go program.
func declare() *graph.Pipeline {
	p := graph.New("mixing", graph.Seed(7), graph.Epochs(2))
	common := graph.From(p, "common", sources.SyntheticImages{Count: 240, Width: 32, Height: 32, Classes: 8}, graph.Sampler(sources.Shuffled{}))
	rare := graph.From(p, "rare", sources.SyntheticImages{Count: 24, Width: 48, Height: 48, Classes: 2}, graph.Sampler(sources.Shuffled{}))
	both := graph.Mix(p, "blend", []graph.Port[*item.Sample]{common, rare}, graph.Mixing{Weights: []float64{0.75, 0.25}, Stop: graph.StopRepeat})
	pics := graph.Via(both, "decode", stages.DecodeImage{})
	small := graph.Via(pics, "resize", stages.Resize{Size: []int{32, 32}})
	batch := graph.Via(small, "collate", stages.Collate{Size: 16})
	graph.Into(batch, "train", sinks.Accelerator[*item.Batch]{Step: graph.Fixed(2 * time.Millisecond)})
	return p
}

func TestTheGoProgramDeclaresThePipelineOfTheSpec(t *testing.T) {
	assert.Equal(t, load(t).Describe(), declare().Describe())
}

func TestTheSmallSourceComesRoundUntilTheLargeOneIsThrough(t *testing.T) {
	a, b := run(t, load(t, "train.step=1us")), run(t, declare())
	assert.Equal(t, *a.Digest, *b.Digest)
	out := map[string]int64{}
	for _, st := range a.Stages {
		out[st.ID] = st.ItemsOut
	}
	assert.InDelta(t, 2*320, a.Totals.Samples, 4, "240 are three of four")
	assert.Equal(t, a.Totals.Samples, out["blend"])
	first := run(t, load(t, "train.step=1us", "blend.stop=first"))
	assert.InDelta(t, 2*96, first.Totals.Samples, 4, "24 are one of four")
}

// The stream is a function of the spec and its seed alone: of blocks that are permuted, pictures that are cropped at random,
// and batches, in every epoch.
func TestTheStreamDependsOnNeitherWorkersNorBuffersNorProcessors(t *testing.T) {
	const text = `
pipeline: stream
seed: 42
epochs: 3
stages:
  - {id: read,    synthetic_images: {count: 40, width: 32, height: 24}, sampler: shuffled, workers: %[1]d, buffer: %[2]d}
  - {id: mingle,  shuffle: {size: 16}, buffer: %[2]d}
  - {id: decode,  decode_image: {}, workers: %[1]d, buffer: %[2]d}
  - {id: crop,    random_resized_crop: {size: 16}, workers: %[1]d, buffer: %[2]d}
  - {id: collate, collate: {size: 7}, workers: %[1]d, buffer: %[2]d}
  - {id: train,   discard: {}}
`
	c, o := options(t)
	stream := func(workers, buffer int) (digests []string) {
		s, found := spec.Parse("stream.yaml", fmt.Appendf(nil, text, workers, buffer), c, o)
		require.Empty(t, found)
		for _, e := range run(t, s.Pipeline).Epochs {
			digests = append(digests, *e.Digest)
		}
		return digests
	}
	want := stream(1, 1)
	require.Len(t, want, 3)
	require.NotEqual(t, want[0], want[1], "another epoch, another order")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 2} {
		runtime.GOMAXPROCS(processors)
		for _, workers := range []int{1, 2, 7} {
			for _, buffer := range []int{1, 16} {
				for range 3 {
					require.Equal(t, want, stream(workers, buffer), "%d workers, buffer %d, %d processors", workers, buffer, processors)
				}
			}
		}
	}
}
