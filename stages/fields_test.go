package stages

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

type onSamples interface {
	graph.Stage[*item.Sample, *item.Sample]
	graph.Checker
	graph.Shaper
}

// pass runs a stage on one sample.
func pass(t *testing.T, s onSamples, in *item.Sample) (out []*item.Sample, err error) {
	t.Helper()
	require.NoError(t, s.Check())
	x, err := s.Open(t.Context(), &graph.Env{})
	require.NoError(t, err)
	c := graph.NewCall(t.Context(), 1, "work", item.Pos{})
	switch {
	case x.Map != nil:
		o, err := x.Map(c, in)
		return []*item.Sample{o}, err
	case x.Choose != nil:
		o, keep, err := x.Choose(c, in)
		if err != nil || !keep {
			return nil, err
		}
		return []*item.Sample{o}, nil
	}
	err = x.Emit(c, in, func(o *item.Sample) { out = append(out, o) })
	return out, err
}

func int32s(dims []int, xs ...int32) item.Value {
	b := item.Heap.Take(4 * len(xs))
	for i, x := range xs {
		binary.NativeEndian.PutUint32(b.Data[4*i:], uint32(x))
	}
	return item.Tensor(b, item.Int32, item.MakeShape(dims...))
}

func rich() *item.Sample {
	s := item.NewSample("rich")
	s.Set("label", item.Int(3))
	s.Set("big", item.Int(1<<53+1))
	s.Set("score", item.Float(0.5))
	s.Set("nan", item.Float(math.NaN()))
	s.Set("name", item.Text("cat"))
	s.Set("image", item.Picture(item.Heap.Take(24), 2, 4, 3))
	s.Set("v", int32s([]int{3, 2}, 0, 1, 2, 3, 4, 5))
	return s
}

func TestFilterComparesFields(t *testing.T) {
	for _, c := range []struct {
		f    Filter
		want bool
	}{
		{Filter{Field: "label", Value: []float64{3}}, true},
		{Filter{Field: "label", Value: []float64{1, 3}}, true},
		{Filter{Field: "label", Op: "ne", Value: []float64{1, 3}}, false},
		{Filter{Field: "label", Value: []float64{0}}, false},
		{Filter{Field: "label", Op: "lt", Value: []float64{3}}, false},
		{Filter{Field: "label", Op: "lt", Value: []float64{3.5}}, true},
		{Filter{Field: "label", Op: "le", Value: []float64{3}}, true},
		{Filter{Field: "label", Op: "gt", Value: []float64{2.5}}, true},
		{Filter{Field: "label", Op: "gt", Value: []float64{-1e300}}, true},
		{Filter{Field: "label", Op: "ge", Value: []float64{1e300}}, false},
		{Filter{Field: "big", Value: []float64{1 << 53}}, false},
		{Filter{Field: "big", Op: "gt", Value: []float64{1 << 53}}, true},
		{Filter{Field: "score", Op: "ge", Value: []float64{0.5}}, true},
		{Filter{Field: "score", Op: "gt", Value: []float64{0.5}}, false},
		{Filter{Field: "nan", Op: "le", Value: []float64{1}}, false},
		{Filter{Field: "nan", Op: "ge", Value: []float64{1}}, false},
		{Filter{Field: "nan", Op: "ne", Value: []float64{1}}, true},
		{Filter{Field: "name", Text: []string{"dog", "cat"}}, true},
		{Filter{Field: "name", Op: "ne", Text: []string{"cat"}}, false},
		{Filter{Field: "name", Measure: "bytes", Value: []float64{3}}, true},
		{Filter{Field: "image", Measure: "height", Value: []float64{2}}, true},
		{Filter{Field: "image", Measure: "width", Op: "ge", Value: []float64{5}}, false},
		{Filter{Field: "image", Measure: "channels", Value: []float64{3}}, true},
		{Filter{Field: "image", Measure: "bytes", Value: []float64{24}}, true},
		{Filter{Field: "v", Measure: "length", Op: "gt", Value: []float64{2}}, true},
	} {
		out, err := pass(t, c.f, rich())
		require.NoError(t, err)
		assert.Equal(t, c.want, len(out) == 1, "%+v", c.f)
	}
}

func TestFilterSaysWhatIsWrong(t *testing.T) {
	for text, f := range map[string]Filter{
		"field is missing": {Value: []float64{1}}, "value is missing, or text": {Field: "x"},
		"give one of them":                       {Field: "x", Value: []float64{1}, Text: []string{"a"}},
		"op of a text must be eq or ne, got lt":  {Field: "x", Op: "lt", Text: []string{"a"}},
		"text: width is a number":                {Field: "x", Measure: "width", Text: []string{"a"}},
		"value must be one number for lt, got 2": {Field: "x", Op: "lt", Value: []float64{1, 2}},
		"op must be one of":                      {Field: "x", Op: "<", Value: []float64{1}},
		"finite":                                 {Field: "x", Value: []float64{math.NaN()}},
	} {
		assert.ErrorContains(t, f.Check(), text)
	}
	_, err := pass(t, Filter{Field: "none", Value: []float64{1}}, rich())
	assert.ErrorContains(t, err, `field "none" is missing`)
	_, err = pass(t, Filter{Field: "name", Value: []float64{1}}, rich())
	assert.ErrorContains(t, err, `field "name" is text, wanted int or float`)
	in := item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}}}
	_, err = Filter{Field: "image", Measure: "width", Value: []float64{1}}.Schema(in)
	assert.ErrorContains(t, err, "put decode_image before it")
}

func TestSelectKeepsFieldsAndReleasesTheOthers(t *testing.T) {
	in := rich()
	buf := in.Get("v").Buffer()
	buf.Retain()
	out, err := pass(t, Select{Fields: []string{"image", "label"}}, in)
	require.NoError(t, err)
	assert.Equal(t, "label image", names(out[0]))
	buf.Release()
	assert.Panics(t, buf.Release, "the sample's hold is gone")
	out, err = pass(t, Select{Without: []string{"image", "v", "nan", "big"}}, rich())
	require.NoError(t, err)
	assert.Equal(t, "label score name", names(out[0]))
	_, err = pass(t, Select{Without: []string{"x"}}, rich())
	assert.ErrorContains(t, err, `field "x" is missing; the sample has ["label"`)
	assert.ErrorContains(t, Select{}.Check(), "fields is missing, or without")
	assert.ErrorContains(t, Select{Fields: []string{"a"}, Without: []string{"b"}}.Check(), "give one of them")
}

func names(s *item.Sample) (text string) {
	for i := range s.Len() {
		name, _ := s.Field(i)
		if i > 0 {
			text += " "
		}
		text += name
	}
	return text
}

func TestSelectAndRenameTellTheirSchema(t *testing.T) {
	label, image := item.FieldSpec{Name: "label", Kind: item.KindInt}, item.FieldSpec{Name: "image", Kind: item.KindBytes}
	closed := item.Schema{Fields: []item.FieldSpec{label, image}}
	open := item.Schema{Fields: []item.FieldSpec{label}, Open: true}
	for _, c := range []struct {
		s    graph.Shaper
		in   item.Schema
		want string
	}{
		{Select{Fields: []string{"image"}}, closed, "image: bytes"},
		{Select{Without: []string{"image"}}, closed, "label: int"},
		{Select{Fields: []string{"image"}}, open, "image: any"},
		{Select{Without: []string{"image"}}, open, "label: int, ..."},
		{Select{Fields: []string{"x"}}, closed, `field "x"`},
		{Rename{Fields: []string{"label"}, To: []string{"class"}}, closed, "image: bytes, class: int"},
		{Rename{Fields: []string{"label", "image"}, To: []string{"image", "label"}}, closed, "image: int, label: bytes"},
		{Rename{Fields: []string{"label"}, To: []string{"image"}}, closed, `there is a field "image" already`},
		{Rename{Fields: []string{"x"}, To: []string{"y"}}, closed, `field "x"`},
		{Rename{Fields: []string{"x"}, To: []string{"y"}}, open, "label: int, y: any, ..."},
	} {
		out, err := c.s.Schema(c.in)
		if err != nil {
			assert.ErrorContains(t, err, c.want)
			continue
		}
		assert.Equal(t, c.want, out.String())
	}
}

func TestRenameMovesFieldsAtOnce(t *testing.T) {
	out, err := pass(t, Rename{Fields: []string{"label", "big", "name"}, To: []string{"big", "label", "title"}}, rich())
	require.NoError(t, err)
	s := out[0]
	assert.Equal(t, "score nan image v big label title", names(s))
	assert.Equal(t, int64(3), s.Get("big").Int())
	assert.Equal(t, int64(1<<53+1), s.Get("label").Int())
	assert.Equal(t, "cat", s.Get("title").Text())
	_, err = pass(t, Rename{Fields: []string{"label"}, To: []string{"name"}}, rich())
	assert.ErrorContains(t, err, `there is a field "name" already`)
	_, err = pass(t, Rename{Fields: []string{"x"}, To: []string{"y"}}, rich())
	assert.ErrorContains(t, err, `field "x" is missing`)
	for text, r := range map[string]Rename{
		"fields is missing": {}, "a name for each of the 1 fields, got 2": {Fields: []string{"a"}, To: []string{"b", "c"}},
		`"b" is given twice`: {Fields: []string{"a", "c"}, To: []string{"b", "b"}}, "must not be empty": {Fields: []string{"a"}, To: []string{""}},
		`"a" is renamed twice`: {Fields: []string{"a", "a"}, To: []string{"b", "c"}},
	} {
		assert.ErrorContains(t, r.Check(), text)
	}
}

func TestFlatMapCutsAlongTheFirstAxis(t *testing.T) {
	in := rich()
	in.Set("w", int32s([]int{3}, 7, -8, 9))
	out, err := pass(t, FlatMap{Fields: []string{"v", "w"}}, in)
	require.NoError(t, err)
	require.Len(t, out, 3)
	for i, s := range out {
		assert.Equal(t, fmt.Sprintf("rich[%d]", i), s.Key())
		assert.Equal(t, []int32{int32(2 * i), int32(2*i + 1)}, s.Get("v").Int32s())
		assert.Equal(t, []int64{7, -8, 9}[i], s.Get("w").Int())
		assert.Equal(t, int64(3), s.Get("label").Int())
		assert.True(t, s.Get("image").Shared())
	}
	out[0].Release()
	out[1].Release()
	assert.False(t, out[2].Get("image").Shared())
	empty := rich()
	empty.Set("v", int32s([]int{0, 2}))
	out, err = pass(t, FlatMap{Fields: []string{"v"}}, empty)
	require.NoError(t, err)
	assert.Empty(t, out)
	in = rich()
	in.Set("w", int32s([]int{2}, 7, -8))
	_, err = pass(t, FlatMap{Fields: []string{"v", "w"}}, in)
	assert.ErrorContains(t, err, `field "w" has a first axis of 2, but "v" has one of 3`)
	_, err = pass(t, FlatMap{Fields: []string{"label"}}, rich())
	assert.ErrorContains(t, err, `field "label" is int, wanted tensor`)
	s, err := FlatMap{Fields: []string{"v", "w"}}.Schema(item.Schema{Fields: []item.FieldSpec{
		{Name: "v", Kind: item.KindTensor, Typed: true, DType: item.Float32, Shape: item.MakeShape(-1, 4)},
		{Name: "w", Kind: item.KindTensor, Typed: true, DType: item.Float32, Shape: item.MakeShape(-1)},
	}})
	require.NoError(t, err)
	assert.Equal(t, "v: tensor float32 4, w: float", s.String())
}

// twins has two tensors of one shape, which a stage writes into their places in the batch.
type twins struct{ n int64 }

func (s twins) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: s.n, At: func(c *graph.Call, i int64) (*item.Sample, error) {
		out := item.NewSample(fmt.Sprint(i))
		for _, name := range []string{"a", "b"} {
			shape := item.MakeShape(2)
			v := item.Tensor(c.Row(name, item.Int64, shape), item.Int64, shape)
			v.Int64s()[0], v.Int64s()[1] = i, int64(name[0])
			out.Set(name, v)
		}
		return out, nil
	}}, nil
}

// A batch has places by name; what lies in the place of the old name must not be overwritten before it is copied.
func TestFieldsThatAreExchangedReachTheBatchWhole(t *testing.T) {
	for _, way := range [][]Rename{
		{{Fields: []string{"a", "b"}, To: []string{"b", "a"}}},
		{{Fields: []string{"a"}, To: []string{"t"}}, {Fields: []string{"b"}, To: []string{"a"}}, {Fields: []string{"t"}, To: []string{"b"}}},
		{{Fields: []string{"b", "a"}, To: []string{"a", "t"}}, {Fields: []string{"t"}, To: []string{"b"}}},
	} {
		p := graph.New("twins")
		port := graph.From(p, "read", twins{n: 40}, graph.Workers(3))
		for i, r := range way {
			port = graph.Via(port, fmt.Sprint("rename_", i), r, graph.Workers(2))
		}
		out := graph.Output(graph.Via(port, "collate", Collate{Size: 4}, graph.Workers(2)), "take")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		row := int64(0)
		for b, err := range out.All(run) {
			require.NoError(t, err)
			as, bs := b.Column("a").Int64s(), b.Column("b").Int64s()
			for k := range 4 {
				require.Equal(t, []int64{row, 'b', row, 'a'}, []int64{as[2*k], as[2*k+1], bs[2*k], bs[2*k+1]})
				row++
			}
		}
		require.NoError(t, run.Wait())
		assert.Equal(t, int64(40), row)
	}
}
