package sources

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Sampler[Windows](registry.Meta{
	Name: "windows", Summary: "Joins runs of consecutive samples into one, for time series.",
	Example: "sampler: {windows: {length: 16, stride: 4, shuffled: true}}",
}, (*Windows).Bind))

// Windows makes one sample of each run of Length consecutive samples; runs begin Stride samples apart. A place is a
// whole run: of n samples there are (n - Length) / Stride + 1, rounded down, and what is too short at the end is left
// out. Runs come in order, or Shuffled in a new order each epoch.
//
// The fields of a run are joined on a new first axis: whole numbers become a tensor of int64 of shape Length, other
// numbers one of float64, tensors and pictures a tensor with one more dimension. All samples of a run must have the same
// fields and shapes. Bytes and texts cannot be joined: they are refused, with the field's name. The key is that of the
// first sample with the length behind it. The source must be map-style and make samples.
//
// A run is read by one worker, one sample after the other, so overlapping runs read samples again. Memory: none kept.
// Cost: the reads and one copy.
type Windows struct {
	Length   int
	Stride   int
	Shuffled bool
}

// Bind names the fields.
func (w *Windows) Bind(f *registry.Fields) {
	f.Int(&w.Length, "length", 0, "samples of a run", registry.Required(), registry.Min(1), registry.Max(1<<20))
	f.Int(&w.Stride, "stride", 1, "how far apart runs begin", registry.Min(1), registry.Max(1<<30))
	f.Bool(&w.Shuffled, "shuffled", "in a new order each epoch")
}

// Check refuses settings that are out of range.
func (w Windows) Check() error { return registry.Check(&w, (*Windows).Bind) }

// Kind is the word of a spec.
func (Windows) Kind() string { return "windows" }

// Schema is that of the runs.
func (w Windows) Schema(in item.Schema) (item.Schema, error) {
	out := in
	for _, f := range in.Fields {
		shape := item.Shape{}
		switch f.Kind {
		case item.KindNone:
			continue
		case item.KindText, item.KindBytes:
			return in, fmt.Errorf("windows join numbers, and field %q is %v; take a source that makes numbers", f.Name, f.Kind)
		case item.KindInt:
			f.DType, f.Typed = item.Int64, true
		case item.KindFloat:
			f.DType, f.Typed = item.Float64, true
		default:
			shape = f.Shape
			if f.Typed && shape.Rank() == item.MaxRank {
				return in, fmt.Errorf("windows add a dimension, and field %q has %d already", f.Name, item.MaxRank)
			}
		}
		f.Kind, f.Shape = item.KindTensor, item.Shape{}
		if f.Typed {
			f.Shape = shape.Prepend(w.Length)
		}
		out = out.With(f)
	}
	return out, nil
}

// Join makes the reader of runs.
func (w Windows) Join(r graph.Reader[*item.Sample]) (graph.Reader[*item.Sample], graph.Sampling, error) {
	if err := w.Check(); err != nil {
		return r, nil, fmt.Errorf("windows: %w", err)
	}
	w = registry.Filled(w, (*Windows).Bind)
	if r.Len < int64(w.Length) {
		return r, nil, fmt.Errorf("windows: the source has %d samples, fewer than one run of %d", r.Len, w.Length)
	}
	var order graph.Sampling = Sequential{}
	if w.Shuffled {
		order = Shuffled{}
	}
	return w.reader(r), order, nil
}

// Places is never asked for where Join is.
func (Windows) Places(int64, uint64) (graph.Places, error) {
	return nil, errors.New("windows join samples (*item.Sample), and this source makes other items")
}

func (w Windows) reader(r graph.Reader[*item.Sample]) graph.Reader[*item.Sample] {
	out := graph.Reader[*item.Sample]{
		Len: (r.Len-int64(w.Length))/int64(w.Stride) + 1, Close: r.Close, Fingerprint: r.Fingerprint,
		At: func(c *graph.Call, i int64) (*item.Sample, error) { return w.read(c, r, i*int64(w.Stride)) },
	}
	if r.NewWorker != nil {
		out.NewWorker = func(ctx context.Context) (graph.Reader[*item.Sample], error) {
			mine, err := r.NewWorker(ctx)
			if err != nil {
				return mine, err
			}
			mine.Len = r.Len
			return w.reader(mine), nil
		}
	}
	return out
}

// read joins the run that begins at index from. The first sample tells how large the fields are.
func (w Windows) read(c *graph.Call, r graph.Reader[*item.Sample], from int64) (*item.Sample, error) {
	var out *item.Sample
	whole := false
	defer func() { // also when the source panics
		if out != nil && !whole {
			out.Release()
		}
	}()
	var names []string
	for k := range w.Length {
		in, err := r.At(c, from+int64(k))
		if err != nil {
			return nil, err
		}
		if out == nil {
			names = fieldNames(in)
			out, err = w.begin(c, in)
		}
		if err == nil {
			err = join(out, names, k, in)
		}
		if err != nil {
			err = fmt.Errorf("sample %q of the run: %w", in.Key(), err)
		}
		in.Release()
		if err != nil {
			return nil, err
		}
	}
	whole = true
	return out, nil
}

func fieldNames(s *item.Sample) []string {
	names := make([]string, s.Len())
	for i := range names {
		names[i], _ = s.Field(i)
	}
	return names
}

// begin takes the memory of a run.
func (w Windows) begin(c *graph.Call, in *item.Sample) (*item.Sample, error) {
	out := item.NewSample(fmt.Sprintf("%s+%d", in.Key(), w.Length))
	for i := range in.Len() {
		name, v := in.Field(i)
		d, shape := v.DType(), v.Shape()
		switch v.Kind() {
		case item.KindInt, item.KindFloat:
		case item.KindImage, item.KindTensor:
			if shape.Rank() == item.MaxRank {
				out.Release()
				return nil, fmt.Errorf("field %q has %d dimensions already", name, item.MaxRank)
			}
		default:
			out.Release()
			return nil, fmt.Errorf("field %q is %v, which cannot be joined; windows join numbers", name, v.Kind())
		}
		dims := []int64{int64(w.Length)}
		for _, n := range shape.Dims() {
			dims = append(dims, int64(n))
		}
		if err := item.CheckShape(d, dims, math.MaxInt32); err != nil {
			out.Release()
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		joined := shape.Prepend(w.Length)
		out.Set(name, item.Tensor(c.Row(name, d, joined), d, joined))
	}
	return out, nil
}

// join writes a sample into its row.
func join(out *item.Sample, names []string, k int, in *item.Sample) error {
	if in.Len() != len(names) {
		return fmt.Errorf("%d fields, but %d in the first sample of the run", in.Len(), len(names))
	}
	for _, name := range names {
		v, to := in.Get(name), out.Get(name)
		if v == nil {
			return fmt.Errorf("field %q is missing, which the first sample of the run has", name)
		}
		row := to.Shape()
		n := len(to.Data()) / row.Dim(0)
		data := to.Data()[k*n : (k+1)*n]
		switch kind := v.Kind(); {
		case kind == item.KindInt && row.Rank() == 1 && to.DType() == item.Int64:
			binary.NativeEndian.PutUint64(data, uint64(v.Int()))
		case kind == item.KindFloat && row.Rank() == 1 && to.DType() == item.Float64:
			binary.NativeEndian.PutUint64(data, math.Float64bits(v.Float()))
		case (kind == item.KindImage || kind == item.KindTensor) && v.DType() == to.DType() && v.Shape().Prepend(row.Dim(0)) == row:
			copy(data, v.Data())
		default:
			return fmt.Errorf("field %q is %s, which does not fit the first sample of the run", name, v.Describe())
		}
	}
	return nil
}
