package stages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[Collate](registry.Meta{
	Name: "collate", Summary: "Joins samples into batches, field by field.",
	Example: "collate: {size: 64}",
}, (*Collate).Bind))

// Collate joins Size samples of one epoch into a batch, in input order. The last batch of an epoch may be short;
// DropLast leaves it out and counts its samples as dropped.
//
// The first sample fixes the layout: which fields there are, of which kind, dtype and shape. A sample that differs is
// an error that names both: nothing is padded, cut, converted or left out. Images and tensors become columns with the
// batch dimension first, ints int64 columns, floats float64 columns; text and bytes, whose lengths vary, keep one entry
// a row in Texts and Blobs. All columns lie in one slab, at multiples of [item.Align]; it is taken once and filled again, and
// is page-locked memory of a device where pin stands below.
//
// Which sample comes into which row is decided one at a time; rows are copied by all workers at once. Cost: a copy of
// the sample's bytes (BenchmarkCollateRow puts it beside memcpy).
type Collate struct {
	Size     int
	DropLast bool
}

// Bind names the fields.
func (c *Collate) Bind(f *registry.Fields) {
	f.Int(&c.Size, "size", 32, "samples in a batch", registry.Min(1), registry.Max(1<<24))
	f.Bool(&c.DropLast, "drop_last", "leave a short last batch out")
}

// Check refuses settings that are out of range.
func (c Collate) Check() error { return registry.Check(&c, (*Collate).Bind) }

// Schema is that of batches of the input's fields.
func (Collate) Schema(in item.Schema) (item.Schema, error) {
	out := item.Schema{Open: in.Open, Batch: true, Place: in.Place}
	for _, f := range in.Fields {
		if d, ok := scalarType(f.Kind); ok {
			f.Typed, f.DType, f.Shape = true, d, item.Shape{}
		}
		if f.Kind == item.KindTensor && f.Typed && f.Shape.Rank() >= item.MaxRank {
			return out, fmt.Errorf("field %q: %w", f.Name, tooDeep(f.Shape))
		}
		out = out.With(f)
	}
	return out, nil
}

func scalarType(k item.Kind) (item.DType, bool) {
	switch k {
	case item.KindInt:
		return item.Int64, true
	case item.KindFloat:
		return item.Float64, true
	}
	return 0, false
}

func tooDeep(s item.Shape) error {
	return fmt.Errorf("a tensor of %v leaves no room for the batch dimension: %d are supported", s, item.MaxRank)
}

// Open makes the transform. The layout belongs to the run.
func (c Collate) Open(_ context.Context, env *graph.Env) (graph.Transform[*item.Sample, *item.Batch], error) {
	c = registry.Filled(c, (*Collate).Bind)
	l := &layout{size: c.Size, memory: env.Slab}
	return graph.Transform[*item.Sample, *item.Batch]{Group: &graph.Group[*item.Sample, *item.Batch]{
		Size: c.Size, DropLast: c.DropLast,
		First: l.fix, Slab: l.slab, Row: l.row, Place: l.place, Fill: l.fill, Done: l.done,
	}}, nil
}

// layout is what the first sample fixed. It is only read once it is.
type layout struct {
	size   int
	memory func(int) ([]byte, error)
	slabs  int    // bytes of a batch
	first  string // key of the first sample
	cols   []column
}

type column struct {
	name  string
	kind  item.Kind
	dtype item.DType
	shape item.Shape
	bytes int // of a row in Data

	offset int // of Data in the slab
}

func (l *layout) fix(in *item.Sample) error {
	l.first, l.cols = in.Key(), make([]column, in.Len())
	total, at := 0, 0
	for i := range l.cols {
		name, v := in.Field(i)
		c := column{name: name, kind: v.Kind(), dtype: v.DType(), shape: v.Shape()}
		switch c.kind {
		case item.KindNone:
			return fmt.Errorf("field %q holds nothing", name)
		case item.KindInt, item.KindFloat:
			c.bytes = 8
		case item.KindImage, item.KindTensor:
			if c.shape.Rank() >= item.MaxRank {
				return fmt.Errorf("field %q: %w", name, tooDeep(c.shape))
			}
			c.bytes = len(v.Data())
		}
		if total += c.bytes; total > math.MaxInt/l.size {
			return fmt.Errorf("a batch of %d samples of %d bytes does not fit in memory; lower size", l.size, total)
		}
		c.offset = at
		at += (l.size*c.bytes + item.Align - 1) &^ (item.Align - 1)
		l.cols[i] = c
	}
	if len(l.cols) == 0 {
		return errors.New("the sample has no fields, so there is nothing to collate")
	}
	l.slabs = at
	return nil
}

// slab takes the memory of one batch. All columns lie in one piece, so that a device can be given it by one copy.
func (l *layout) slab() (*item.Batch, error) {
	b := &item.Batch{Columns: make([]item.Column, len(l.cols))}
	if l.slabs > 0 {
		var err error
		if b.Slab, err = l.memory(l.slabs); err != nil {
			return nil, err
		}
	}
	for i, c := range l.cols {
		out := item.Column{Name: c.name, Kind: c.kind, DType: c.dtype, Shape: c.shape.Prepend(l.size)}
		switch c.kind {
		case item.KindText:
			out.Texts = make([]string, l.size)
		case item.KindBytes:
			out.Blobs = make([][]byte, l.size)
		default:
			end := c.offset + l.size*c.bytes
			out.Data, out.Offset = b.Slab[c.offset:end:end], c.offset
		}
		b.Columns[i] = out
	}
	return b, nil
}

// row copies a sample into its place. Workers write to rows of one slab at once, so nothing but the row is touched; the
// columns may still be cut to the length of the batch before.
func (l *layout) row(_ *graph.Call, out *item.Batch, row int, in *item.Sample) error {
	if in.Len() != len(l.cols) {
		return l.odd(in)
	}
	for i := range l.cols {
		c := &l.cols[i]
		name, v := in.Field(i)
		if name != c.name {
			if v = in.Get(c.name); v == nil {
				return l.odd(in)
			}
		}
		if v.Kind() != c.kind || v.DType() != c.dtype || v.Shape() != c.shape {
			return l.ragged(c, v)
		}
		put(&out.Columns[i], c, row, v)
	}
	in.Release()
	return nil
}

func put(to *item.Column, c *column, row int, v *item.Value) {
	data := to.Data[:cap(to.Data)]
	switch c.kind {
	case item.KindInt:
		binary.NativeEndian.PutUint64(data[row*8:], uint64(v.Int()))
	case item.KindFloat:
		binary.NativeEndian.PutUint64(data[row*8:], math.Float64bits(v.Float()))
	case item.KindText:
		to.Texts[:cap(to.Texts)][row] = v.Text()
	case item.KindBytes:
		blob := &to.Blobs[:cap(to.Blobs)][row]
		*blob = append((*blob)[:0], v.Data()...)
	default:
		if to, from := data[row*c.bytes:(row+1)*c.bytes], v.Data(); len(to) > 0 && &to[0] != &from[0] {
			copy(to, from) // else the stage before has written it here, see place
		}
	}
}

// place finds a field's memory in a row for the stage before, if its layout is that of the batch.
func (l *layout) place(out *item.Batch, row int, field string, d item.DType, s item.Shape) []byte {
	for i := range l.cols {
		c := &l.cols[i]
		if c.name == field && c.dtype == d && c.shape == s && (c.kind == item.KindTensor || c.kind == item.KindImage) {
			data := out.Columns[i].Data
			return data[:cap(data)][row*c.bytes : (row+1)*c.bytes : (row+1)*c.bytes]
		}
	}
	return nil
}

// odd says which fields a sample has too many or too few. The engine puts the sample's key before it.
func (l *layout) odd(in *item.Sample) error {
	for _, c := range l.cols {
		if in.Get(c.name) == nil {
			return fmt.Errorf("field %q is missing; the first sample, %q, has %s, and samples of a batch must have the same",
				c.name, l.first, l.fields())
		}
	}
	for i := range in.Len() {
		name, _ := in.Field(i)
		if !slices.ContainsFunc(l.cols, func(c column) bool { return c.name == name }) {
			return fmt.Errorf("field %q is one too many; the first sample, %q, has %s, and samples of a batch must have the same",
				name, l.first, l.fields())
		}
	}
	return fmt.Errorf("%d fields; the first sample, %q, has %s", in.Len(), l.first, l.fields())
}

func (l *layout) fields() string {
	s := ""
	for i, c := range l.cols {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q", c.name)
	}
	return s
}

func (l *layout) ragged(c *column, v *item.Value) error {
	way := "samples of a batch must agree"
	switch {
	case v.Kind() == item.KindImage && c.kind == item.KindImage:
		way = "put resize or a crop before collate"
	case v.Kind() == item.KindBytes && c.kind == item.KindImage, v.Kind() == item.KindImage && c.kind == item.KindBytes:
		way = "decode all samples or none"
	}
	return fmt.Errorf("field %q is %s, but %s in the first sample, %q; %s", c.name, v.Describe(), c.describe(), l.first, way)
}

func (c *column) describe() string {
	switch c.kind {
	case item.KindImage:
		return "image " + c.shape.String()
	case item.KindTensor:
		return fmt.Sprintf("tensor %v %v", c.dtype, c.shape)
	}
	return c.kind.String()
}

// fill copies a row for a sample that was skipped.
func (l *layout) fill(out *item.Batch, to, from int) {
	for i := range l.cols {
		c := &out.Columns[i]
		switch c.Kind {
		case item.KindText:
			t := c.Texts[:cap(c.Texts)]
			t[to] = t[from]
		case item.KindBytes:
			b := c.Blobs[:cap(c.Blobs)]
			b[to] = append(b[to][:0], b[from]...)
		default:
			n, data := l.cols[i].bytes, c.Data[:cap(c.Data)]
			copy(data[to*n:(to+1)*n], data[from*n:(from+1)*n])
		}
	}
}

// done cuts the columns to n rows and labels the batch.
func (l *layout) done(out *item.Batch, n int, number int64, meta []item.Row, free func()) *item.Batch {
	out.Number, out.Handle = number, nil
	out.Rows = meta
	if len(meta) > 0 {
		out.Epoch = meta[0].Pos.Epoch
	}
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Shape = l.cols[i].shape.Prepend(n)
		switch c.Kind {
		case item.KindText:
			c.Texts = c.Texts[:n]
		case item.KindBytes:
			c.Blobs = c.Blobs[:n]
		default:
			c.Data = c.Data[:n*l.cols[i].bytes]
		}
	}
	out.OnRelease(free)
	return out
}
