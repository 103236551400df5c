package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// slow is the source of that name: 2 ms a sample, 1,024 numbers, batches of 64.
func slow(c *command) (answer, error) {
	p := graph.New("slow", graph.Seed(7))
	read := graph.From[sample](p, "read", sources.Slow{Count: c.Items, Delay: graph.Fixed(2 * time.Millisecond), FeatureDim: 1024},
		graph.Workers(c.Workers), graph.Sampler(sources.Shuffled{}))
	out := graph.Output(graph.Via[sample, batch](read, "collate", stages.Collate{Size: 64}), "train")
	var n int64
	var shape []int
	a, err := take(p, out, 0, func(b batch) {
		n += int64(b.Len())
		if s := b.Column("features").Shape; shape == nil {
			shape = []int{s.Dim(0), s.Dim(1)}
		}
	})
	a.Items, a.Shape, a.DType = n, shape, "float32"
	return a, err
}

// bare is the limit of slow: goroutines that sleep as long, and as slow does it, and fill as many numbers, each in a row of
// its own. There are no order, no batches and no digest.
func bare(c *command) (answer, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	sleep := time.Sleep
	if c.Workers <= 64 {
		sleep = systemSleep
	}
	began := time.Now()
	for range c.Workers {
		wg.Go(func() {
			row := make([]float32, 1024)
			for i := next.Add(1); i <= c.Items; i = next.Add(1) {
				sleep(2 * time.Millisecond)
				x := uint64(i)
				for k := range row {
					x = x*6364136223846793005 + 1442695040888963407
					row[k] = float32(int32(x>>32)>>7) / (1 << 24)
				}
			}
			runtime.KeepAlive(row)
		})
	}
	wg.Wait()
	return answer{Seconds: time.Since(began).Seconds(), Items: c.Items}, nil
}

// row is a sample of the workloads that have next to no work.
type row struct {
	Features [16]float32
	Label    int64
}

// numbered is the row of a number: the features count on from it, so that a sum tells whether all came once.
func numbered(i int) (r row) {
	for k := range r.Features {
		r.Features[k] = float32(i%4096 + k)
	}
	r.Label = int64(i)
	return r
}

func tinyRows(n int) sources.Slice[row] {
	rows := make(sources.Slice[row], n)
	for i := range rows {
		rows[i] = numbered(i)
	}
	return rows
}

// tiny has rows of 16 numbers in memory and gives batches of two columns, shuffled, with clocks and digest as by default.
func tiny(n int) func(*command) (answer, error) {
	features, labels := make([]float32, 0, 16*n), make([]int64, 0, n)
	for i := range n {
		r := numbered(i)
		features, labels = append(features, r.Features[:]...), append(labels, r.Label)
	}
	columns := []item.Column{item.ColumnOf("features", features, 16), item.ColumnOf("label", labels)}
	return func(c *command) (answer, error) {
		p := graph.New("tiny", graph.Seed(7), graph.Epochs(max(1, c.Epochs)))
		if c.Plain {
			p.With(graph.NoDigest(), graph.Untimed())
		}
		var o []graph.Option
		if c.Workers > 0 {
			o = append(o, graph.Workers(c.Workers))
		}
		out := graph.Output(graph.From[batch](p, "read", sources.Rows{Columns: columns, Size: c.Batch, Shuffled: true}, o...), "train")
		var sum float64
		var count int64
		var shape []int
		var first []int64
		a, err := take(p, out, min(1, c.Epochs-1), func(b batch) {
			count += int64(b.Len())
			l := b.Column("label").Int64s()
			for _, v := range l {
				sum += float64(v)
			}
			if first == nil {
				first = append(first, l...)
				shape = b.Column("features").Shape.Dims()
			}
		})
		a.Items, a.Sum, a.Labels, a.Shape, a.DType = count, sum, first, shape, "float32"
		return a, err
	}
}

// paths has a list of paths and gives batches of their lengths.
func paths(n int) func(*command) (answer, error) {
	list := sources.NewPaths(func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprintf("/data/imagenet/train/n%08d/n%08d_%d.JPEG", i%1000, i%1000, i)) {
				return
			}
		}
	})
	runtime.GC()
	return func(c *command) (answer, error) {
		p := graph.New("paths", graph.Seed(7), graph.NoDigest())
		read := graph.From(p, "read", sources.Map[string](list), graph.Workers(c.Workers), graph.Sampler(sources.Shuffled{}))
		lengths := graph.Via(read, "length", graph.Map(func(s string) (int, error) { return len(s), nil }), graph.Workers(c.Workers))
		out := graph.Output(graph.Via(lengths, "collect", graph.Collect[int](256)), "train")
		var sum float64
		var count int64
		a, err := take(p, out, 0, func(b []int) {
			count += int64(len(b))
			for _, v := range b {
				sum += float64(v)
			}
		})
		runtime.KeepAlive(list)
		a.Items, a.Sum = count, sum
		return a, err
	}
}

// turnaround runs epochs of one batch; Seconds is the mean of an epoch, the first left out.
func turnaround(c *command) (answer, error) {
	p := graph.New("turnaround", graph.Seed(7), graph.Epochs(c.Epochs), graph.NoDigest())
	read := graph.From(p, "read", sources.Map[row](tinyRows(64)), graph.Workers(c.Workers), graph.Sampler(sources.Shuffled{}))
	out := graph.Output(graph.Via(read, "collect", graph.Collect[row](64)), "train")
	var a answer
	run, err := p.Start(context.Background())
	if err != nil {
		return a, err
	}
	var from time.Time
	for epoch := range out.Epochs(run) {
		for b, err := range epoch.All() {
			if err != nil {
				return a, err
			}
			a.Items += int64(len(b))
			a.Batches++
		}
		if epoch.Number == 0 {
			from = time.Now()
		}
	}
	a.Seconds = time.Since(from).Seconds() / float64(max(1, c.Epochs-1))
	return a, run.Wait()
}
