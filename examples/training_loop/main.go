// Command training_loop trains a small model over several epochs, measures it after each, and prints the report of the
// training pipeline at the end: which stage the loop waited for.
//
//	go run ./examples/training_loop
//
// The loop is the program's own. The body of its range statement is what the report calls the sink's busy time.
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
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

const (
	classes = 5
	side    = 16 // pictures are scaled down to side × side
	inputs  = 3 * side * side
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fit(ctx, os.Stdout, 4, 1500); err != nil {
		fmt.Fprintln(os.Stderr, "training_loop:", explain(err))
		os.Exit(1)
	}
}

// training declares the pipeline of the training set: pictures in a new order each epoch, cut and mirrored at random.
// A picture that cannot be decoded is skipped and counted, it does not end the run.
func training(epochs int, count int64) (*graph.Pipeline, *graph.Out[*item.Batch]) {
	p := graph.New("training", graph.Seed(1), graph.Epochs(epochs))
	files := graph.From(p, "read", sources.SyntheticImages{Count: count, Width: 96, Height: 72, Classes: classes},
		graph.Sampler(sources.Shuffled{}))
	pics := graph.Via(files, "decode", stages.DecodeImage{}, graph.OnError(graph.Skip))
	crops := graph.Via(pics, "crop", stages.RandomResizedCrop{Size: side, Scale: []float64{0.5, 1}})
	flips := graph.Via(crops, "flip", stages.RandomFlip{})
	norm := graph.Via(flips, "normalize", stages.Normalize{})
	batch := graph.Via(norm, "collate", stages.Collate{Size: 32, DropLast: true})
	return p, graph.Output(batch, "train")
}

// validation declares the pipeline of the pictures that the model is measured with: always the same, in the same order.
func validation() (*graph.Pipeline, *graph.Out[*item.Batch]) {
	p := graph.New("validation", graph.Seed(2))
	files := graph.From(p, "read", sources.SyntheticImages{Count: 200, Width: 96, Height: 72, Classes: classes})
	pics := graph.Via(files, "decode", stages.DecodeImage{})
	small := graph.Via(pics, "resize", stages.Resize{Size: []int{side, side}})
	norm := graph.Via(small, "normalize", stages.Normalize{})
	batch := graph.Via(norm, "collate", stages.Collate{Size: 50})
	return p, graph.Output(batch, "measure")
}

// fit trains for some epochs on count pictures. The report is printed whatever happens: it tells most about runs that
// went wrong.
func fit(ctx context.Context, w io.Writer, epochs int, count int64) error {
	p, out := training(epochs, count)
	run, err := p.Start(ctx)
	if err != nil {
		return err // every problem of the declaration at once, or the part that could not be opened
	}
	err = errors.Join(loop(ctx, w, run, out), run.Wait()) // leaving the loop early has ended the run
	fmt.Fprint(w, report.Table(run.Snapshot()))
	return err
}

// loop is what a training program consists of.
func loop(ctx context.Context, w io.Writer, run *graph.Run, out *graph.Out[*item.Batch]) error {
	var m model
	for epoch := range out.Epochs(run) {
		loss, n := 0.0, 0
		for batch, err := range epoch.All() {
			if err != nil {
				return nil // it has ended the run, and Wait gives it again
			}
			loss += m.step(batch.Column("image").Float32s(), batch.Column("label").Int64s(), 0.002)
			n++
			// The batch is valid until here. A program that needs it for longer calls batch.Keep, and later batch.Release.
		}
		right, err := measure(ctx, &m)
		if err != nil {
			return fmt.Errorf("validation after epoch %d: %w", epoch.Number, err)
		}
		fmt.Fprintf(w, "epoch %d: loss %.3f, %.0f %% right\n", epoch.Number, loss/float64(n), 100*right)
	}
	return nil
}

// measure runs the validation pipeline once and says which share of it the model gets right.
func measure(ctx context.Context, m *model) (float64, error) {
	p, out := validation()
	run, err := p.Start(ctx)
	if err != nil {
		return 0, err
	}
	right, all := 0, 0
	for batch, err := range out.All(run) {
		if err != nil {
			return 0, err
		}
		right += m.right(batch.Column("image").Float32s(), batch.Column("label").Int64s())
		all += batch.Len()
	}
	return float64(right) / float64(all), run.Wait()
}

// explain says more about the error of a run: which stage it was, and which sample.
func explain(err error) string {
	var e *graph.StageError
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Key == "" {
		return fmt.Sprintf("stage %s: %v", e.Stage, e.Err)
	}
	return fmt.Sprintf("stage %s cannot go on after sample %s of epoch %d: %v", e.Stage, e.Key, e.Pos.Epoch, e.Err)
}
