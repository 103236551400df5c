package sources

import (
	"context"
	"strconv"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Source[Range](registry.Meta{
	Name: "range", Summary: "Counts: makes samples that hold only their index.", Example: "range: {count: 1000}",
}, (*Range).Bind))

// Range makes samples that hold nothing but their index, from 0 to Count-1, in the field index. It is for experiments
// and tests. It does no I/O and may be read by any number of workers. Cost: about 100 ns a sample, most of it for the
// key.
type Range struct {
	Count int64
}

// Bind names the fields.
func (r *Range) Bind(f *registry.Fields) {
	f.Int64(&r.Count, "count", 1000, "how many samples an epoch has", registry.Min(1))
}

// Check refuses settings that are out of range.
func (r Range) Check() error { return registry.Check(&r, (*Range).Bind) }

// Schema is the index.
func (Range) Schema(item.Schema) (item.Schema, error) {
	return item.Schema{Fields: []item.FieldSpec{{Name: fieldIndex, Kind: item.KindInt, Typed: true, DType: item.Int64}}}, nil
}

// Open makes the reader.
func (r Range) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	r = registry.Filled(r, (*Range).Bind)
	return graph.Reader[*item.Sample]{
		Len: r.Count,
		At: func(_ *graph.Call, i int64) (*item.Sample, error) {
			s := item.NewSample(indexKey(i))
			s.Set(fieldIndex, item.Int(i))
			return s, nil
		},
	}, nil
}

// indexKey is the key of samples that have no name.
func indexKey(i int64) string {
	return string(strconv.AppendInt(append(make([]byte, 0, 20), '#'), i, 10))
}
