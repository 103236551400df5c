package sources

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func env() *graph.Env {
	return &graph.Env{Pipeline: "test", Stage: "read", Seed: 7, Workers: 2, Memory: item.Heap}
}

func call(place int64) *graph.Call {
	return graph.NewCall(context.Background(), 7, "read", item.Pos{Place: place})
}

func open[T any](t *testing.T, s graph.Source[T]) graph.Reader[T] {
	t.Helper()
	r, err := s.Open(t.Context(), env())
	require.NoError(t, err)
	return r
}

func TestRangeCountsFromZero(t *testing.T) {
	r := open(t, Range{Count: 3})
	require.EqualValues(t, 3, r.Len)
	for i := range r.Len {
		s, err := r.At(call(i), i)
		require.NoError(t, err)
		v, err := s.Need("index", item.KindInt)
		require.NoError(t, err)
		assert.Equal(t, i, v.Int())
		assert.Equal(t, []string{"#0", "#1", "#2"}[i], s.Key())
	}
}

func TestSettingsOutOfRangeAreRefusedAllAtOnce(t *testing.T) {
	err := SyntheticImages{Count: -1, Width: 9000, Classes: -2}.Check()
	for _, field := range []string{"count", "width", "classes"} {
		assert.ErrorContains(t, err, field)
	}
	assert.NoError(t, SyntheticImages{}.Check())
	assert.ErrorContains(t, Range{Count: -1}.Check(), "count must be at least 1, got -1")
	assert.ErrorContains(t, Slow{Delay: graph.Fixed(-1)}.Check(), "delay")
}

func TestSlowTakesItsDelayAndMakesTheSameNumbersAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range int64(6) {
			delay := time.Duration(2+18*(i%2)) * time.Millisecond
			r := open(t, Slow{Count: 6, Delay: graph.Fixed(delay), FeatureDim: 8})
			w, err := r.NewWorker(t.Context())
			require.NoError(t, err)
			start := time.Now()
			a, err := w.At(call(i), i)
			require.NoError(t, err)
			assert.Equal(t, delay, time.Since(start))
			b, err := r.At(call(99), i)
			require.NoError(t, err)
			assert.Equal(t, a.Hash(), b.Hash(), "the place in the stream does not matter")
			v, err := a.Need("features", item.KindTensor)
			require.NoError(t, err)
			for _, x := range v.Float32s() {
				assert.True(t, x >= -1 && x < 1)
			}
		}
	})
}

// On the real clock: few workers sleep in the system, more by timers.
func TestSlowNeverTakesLessThanItsDelay(t *testing.T) {
	const delay = 2 * time.Millisecond
	for _, workers := range []int{1, fewSleepers + 1} {
		r := open(t, Slow{Count: 5, Delay: graph.Fixed(delay)})
		var w graph.Reader[*item.Sample]
		for range workers {
			var err error
			w, err = r.NewWorker(t.Context())
			require.NoError(t, err)
		}
		for i := range int64(5) {
			start := time.Now()
			_, err := w.At(call(i), i)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, time.Since(start), delay, "%d workers", workers)
		}
	}
}

func TestSlowWakesUpWhenTheRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, Slow{Delay: graph.Fixed(time.Hour)})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		go func() { time.Sleep(time.Second); cancel(why) }()
		start := time.Now()
		_, err := r.At(graph.NewCall(ctx, 1, "s", item.Pos{}), 0)
		assert.ErrorIs(t, err, why)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestSyntheticImagesAreTheSameForEveryWorker(t *testing.T) {
	r := open(t, SyntheticImages{Count: 4, Width: 40, Height: 30, Classes: 3})
	w, err := r.NewWorker(t.Context())
	require.NoError(t, err)
	for i := range int64(4) {
		a, err := w.At(call(i), i)
		require.NoError(t, err)
		b, err := r.At(call(i+1), i)
		require.NoError(t, err)
		assert.Equal(t, a.Hash(), b.Hash())
		v, err := a.Need("image", item.KindBytes)
		require.NoError(t, err)
		m, err := jpeg.Decode(bytes.NewReader(v.Data()))
		require.NoError(t, err)
		assert.Equal(t, 40, m.Bounds().Dx())
		assert.Equal(t, i%3, a.Get("label").Int())
	}
}

type countdown struct{ closed *bool }

func (countdown) Splits() int { return 2 }
func (countdown) Read(_ context.Context, split int, from int64, emit func(int) error) error {
	for i := int(from); i < 3; i++ {
		if err := emit(split*10 + i); err != nil {
			return err
		}
	}
	return nil
}
func (c countdown) Close() error { *c.closed = true; return nil }

func TestOwnDataTravelsAsItIs(t *testing.T) {
	m := open(t, Map(Slice[string]{"a", "b"}))
	assert.EqualValues(t, 2, m.Len)
	s, err := m.At(call(0), 1)
	require.NoError(t, err)
	assert.Equal(t, "b", s)
	assert.Nil(t, m.Close)

	closed := false
	it := open(t, Iter[int](countdown{&closed}))
	assert.Equal(t, 2, it.Splits)
	var got []int
	require.NoError(t, it.Read(call(0), 1, 1, func(v int) error { got = append(got, v); return nil }))
	assert.Equal(t, []int{11, 12}, got)
	over := errors.New("over")
	assert.ErrorIs(t, it.Read(call(0), 0, 0, func(int) error { return over }), over)
	require.NoError(t, it.Close())
	assert.True(t, closed)

	_, err = Map[int](nil).Open(t.Context(), env())
	assert.Error(t, err)
}

func TestShuffledIsAnotherPermutationEachEpoch(t *testing.T) {
	const n = 1000
	p, err := Shuffled{}.Places(n, 7)
	require.NoError(t, err)
	again, err := Shuffled{}.Places(n, 7)
	require.NoError(t, err)
	orders := map[string]bool{}
	for epoch := range int64(3) {
		seen, order := make([]bool, n), make([]byte, 0, 2*n)
		for place := range p.Len(epoch) {
			i := p.Index(epoch, place)
			require.False(t, seen[i])
			seen[i] = true
			order = append(order, byte(i), byte(i>>8))
			require.Equal(t, i, again.Index(epoch, place))
		}
		orders[string(order)] = true
	}
	assert.Len(t, orders, 3)
	assert.NotEqual(t, p.Index(0, 1), p.Index(1, 1))
	assert.Equal(t, p.Index(0, 5), p.Index(0, 5), "going back to an earlier epoch")
}

func TestShuffledMayBeAskedByManyAtOnce(t *testing.T) {
	p, err := Shuffled{}.Places(100, 3)
	require.NoError(t, err)
	want := make([]int64, 0, 400)
	for e := range int64(4) {
		for i := range int64(100) {
			want = append(want, p.Index(e, i))
		}
	}
	done := make(chan bool)
	for range 4 {
		go func() {
			ok := true
			for i, w := range want {
				ok = ok && p.Index(int64(i/100), int64(i%100)) == w
			}
			done <- ok
		}()
	}
	for range 4 {
		assert.True(t, <-done)
	}
}

func TestSequentialKeepsTheOrder(t *testing.T) {
	p, err := Sequential{}.Places(3, 7)
	require.NoError(t, err)
	assert.EqualValues(t, 3, p.Len(5))
	assert.EqualValues(t, 2, p.Index(9, 2))
}

func TestPhotoFolderIsWholeOrNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "photos")
	f := PhotoFolder{Count: 10, Classes: 3, Width: 32, Height: 24}
	n, err := f.Write(t.Context(), dir)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "class_0?", "photo_*.jpg"))
	require.NoError(t, err)
	assert.Len(t, files, 10)
	total := int64(0)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		total += int64(len(b))
		_, err = jpeg.Decode(bytes.NewReader(b))
		require.NoError(t, err)
	}
	assert.Equal(t, n, total)

	_, err = f.Write(t.Context(), dir)
	assert.ErrorContains(t, err, "is there already and not empty")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other := filepath.Join(t.TempDir(), "b")
	_, err = f.Write(ctx, other)
	assert.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(filepath.Dir(other))
	require.NoError(t, err)
	assert.Empty(t, left)
}
