package graph

import (
	"sync"

	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
)

// slotter lends places in batches that are being filled to the stage before the group.
type slotter struct {
	find    func(epoch int32, epochLo, ordinal int64, field string, d item.DType, s item.Shape) []byte
	buffers sync.Pool
}

func newSlotter[A, B any](e *engine.Group[A, B, item.Row], place func(B, int, string, item.DType, item.Shape) []byte) *slotter {
	s := &slotter{find: func(epoch int32, epochLo, ordinal int64, field string, d item.DType, shape item.Shape) []byte {
		v, row, ok := e.Slot(epoch, epochLo, ordinal)
		if !ok {
			return nil
		}
		return place(v, row, field, d, shape)
	}}
	s.buffers.New = func() any { return new(item.Buffer) }
	return s
}

func (s *slotter) take(c *Call, field string, d item.DType, shape item.Shape) *item.Buffer {
	ordinal, epochLo := c.place()
	data := s.find(c.tag.Epoch, epochLo, ordinal, field, d, shape)
	if data == nil {
		return nil
	}
	b := s.buffers.Get().(*item.Buffer)
	b.Reuse(data, nil, s) // the memory is the batch's: a release does not touch it
	return b
}

// Back takes the buffer, not the memory, back.
func (s *slotter) Back(b *item.Buffer, _ []byte) { s.buffers.Put(b) }
