// Command training_validation measures a model after every epoch of training. Both pipelines live within one budget: the
// training pipeline stays under way and full while the other runs, and takes up where it was.
//
//	go run ./examples/training_validation
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

const (
	classes = 4
	side    = 8 // pictures are scaled down to side × side
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fit(ctx, os.Stdout, 3, 240); err != nil {
		fmt.Fprintln(os.Stderr, "training_validation:", err)
		os.Exit(1)
	}
}

// declare makes a pipeline of pictures.
func declare(name string, count int64, sampler graph.Sampling, opts ...graph.PipelineOption) (*graph.Pipeline, *graph.Out[*item.Batch]) {
	p := graph.New(name, opts...)
	files := graph.From(p, "read", sources.SyntheticImages{Count: count, Width: 64, Height: 48, Classes: classes}, graph.Sampler(sampler))
	pics := graph.Via(files, "decode", stages.DecodeImage{})
	small := graph.Via(pics, "resize", stages.Resize{Size: []int{side, side}})
	norm := graph.Via(small, "normalize", stages.Normalize{})
	return p, graph.Output(graph.Via(norm, "collate", stages.Collate{Size: 24}), "model")
}

// fit trains for some epochs on count pictures and measures after each.
func fit(ctx context.Context, w io.Writer, epochs int, count int64) error {
	training, batches := declare("training", count, sources.Shuffled{}, graph.Seed(1), graph.Epochs(epochs),
		graph.WithBudget(graph.Budget{CPU: 1, Memory: 16 << 20}))
	// Declared before training is started, so that training leaves room for it. It is started once for each epoch.
	validation, measured := declare("validation", 96, sources.Sequential{}, graph.Seed(2), graph.Share(training))

	run, err := training.Start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(loop(ctx, w, run, batches, validation, measured), run.Wait())
}

func loop(ctx context.Context, w io.Writer, run *graph.Run, batches *graph.Out[*item.Batch], validation *graph.Pipeline, measured *graph.Out[*item.Batch]) error {
	var m means
	for epoch := range batches.Epochs(run) {
		for batch, err := range epoch.All() {
			if err != nil {
				return nil // it has ended the run, and Wait gives it again
			}
			m.learn(batch)
		}
		check, err := validation.Start(ctx) // training goes on reading until its part of the budget is full
		if err != nil {
			return err
		}
		right, all := 0, 0
		for batch, err := range measured.All(check) {
			if err != nil {
				break // as above
			}
			right, all = right+m.right(batch), all+batch.Len()
		}
		if err := check.Wait(); err != nil {
			return fmt.Errorf("validation after epoch %d: %w", epoch.Number, err)
		}
		mem := check.Snapshot().Memory
		fmt.Fprintf(w, "epoch %d: %d of %d right; the budget of both is %d MiB, exceeded by %d bytes\n",
			epoch.Number, right, all, mem.Limit>>20, mem.OverdraftPeak)
	}
	return nil
}
