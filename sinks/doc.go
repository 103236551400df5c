// Package sinks holds the ends of pipelines: an emulated accelerator, a function for each item, and nothing at all. A
// training loop of one's own is [graph.Output] instead.
//
//	graph.Into(batch, "train", sinks.Accelerator[*item.Batch]{Step: graph.Fixed(30 * time.Millisecond)})
//	graph.Into(batch, "train", sinks.Each(func(ctx context.Context, b *item.Batch) error {
//		return model.Step(ctx, b.Column("image").Float32s(), b.Column("label").Int64s())
//	}))
//	graph.Into(batch, "train", sinks.Discard[*item.Batch]{}) // how fast can the pipeline be?
//
// [Inlet] sends to a channel, for connectors that others have written.
//
// A sink takes one item at a time, in order, on one goroutine. The engine releases the item afterwards, so a sink that
// wants to keep something copies it.
package sinks
