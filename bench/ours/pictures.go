package main

import (
	"os"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/tune"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// declare is the picture pipeline of examples/quickstart, without the planted slow stage.
func declare(c *command) (*graph.Pipeline, *graph.Out[batch]) {
	p := graph.New("pictures", graph.Seed(7), graph.Epochs(max(1, c.Epochs)))
	if c.Plain {
		p.With(graph.NoDigest(), graph.Untimed())
	}
	if c.Defaults || c.Trace {
		p.With(graph.KeepTimeline(), graph.Tuned(tune.Auto))
	}
	if c.Trace {
		p.With(graph.KeepTrace(500_000))
	}
	var order []graph.Option
	if !c.Sequence {
		order = append(order, graph.Sampler(sources.Shuffled{}))
	}
	var auto []graph.Option
	if c.Workers > 0 {
		auto = append(auto, graph.Workers(c.Workers))
	}
	index := "off"
	if c.Index {
		index = "memory"
	}
	files := graph.From[sample](p, "read", sources.Folder{Root: c.Root}, order...)
	at := graph.Via[sample, sample](files, "decode", stages.DecodeImage{Index: index}, auto...)
	at = graph.Via[sample, sample](at, "crop", stages.RandomResizedCrop{Size: 224, Scale: c.Scale, Ratio: c.Ratio})
	if !c.NoFlip {
		at = graph.Via[sample, sample](at, "flip", stages.RandomFlip{})
	}
	if !c.Bytes {
		at = graph.Via[sample, sample](at, "normalize", stages.Normalize{})
	}
	return p, graph.Output(graph.Via[sample, batch](at, "collate", stages.Collate{Size: c.Batch}), "train")
}

// pictures measures the second epoch of three, where the pipeline runs steadily: its batches are in part made during the
// epoch before it, and it makes as many of the one after it. With one epoch it is measured from Start.
func pictures(c *command) (answer, error) {
	p, out := declare(c)
	if c.FirstOnly {
		p.With(graph.Batches(1))
	}
	var file *os.File
	if c.Do == "dump" {
		var err error
		if file, err = os.Create(c.Out); err != nil {
			return answer{}, err
		}
		defer file.Close()
	}
	var n int64
	var sum float64
	var labels []int64
	var last *item.Column
	var failed error
	a, err := take(p, out, min(1, c.Epochs-1), func(b batch) {
		n += int64(b.Len())
		l := b.Column("label").Int64s()
		for _, v := range l {
			sum += float64(v)
		}
		if last = b.Column("image"); file != nil && failed == nil {
			labels = append(labels, l...)
			_, failed = file.Write(last.Data)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return a, err
	}
	a.Items, a.Sum, a.Labels = n, sum, labels
	for i := range last.Shape.Rank() {
		a.Shape = append(a.Shape, last.Shape.Dim(i))
	}
	a.DType = last.DType.String()
	return a, nil
}
