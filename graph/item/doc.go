// Package item holds what travels on the edges of a pipeline: samples, batches, their values, their schema and their
// position in the stream.
//
// A [Sample] is one example with named fields. A [Batch] is a collated group of samples. Both own memory that is
// recycled, so both follow one rule: whoever holds an item releases it, once. A stage that returns a new item releases
// its input; the engine releases what is still in flight when a run is cancelled. In builds with the race detector a
// released buffer is overwritten, and using or releasing it again panics.
//
//	s := item.NewSample("cat.jpg")
//	s.Set("label", item.Int(3))
//	s.Set("image", item.Picture(buf, 224, 224, 3))
//	img, err := s.Need("image", item.KindImage)
//	...
//	s.Release()
//
// Nothing here starts a goroutine or does I/O. Samples and batches are not safe for use by several goroutines at once;
// handing one over on an edge hands over the right to use it.
package item
