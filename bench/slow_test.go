package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/sources"
)

const featureDim = 1024

// BenchmarkSlow compares the source slow with bare goroutines that do the same sleep and fill at the same count. Both
// alternate; ratio is the median of the pairs, rss_MB the most that the process has held. Bare goroutines make no digest,
// which is on by default; it is measured with and without.
func BenchmarkSlow(b *testing.B) {
	for _, workers := range []int{16, 256, 1024} {
		for _, digest := range []bool{false, true} {
			b.Run(fmt.Sprintf("workers=%d/digest=%v", workers, digest), func(b *testing.B) {
				n := max(20_000, 200*workers)
				var ratios []float64
				var ours, bare float64
				for range 5 {
					bare = bareRate(n, workers)
					ours = pipelineRate(b, n, workers, digest)
					ratios = append(ratios, ours/bare)
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
				b.ReportMetric(ratios[0], "ratio_min")
				b.ReportMetric(ours, "items/s")
				b.ReportMetric(bare, "bare/s")
				b.ReportMetric(rssMB(), "rss_MB")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

var rows atomic.Pointer[[]float32]

// bareRate is the limit: goroutines that take a number, sleep, and fill numbers into recycled memory.
func bareRate(n, workers int) float64 {
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range workers {
		wg.Go(func() {
			row := make([]float32, featureDim)
			rows.Store(&row) // so that the compiler does not leave the filling out
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				time.Sleep(2 * time.Millisecond)
				x := uint64(i)
				for k := range row {
					x = x*6364136223846793005 + 1442695040888963407
					row[k] = float32(int32(x>>32)>>7) / (1 << 24)
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(start).Seconds()
}

func pipelineRate(b *testing.B, n, workers int, digest bool) float64 {
	p := graph.New("slow")
	if !digest {
		p.With(graph.NoDigest())
	}
	src := graph.From(p, "read", sources.Slow{Count: int64(n), Delay: graph.Fixed(2 * time.Millisecond), FeatureDim: featureDim}, graph.Workers(workers))
	out := graph.Output(src, "train")
	start := time.Now()
	run, err := p.Start(context.Background())
	require.NoError(b, err)
	rows := 0
	for _, err := range out.All(run) {
		if err != nil { // require.NoError looks at the stack, which takes as long as handing the row over
			b.Fatal(err)
		}
		rows++
	}
	require.NoError(b, run.Wait())
	require.Equal(b, n, rows)
	return float64(n) / time.Since(start).Seconds()
}

func rssMB() float64 {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			return kib / 1024
		}
	}
	return 0
}
