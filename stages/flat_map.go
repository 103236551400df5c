package stages

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[FlatMap](registry.Meta{
	Name: "flat_map", Summary: "Makes many samples of one: cuts tensors along their first axis.",
	Example: "flat_map: {fields: frames}",
}, (*FlatMap).Bind))

// FlatMap cuts the tensors of Fields along their first axis and makes a sample of each part: the frames of a clip, the
// windows of a series. All of them must have the same first axis; one of length 0 makes no samples. A part has one
// dimension less; of a tensor with one dimension it is a number. The other fields go with every part, and share their
// memory. The key of part 3 is that of the sample with [3] behind it.
//
// The parts stay at the sample's place in the stream, in their order, and are told apart by the position's child path.
// Any number of workers. Cost: a copy of each part.
type FlatMap struct {
	Fields []string
}

// Bind names the fields.
func (m *FlatMap) Bind(f *registry.Fields) {
	f.Texts(&m.Fields, "fields", nil, "the tensors that are cut; their first axes must be of the same length", registry.Required())
}

// Check refuses settings that are out of range.
func (m FlatMap) Check() error { return registry.Check(&m, (*FlatMap).Bind) }

// Schema has one dimension less in each of the fields.
func (m FlatMap) Schema(in item.Schema) (item.Schema, error) {
	out := in
	for _, name := range m.Fields {
		if err := in.Needs(name, "", item.KindTensor); err != nil {
			return in, err
		}
		f, ok := in.Find(name)
		switch {
		case !ok || f.Kind == item.KindNone || !f.Typed:
			f = item.FieldSpec{Name: name}
		case f.Shape.Rank() == 0:
			return in, fmt.Errorf("flat_map: field %q is a tensor without axes", name)
		case f.Shape.Rank() > 1:
			f.Shape = item.MakeShape(f.Shape.Dims()[1:]...)
		case f.DType == item.Float32 || f.DType == item.Float64:
			f = item.FieldSpec{Name: name, Kind: item.KindFloat, Typed: true, DType: item.Float64}
		default:
			f = item.FieldSpec{Name: name, Kind: item.KindInt, Typed: true, DType: item.Int64}
		}
		out = out.With(f)
	}
	return out, nil
}

// Drops says that there is not one output of each input.
func (FlatMap) Drops() bool { return true }

// Open makes the transform.
func (m FlatMap) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	return graph.Transform[*item.Sample, *item.Sample]{Emit: func(c *graph.Call, in *item.Sample, emit func(*item.Sample)) error {
		n, err := m.parts(in)
		if err != nil {
			return err
		}
		for i := range n {
			out := item.NewSample(in.Key() + "[" + strconv.Itoa(i) + "]")
			for k := range in.Len() {
				name, v := in.Field(k)
				if slices.Contains(m.Fields, name) {
					out.Set(name, slice(c, v, i, n))
				} else {
					out.Set(name, held(v))
				}
			}
			emit(out)
		}
		in.Release()
		return nil
	}}, nil
}

// parts is the common length of the first axes.
func (m *FlatMap) parts(in *item.Sample) (int, error) {
	n := -1
	for _, name := range m.Fields {
		v, err := in.Need(name, item.KindTensor)
		switch {
		case err != nil:
			return 0, err
		case v.Shape().Rank() == 0:
			return 0, fmt.Errorf("field %q is a tensor without axes", name)
		case n >= 0 && v.Shape().Dim(0) != n:
			return 0, fmt.Errorf("field %q has a first axis of %d, but %q has one of %d", name, v.Shape().Dim(0), m.Fields[0], n)
		}
		n = v.Shape().Dim(0)
	}
	return n, nil
}

// slice copies the i-th of n parts out.
func slice(c *graph.Call, v *item.Value, i, n int) item.Value {
	size := len(v.Data()) / n
	data := v.Data()[i*size : (i+1)*size]
	if v.Shape().Rank() > 1 {
		b := c.Buffer(size)
		copy(b.Data, data)
		return item.Tensor(b, v.DType(), item.MakeShape(v.Shape().Dims()[1:]...))
	}
	switch v.DType() {
	case item.Int64:
		return item.Int(int64(binary.NativeEndian.Uint64(data)))
	case item.Int32:
		return item.Int(int64(int32(binary.NativeEndian.Uint32(data))))
	case item.Float64:
		return item.Float(math.Float64frombits(binary.NativeEndian.Uint64(data)))
	case item.Float32:
		return item.Float(float64(math.Float32frombits(binary.NativeEndian.Uint32(data))))
	}
	return item.Int(int64(data[0]))
}
