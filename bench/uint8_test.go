package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// images gives the column image of all batches of a picture pipeline, and the shape of its first batch.
func images(t *testing.T, normalize bool, opts ...graph.PipelineOption) (data []byte, first item.Column) {
	t.Helper()
	p := graph.New("pictures", append(opts, graph.Seed(5))...)
	at := graph.From[sample](p, "read", sources.SyntheticImages{Count: 20, Width: 90, Height: 70}, graph.Sampler(sources.Shuffled{}))
	at = graph.Via[sample, sample](at, "decode", stages.DecodeImage{})
	at = graph.Via[sample, sample](at, "crop", stages.RandomResizedCrop{Size: 32})
	at = graph.Via[sample, sample](at, "flip", stages.RandomFlip{})
	if normalize {
		at = graph.Via[sample, sample](at, "normalize", stages.Normalize{})
	}
	out := graph.Output(graph.Via[sample, batch](at, "collate", stages.Collate{Size: 8}), "train")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		c := b.Column("image")
		if data == nil {
			first = *c
			first.Data = nil
		}
		data = append(data, c.Data...)
	}
	require.NoError(t, run.Wait())
	return data, first
}

// Without normalize a batch holds bytes, a quarter of the memory, and whoever normalizes them later has the same numbers.
func TestPicturesStayBytesWithoutNormalize(t *testing.T) {
	for name, o := range map[string][]graph.PipelineOption{"fused": nil, "apart": {graph.NoFuse()}} {
		t.Run(name, func(t *testing.T) {
			bytes, b := images(t, false, o...)
			floats, f := images(t, true, o...)
			require.Equal(t, item.Uint8, b.DType)
			require.Equal(t, []int{8, 32, 32, 3}, b.Shape.Dims())
			require.Equal(t, item.Float32, f.DType)
			require.Equal(t, []int{8, 3, 32, 32}, f.Shape.Dims())
			require.Len(t, floats, 4*len(bytes))
			all := item.Column{DType: item.Float32, Data: floats}
			v, plane := all.Float32s(), 32*32
			mean, std := [3]float64{.485, .456, .406}, [3]float64{.229, .224, .225}
			for i, x := range bytes {
				picture, pixel, ch := i/(3*plane), i/3%plane, i%3
				want := (float64(x)/255 - mean[ch]) / std[ch]
				if !assert.InDelta(t, want, v[picture*3*plane+ch*plane+pixel], 1e-6) {
					return
				}
			}
		})
	}
}
