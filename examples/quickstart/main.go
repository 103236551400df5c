// Command quickstart is pipeline.yaml of this folder as a Go program: a folder of pictures, shuffled, into an emulated
// accelerator, and the report at the end. Without an argument the folder is data, and is filled with made-up pictures if
// it does not exist.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart ~/pictures/train
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder := sources.Folder{Root: "data", Synth: 400}
	if len(os.Args) > 1 {
		folder = sources.Folder{Root: os.Args[1]}
	}
	if err := run(ctx, folder); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// declare is the pipeline. Nothing is opened and nothing runs yet.
func declare(folder sources.Folder) *graph.Pipeline {
	p := graph.New("quickstart", graph.Seed(7), graph.Epochs(3))
	files := graph.From(p, "read", folder, graph.Sampler(sources.Shuffled{}))
	known := graph.Via(files, "look_up", stages.Delay[*item.Sample]{Time: graph.Fixed(2 * time.Millisecond)}, graph.Workers(1))
	pics := graph.Via(known, "decode", stages.DecodeImage{})
	crops := graph.Via(pics, "crop", stages.RandomResizedCrop{Size: 224})
	flips := graph.Via(crops, "flip", stages.RandomFlip{})
	norm := graph.Via(flips, "normalize", stages.Normalize{})
	batch := graph.Via(norm, "collate", stages.Collate{Size: 32})
	graph.Into(batch, "train", sinks.Accelerator[*item.Batch]{Step: graph.Fixed(20 * time.Millisecond)})
	return p
}

func run(ctx context.Context, folder sources.Folder) error {
	r, err := declare(folder).Start(ctx)
	if err != nil {
		return err
	}
	err = r.Wait()
	fmt.Print(report.Table(r.Snapshot()))
	return err
}
