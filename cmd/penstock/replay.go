package main

import (
	"context"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

// Bounds of what is recorded to be replayed.
const (
	mostSamples  = 512
	mostBatches  = 16
	mostRecorded = 256 << 20 // bytes
)

// unending is more items than any run takes, so that a replay has no epoch edges.
const unending = 1 << 40

// replay is a source that hands recorded items out again and again.
type replay[T any] struct {
	items  []T
	schema item.Schema
	share  func(c *graph.Call, v T) T
	size   int64 // items of an epoch
}

func taped[T any](id string, r replay[T]) *tape {
	each := r
	each.size = int64(len(r.items))
	return &tape{len(r.items), feeds{id: r.feed(id)}, feeds{id: each.feed(id)}}
}

// Kind is the name in reports.
func (replay[T]) Kind() string { return "replay" }

// Schema is that of the edge that was recorded.
func (r replay[T]) Schema(item.Schema) (item.Schema, error) { return r.schema, nil }

func (r replay[T]) Open(context.Context, *graph.Env) (graph.Reader[T], error) {
	return graph.Reader[T]{Len: r.size, At: func(c *graph.Call, i int64) (T, error) {
		return r.share(c, r.items[int(i%int64(len(r.items)))]), nil
	}}, nil
}

// feed declares the source in place of a stage.
func (r replay[T]) feed(id string) func(p *graph.Pipeline) registry.Port {
	return func(p *graph.Pipeline) registry.Port {
		return registry.MakePort(graph.From[T](p, id, r, graph.Workers(2)))
	}
}

// recordedSamples replays samples. Their memory is shared, not copied: a stage that writes in place copies first.
func recordedSamples(all []*item.Sample, schema item.Schema) replay[*item.Sample] {
	return replay[*item.Sample]{size: unending, items: all, schema: schema, share: func(_ *graph.Call, s *item.Sample) *item.Sample {
		out := item.NewSample(s.Key())
		for i := range s.Len() {
			name, v := s.Field(i)
			if b := v.Buffer(); b != nil {
				b.Retain()
			}
			out.Set(name, *v)
		}
		return out
	}}
}

// recordedBatches replays batches. Each time there is a new batch over the same columns. Their rows are of the one source
// that a replay has.
func recordedBatches(all []*item.Batch, schema item.Schema) replay[*item.Batch] {
	for _, b := range all {
		for i := range b.Rows {
			b.Rows[i].Pos = item.Pos{Place: b.Rows[i].Pos.Place}
		}
	}
	return replay[*item.Batch]{size: unending, items: all, schema: schema, share: func(_ *graph.Call, b *item.Batch) *item.Batch {
		return &item.Batch{Epoch: b.Epoch, Number: b.Number, Rows: b.Rows, Columns: slices.Clone(b.Columns), Place: b.Place}
	}}
}

// copySample is a sample with memory of its own.
func copySample(s *item.Sample) *item.Sample {
	out := item.NewSample(s.Key())
	for i := range s.Len() {
		name, v := s.Field(i)
		c := *v
		if data := v.Data(); len(data) > 0 {
			b := item.Heap.Take(len(data))
			copy(b.Data, data)
			switch sh := v.Shape(); v.Kind() {
			case item.KindImage:
				c = item.Picture(b, sh.Dim(0), sh.Dim(1), sh.Dim(2))
			case item.KindTensor:
				c = item.Tensor(b, v.DType(), sh)
			default:
				c = item.Bytes(b)
			}
		}
		out.Set(name, c)
	}
	return out
}

// copyBatch is a batch with memory of its own.
func copyBatch(b *item.Batch) *item.Batch {
	out := &item.Batch{Epoch: b.Epoch, Number: b.Number, Rows: slices.Clone(b.Rows), Columns: slices.Clone(b.Columns), Place: b.Place}
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Data, c.Texts, c.Blobs = slices.Clone(c.Data), slices.Clone(c.Texts), slices.Clone(c.Blobs)
		for k := range c.Blobs {
			c.Blobs[k] = slices.Clone(c.Blobs[k])
		}
	}
	return out
}
