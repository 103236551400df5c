package stages

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// files is a source of these files; the content is read anew each time.
type files struct {
	paths  []string
	change func(epoch int64, data []byte) []byte
}

func (f files) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: int64(len(f.paths)), At: func(c *graph.Call, i int64) (*item.Sample, error) {
		data, err := os.ReadFile(f.paths[i])
		if err != nil {
			return nil, err
		}
		if f.change != nil {
			data = f.change(c.Pos().Epoch, data)
		}
		s := item.NewSample(filepath.Base(f.paths[i]))
		s.Set(fieldImage, item.HeapBytes(data))
		return s, nil
	}}, nil
}

type fusedRun struct {
	source     files
	decode     DecodeImage
	flip, norm bool
}

// run gives the rows that come out, by epoch and key, and what was skipped.
func (r fusedRun) run(t *testing.T, opts ...graph.PipelineOption) (map[int64]map[string][]byte, []graph.SkipNote, graph.Snapshot) {
	p := graph.New("fused", append(opts, graph.Seed(3), graph.Epochs(3))...)
	skip := graph.OnError(graph.Skip)
	port := graph.From(p, "read", r.source)
	port = graph.Via[*item.Sample, *item.Sample](port, "decode", r.decode, skip)
	port = graph.Via[*item.Sample, *item.Sample](port, "crop", RandomResizedCrop{Size: 20})
	if r.flip {
		port = graph.Via[*item.Sample, *item.Sample](port, "flip", RandomFlip{})
	}
	if r.norm {
		port = graph.Via[*item.Sample, *item.Sample](port, "normalize", Normalize{})
	}
	out := graph.Output(port, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	got := map[int64]map[string][]byte{}
	for e := range out.Epochs(run) {
		got[e.Number] = map[string][]byte{}
		for s, err := range e.All() {
			require.NoError(t, err)
			got[e.Number][s.Key()] = append([]byte(nil), s.Get(fieldImage).Data()...)
		}
	}
	require.NoError(t, run.Wait())
	s := run.Snapshot()
	require.Empty(t, s.Totals.Unbalanced)
	return got, run.Skips(), s
}

func pictureFiles(t *testing.T) (paths []string) {
	for _, ext := range []string{"jpg", "png", "gif", "webp"} {
		found, err := filepath.Glob("testdata/pictures/*." + ext)
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	require.NotEmpty(t, paths)
	return paths
}

// A fused chain gives the bytes that its stages give apart: for every format and orientation, with and without side
// indexes, in the first epoch and in later ones.
func TestFusedPicturesAreThoseOfTheStagesApart(t *testing.T) {
	paths := pictureFiles(t)
	for _, r := range []fusedRun{{}, {flip: true}, {norm: true}, {flip: true, norm: true}} {
		r.source.paths = paths
		for _, r.decode = range []DecodeImage{{}, {Index: indexOff}, {IgnoreOrientation: true}} {
			want, _, apart := r.run(t, graph.NoFuse())
			got, skips, s := r.run(t)
			require.Empty(t, skips)
			require.Equal(t, want, got)
			require.Equal(t, apart.Digest, s.Digest)
			require.Equal(t, "decode", s.Stages[2].FusedInto)
		}
	}
}

// Damage is found wherever it is, also outside the crop.
func TestFusedDecodingFindsTheDamageThatDecodingFinds(t *testing.T) {
	r := fusedRun{flip: true, norm: true, source: files{paths: pictureFiles(t), change: func(epoch int64, data []byte) []byte {
		if epoch == 1 {
			return data[:len(data)*19/20]
		}
		return data
	}}}
	for _, r.decode.Index = range []string{indexMemory, indexOff} {
		want, skipped, _ := r.run(t, graph.NoFuse())
		got, skips, _ := r.run(t)
		require.NotEmpty(t, skips)
		require.ElementsMatch(t, skipped, skips)
		require.Equal(t, want, got)
	}
}

// A file that changes between epochs does not fit its side index: it is decoded from the beginning.
func TestFileThatChangesIsDecodedAnew(t *testing.T) {
	jpegs, err := filepath.Glob("testdata/pictures/*.jpg")
	require.NoError(t, err)
	r := fusedRun{source: files{paths: jpegs, change: func(epoch int64, data []byte) []byte {
		return append(data, byte(epoch))
	}}}
	want, _, _ := r.run(t, graph.NoFuse())
	got, skips, _ := r.run(t)
	require.Empty(t, skips)
	require.Equal(t, want, got)
}

func TestSideIndexesStayWithinTheirRoom(t *testing.T) {
	s := newSideIndexes(&graph.Env{}, 1<<20)
	for range 2 {
		s.put(pictureID{0, 0}, make([]byte, 500))
	}
	require.EqualValues(t, 500+entryBytes, s.held, "what is kept already takes nothing more")
	for i := range int64(10_000) {
		s.put(pictureID{0, i}, make([]byte, 500))
	}
	require.LessOrEqual(t, s.taken, int64(1<<20))
	require.True(t, s.full.Load())
	require.Greater(t, len(s.of), 1500)
	for i := range int64(10_000) {
		s.forget(pictureID{0, i})
	}
	require.Empty(t, s.of)
	require.Zero(t, s.held, "what is forgotten leaves its room to others")
}
