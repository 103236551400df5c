package stages_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages"
)

// made is a source of samples that a function makes.
type made struct {
	n    int64
	make func(i int64) *item.Sample
}

func (m made) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: m.n, At: func(_ *graph.Call, i int64) (*item.Sample, error) { return m.make(i), nil }}, nil
}

func numbered(n int64) made {
	return made{n, func(i int64) *item.Sample {
		s := item.NewSample(fmt.Sprint("s", i))
		s.Set("id", item.Int(i))
		return s
	}}
}

func encoded(files ...[]byte) made {
	return made{int64(len(files)), func(i int64) *item.Sample {
		s := item.NewSample(fmt.Sprintf("%c.img", 'a'+rune(i)))
		s.Set("image", item.HeapBytes(files[i]))
		return s
	}}
}

// batches runs to the end; it returns the sizes of the batches and the report.
func batches(t *testing.T, p *graph.Pipeline, out *graph.Out[*item.Batch], see func(*item.Batch)) ([]int, graph.Snapshot, error) {
	t.Helper()
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	var sizes []int
	for b, err := range out.All(run) {
		if err != nil {
			break
		}
		if sizes = append(sizes, b.Len()); see != nil {
			see(b)
		}
	}
	err = run.Wait()
	return sizes, run.Snapshot(), err
}

func TestBatchesAreCutAlikeForAnyWorkers(t *testing.T) {
	for _, c := range []struct {
		n    int64
		size int
		drop bool
		want string
	}{
		{7, 1, false, "[1 1 1 1 1 1 1]"}, {7, 7, false, "[7]"}, {7, 8, false, "[7]"}, {7, 3, false, "[3 3 1]"},
		{7, 1, true, "[1 1 1 1 1 1 1]"}, {7, 7, true, "[7]"}, {7, 8, true, "[]"}, {7, 3, true, "[3 3]"},
		{1000, 128, true, "[128 128 128 128 128 128 128]"},
	} {
		for _, workers := range []int{1, 4, 10} {
			p := graph.New("cut", graph.Seed(1))
			in := graph.From(p, "read", numbered(c.n), graph.Workers(workers))
			out := graph.Output(graph.Via(in, "collate", stages.Collate{Size: c.size, DropLast: c.drop}, graph.Workers(workers)), "train")
			next := int64(0)
			sizes, snap, err := batches(t, p, out, func(b *item.Batch) {
				for _, id := range b.Column("id").Int64s() {
					assert.Equal(t, next, id)
					next++
				}
			})
			require.NoError(t, err)
			assert.Equal(t, c.want, fmt.Sprint(sizes), "%+v, %d workers", c, workers)
			if c.n == 1000 {
				assert.EqualValues(t, 104, snap.Totals.Dropped)
			}
		}
	}
}

func pictureOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

func TestPicturesOfEveryColourMakeOneBatch(t *testing.T) {
	r := image.Rect(0, 0, 24, 16)
	pal := image.NewPaletted(r, color.Palette{color.Black, color.White})
	files := encoded(pictureOf(t, image.NewGray(r)), pictureOf(t, image.NewNRGBA(r)), pictureOf(t, pal), pictureOf(t, image.NewGray16(r)))
	p := graph.New("colours")
	pics := graph.Via(graph.From(p, "read", files), "decode", stages.DecodeImage{})
	out := graph.Output(graph.Via(pics, "collate", stages.Collate{Size: 4}), "train")
	sizes, _, err := batches(t, p, out, func(b *item.Batch) {
		assert.Equal(t, item.MakeShape(4, 16, 24, 3), b.Column("image").Shape)
	})
	require.NoError(t, err)
	assert.Equal(t, []int{4}, sizes)
}

func TestTheFirstOddPictureIsNamed(t *testing.T) {
	files := encoded(pictureOf(t, image.NewGray(image.Rect(0, 0, 24, 16))), pictureOf(t, image.NewGray(image.Rect(0, 0, 20, 16))))
	p := graph.New("ragged")
	pics := graph.Via(graph.From(p, "read", files), "decode", stages.DecodeImage{})
	out := graph.Output(graph.Via(pics, "collate", stages.Collate{Size: 2}), "train")
	_, _, err := batches(t, p, out, nil)
	assert.ErrorContains(t, err, `stage "collate": b.img: field "image" is image 16×20×3, but image 16×24×3 in the first sample, "a.img"; `+
		"put resize or a crop before collate")
}

func TestBrokenPicturesAreSkippedOrStopTheRun(t *testing.T) {
	good := pictureOf(t, image.NewGray(image.Rect(0, 0, 96, 64)))
	files := encoded(good, good[:len(good)*6/10], nil, good)
	build := func(policy graph.Policy) (*graph.Pipeline, *graph.Out[*item.Batch]) {
		p := graph.New("broken")
		pics := graph.Via(graph.From(p, "read", files), "decode", stages.DecodeImage{}, graph.OnError(policy))
		return p, graph.Output(graph.Via(pics, "collate", stages.Collate{Size: 4}), "train")
	}
	p, out := build(graph.Skip)
	_, snap, err := batches(t, p, out, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 2, snap.Totals.Samples)
	assert.EqualValues(t, 2, snap.Totals.Skipped)

	p, out = build(graph.Fail)
	_, _, err = batches(t, p, out, nil)
	assert.ErrorContains(t, err, `stage "decode": b.img: the picture is cut short`)
}

func TestADigestDependsOnNothingButTheSeed(t *testing.T) {
	var files [][]byte
	for i := range 40 {
		m := image.NewRGBA(image.Rect(0, 0, 30+i, 70-i))
		for k := range m.Pix {
			m.Pix[k] = byte(k * (i + 3) >> 2)
		}
		files = append(files, pictureOf(t, m))
	}
	run := func(seed uint64, workers, buffer, size int, opts ...graph.PipelineOption) string {
		p := graph.New("digest", append(opts, graph.Seed(seed), graph.Epochs(2))...)
		set := []graph.Option{graph.Workers(workers), graph.Buffer(buffer)}
		s := graph.Via(graph.From(p, "read", encoded(files...), set...), "decode", stages.DecodeImage{}, set...)
		s = graph.Via(s, "crop", stages.RandomResizedCrop{Size: 16}, set...)
		s = graph.Via(s, "flip", stages.RandomFlip{}, set...)
		s = graph.Via(s, "normalize", stages.Normalize{}, set...)
		_, snap, err := batches(t, p, graph.Output(graph.Via(s, "collate", stages.Collate{Size: size}), "train"), nil)
		require.NoError(t, err)
		require.NotNil(t, snap.Digest)
		return *snap.Digest
	}
	want := run(7, 1, 1, 7)
	for _, workers := range []int{1, 2, 8} {
		for _, buffer := range []int{1, 16} {
			for _, size := range []int{7, 16} {
				assert.Equal(t, want, run(7, workers, buffer, size), "%d workers, buffer %d, batches of %d", workers, buffer, size)
			}
		}
	}
	assert.Equal(t, want, run(7, 2, 4, 16, graph.Sync()), "one goroutine")
	assert.NotEqual(t, want, run(8, 2, 4, 16), "another seed")
}

// shards are samples read forward, 100 in each of ten splits.
type shards struct{}

func (shards) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Splits: 10, Read: func(_ *graph.Call, split int, from int64, emit func(*item.Sample) error) error {
		for i := from; i < 100; i++ {
			s := item.NewSample(fmt.Sprintf("%d/%d", split, i))
			s.Set("id", item.Int(int64(split)*100+i))
			if err := emit(s); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// G-BAT-01: what is dropped is the short batch of the epoch, not one for each worker or shard.
func TestTheShortBatchIsDroppedOncePerEpochOfManyShards(t *testing.T) {
	for _, workers := range []int{1, 4, 10} {
		p := graph.New("shards", graph.Epochs(2))
		in := graph.From(p, "read", shards{}, graph.Workers(workers))
		out := graph.Output(graph.Via(in, "collate", stages.Collate{Size: 128, DropLast: true}, graph.Workers(workers)), "train")
		sizes, snap, err := batches(t, p, out, nil)
		require.NoError(t, err)
		assert.Len(t, sizes, 2*7)
		for _, n := range sizes {
			assert.Equal(t, 128, n)
		}
		assert.EqualValues(t, 2*7, snap.Totals.Batches)
		assert.EqualValues(t, 2*104, snap.Totals.Dropped, "%d workers", workers)
	}
}

// G-BAT-02: nothing is cut short or rounded to suit the first sample.
func TestFieldsThatDoNotFitTheFirstSampleAreErrorsThatNameThem(t *testing.T) {
	list := func(n int) item.Value {
		return item.Tensor(item.Heap.Take(4*n), item.Float32, item.MakeShape(n))
	}
	for name, c := range map[string]struct {
		field func(i int64) (item.Value, bool)
		want  string
	}{
		"length": {func(i int64) (item.Value, bool) { return list(int(i) + 1), true }, `s1: field "x" is tensor float32 2, but tensor float32 1 in the first sample, "s0"`},
		"number": {func(i int64) (item.Value, bool) {
			if i == 1 {
				return item.Float(2.5), true
			}
			return item.Int(1), true
		}, `s1: field "x" is float, but int in the first sample, "s0"`},
		"some only": {func(i int64) (item.Value, bool) { return item.Int(i), i != 1 }, `s1: field "x" is missing; the first sample, "s0", has "id", "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := graph.New("ragged")
			in := graph.From(p, "read", made{3, func(i int64) *item.Sample {
				s := item.NewSample(fmt.Sprint("s", i))
				s.Set("id", item.Int(i))
				if v, ok := c.field(i); ok {
					s.Set("x", v)
				}
				return s
			}})
			out := graph.Output(graph.Via(in, "collate", stages.Collate{Size: 3}), "train")
			_, _, err := batches(t, p, out, nil)
			assert.ErrorContains(t, err, `stage "collate": `+c.want)
		})
	}
}
