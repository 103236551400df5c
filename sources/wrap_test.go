package sources

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func allOf[T any](t *testing.T, src graph.Source[T], opts ...graph.Option) (got []T, err error) {
	t.Helper()
	_, err = take(t, src, func(x T) { got = append(got, x) }, opts...)
	return got, err
}

// parted is iterable data: each split has its number, twice.
type parted struct {
	splits int
	name   string
}

func (p parted) Splits() int { return p.splits }

func (p parted) Read(_ context.Context, split int, from int64, emit func(string) error) error {
	for i := from; i < 2; i++ {
		if err := emit(fmt.Sprintf("%s%d.%d", p.name, split, i)); err != nil {
			return err
		}
	}
	return nil
}

func TestConcatGivesOneSourceAfterTheOther(t *testing.T) {
	a, b, c := Map(Slice[int]{1, 2}), Map(Slice[int]{}), Map(Slice[int]{3, 4, 5})
	got, err := allOf(t, Concat(a, b, c), graph.Workers(3))
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3, 4, 5}, got)
	got, err = allOf(t, Concat(a, b, c), graph.Sampler(Shuffled{}))
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{1, 2, 3, 4, 5}, got)
	words, err := allOf(t, Concat(Iter(parted{2, "a"}), Iter(parted{1, "b"})))
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"a0.0", "a0.1", "a1.0", "a1.1", "b0.0", "b0.1"}, words)
}

func TestConcatSaysWhatDoesNotGoTogether(t *testing.T) {
	_, err := allOf(t, Concat(Map(Slice[string]{"x"}), Iter(parted{2, "a"})))
	assert.ErrorContains(t, err, "1 of 2 sources are iterable")
	_, err = allOf(t, Concat[int]())
	assert.ErrorContains(t, err, "needs at least 1")
	_, err = allOf(t, Concat[*item.Sample](Range{Count: -1}, nil))
	assert.ErrorContains(t, err, "source 0 of concat: count must be at least 1")
	assert.ErrorContains(t, err, "source 1 of concat is nil")
	_, err = allOf(t, Concat[*item.Sample](Range{}, Folder{Root: "not there"}))
	assert.ErrorContains(t, err, "source 1: ")
}

func TestConcatKnowsClassesAndFields(t *testing.T) {
	two := Concat[*item.Sample](SyntheticImages{Count: 4, Classes: 2, Width: 16, Height: 16}, Slow{Count: 90, FeatureDim: 1, Delay: graph.Fixed(1)})
	s, err := two.(graph.Shaper).Schema(item.Schema{})
	require.NoError(t, err)
	assert.Equal(t, "label: int, ...", s.String())
	assert.Equal(t, graph.Wait, two.(graph.Loader).Load())
	labels := map[int64]int{}
	_, err = take(t, two, func(s *item.Sample) { labels[s.Get("label").Int()]++ }, graph.Sampler(ClassBalanced{Batch: 20, Count: 20}))
	require.NoError(t, err)
	assert.Len(t, labels, 10)
	p := graph.New("x")
	graph.Output(graph.From(p, "read", Concat[*item.Sample](Range{Count: 3}, Range{Count: 4})), "take")
	assert.Contains(t, p.Describe(), "read: concat [range{Count:3} range{Count:4}]")
	_, err = Concat[*item.Sample](Range{}, series{n: 1}).(graph.Shaper).Schema(item.Schema{})
	assert.NoError(t, err)
}

func TestZipJoinsSamplesOfTheSameIndex(t *testing.T) {
	n := int64(0)
	_, err := take(t, Zip(Range{Count: 6}, Slow{Count: 6, FeatureDim: 2, Delay: graph.Fixed(1)}, series{n: 6}), func(s *item.Sample) {
		assert.Equal(t, []string{"index", "features", "label", "t", "x", "v", "p"}, fieldNames(s))
		assert.Equal(t, n, s.Get("index").Int())
		assert.Equal(t, n, s.Get("t").Int())
		assert.Equal(t, indexKey(n), s.Key())
		n++
	}, graph.Workers(2))
	require.NoError(t, err)
	assert.Equal(t, int64(6), n)
	sums, err := allOf(t, ZipWith(Map(Slice[int]{1, 2}), Map(Slice[string]{"a", "b"}), func(a int, b string) (string, error) {
		return fmt.Sprint(b, a), nil
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{"a1", "b2"}, sums)
}

func TestZipSaysWhatDoesNotFit(t *testing.T) {
	_, err := allOf(t, Zip(Range{Count: 6}, Slow{Count: 5}))
	assert.ErrorContains(t, err, "source 0 has 6 items and source 1 has 5; they must be equal")
	_, err = allOf(t, Zip(Range{Count: 6}, Slow{Count: 6}, series{n: 4}))
	assert.ErrorContains(t, err, "source 0 has 6 items and source 2 has 4")
	_, err = allOf(t, Zip(Range{Count: 6}, Range{Count: 6}))
	assert.ErrorContains(t, err, `source 1 has a field "index"`)
	bare := struct{ graph.Source[*item.Sample] }{Range{Count: 6}}
	_, err = allOf(t, Zip(bare, bare))
	assert.ErrorContains(t, err, `"#0" and "#0", have a field "index"`)
	_, err = allOf(t, ZipWith(Map(Slice[int]{1}), Iter(parted{1, "a"}), func(int, string) (int, error) { return 0, nil }))
	assert.ErrorContains(t, err, "cannot be read by index")
	_, err = allOf(t, Zip(Range{}))
	assert.ErrorContains(t, err, "needs at least 2")
	_, err = allOf(t, ZipWith[int, int, int](Map(Slice[int]{1}), nil, nil))
	assert.ErrorContains(t, err, "zip without a function")
}

// closing counts what is opened and closed.
type closing struct {
	open *int
	fail bool
}

func (c closing) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	if c.fail {
		return graph.Reader[int]{}, errors.New("boom")
	}
	*c.open++
	return graph.Reader[int]{Len: 2, At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil },
		Close: func() error { *c.open--; return nil },
		NewWorker: func(context.Context) (graph.Reader[int], error) {
			*c.open++
			return graph.Reader[int]{At: func(_ *graph.Call, i int64) (int, error) { return int(i) + 10, nil }, Close: func() error { *c.open--; return nil }}, nil
		}}, nil
}

func TestWrappedSourcesAreAllClosed(t *testing.T) {
	open := 0
	a, bad := closing{&open, false}, closing{&open, true}
	plus := func(x, y int) (int, error) { return x*100 + y, nil }
	got, err := allOf(t, Concat[int](a, Map(Slice[int]{7}), a), graph.Workers(1))
	require.NoError(t, err)
	assert.Equal(t, []int{10, 11, 7, 10, 11}, got)
	got, err = allOf(t, ZipWith(graph.Source[int](a), graph.Source[int](a), plus), graph.Workers(1))
	require.NoError(t, err)
	assert.Equal(t, []int{1010, 1111}, got)
	for _, s := range []graph.Source[int]{Concat[int](a, a, bad), Concat[int](a, struct{ graph.Source[int] }{Iter(iterated2{})}),
		ZipWith(graph.Source[int](a), graph.Source[int](bad), plus), ZipWith(graph.Source[int](a), Map(Slice[int]{1}), plus)} {
		_, err = allOf(t, s)
		assert.Error(t, err)
	}
	assert.Zero(t, open)
}

type iterated2 struct{}

func (iterated2) Splits() int                                             { return 1 }
func (iterated2) Read(context.Context, int, int64, func(int) error) error { return nil }
