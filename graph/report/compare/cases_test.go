package compare_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/report/compare"
)

// made is a made-up run: read and decode before a sink that takes 10 ms.
type made struct {
	read, decode time.Duration
	workers      int
	text         string
	overrides    []string
	version      string
	digest       string
	samples      int64
}

func base() made {
	return made{read: 4 * time.Millisecond, decode: 20 * time.Millisecond, workers: 1, version: "1.0.0", digest: "aa11", samples: 1000,
		text: "pipeline: made\nseed: 7\nstages:\n  - {id: read, folder: {root: data}}\n  - id: decode\n    decode_image: {}\n    workers: 1\n  - {id: train, accelerator: {step: 10ms}}\n"}
}

// snapshot is what such a run measures; each times its figures by a factor of its own.
func (m made) snapshot(noise func() float64) graph.Snapshot {
	some := func(x float64) *float64 { return &x }
	times := func(d time.Duration) time.Duration { return time.Duration(float64(d) * noise()) }
	each := times(max(m.read, m.decode/time.Duration(m.workers), 10*time.Millisecond))
	elapsed := each * time.Duration(m.samples)
	flat := func(d time.Duration) graph.Distribution {
		return graph.Distribution{Count: m.samples, Mean: d, P50: d, P95: d + d/10, P99: d + d/5, Max: 2 * d}
	}
	stage := func(id, kind string, d time.Duration, workers int, from ...string) graph.StageStats {
		d = times(d)
		busy := d * time.Duration(m.samples)
		life := elapsed * time.Duration(workers)
		return graph.StageStats{ID: id, Kind: kind, Load: graph.Wait, Workers: workers, Buffer: 2 * workers, Window: 4 * workers, From: from,
			ItemsIn: m.samples, ItemsOut: m.samples, Busy: busy, WaitIn: max(0, life-busy), Lifetime: life, Service: flat(d), Resolution: "item",
			Capacity: some(float64(workers) / d.Seconds()), Utilisation: some(min(1, float64(busy)/float64(life)))}
	}
	first := times(50 * time.Millisecond)
	wait := max(0, elapsed-10*time.Millisecond*time.Duration(m.samples))
	s := graph.Snapshot{Pipeline: "made", World: 1, Digest: &m.digest, Spec: graph.SpecInfo{Text: m.text, Fingerprint: fmt.Sprint(len(m.text)), Overrides: m.overrides},
		Environment: graph.Environment{CPU: "a processor", Cores: 4, CoresQuota: 4, OS: "linux", Go: "go1.26.0", Version: m.version},
		Totals:      graph.Totals{Epochs: 1, Samples: m.samples, Elapsed: elapsed, FirstBatch: &first, Balanced: true},
		Sink: graph.SinkStats{Wait: wait, Busy: elapsed - wait, SteadyWait: wait, SteadyBusy: elapsed - wait, Steady: wait, SteadyItems: m.samples,
			WaitRatio: some(float64(wait) / float64(elapsed)), Waits: flat(wait / time.Duration(m.samples))},
		Blame:  []graph.Blame{{Stage: "decode", Cause: graph.CauseService, Phase: graph.PhaseSteady, Time: wait}},
		Memory: graph.MemoryStats{PeakRSS: int64(200e6 * noise())},
	}
	s.Stages = []graph.StageStats{stage("read", "folder", m.read, 1), stage("decode", "decode_image", m.decode, m.workers, "read"),
		stage("train", "accelerator", 10*time.Millisecond, 1, "decode")}
	return s
}

func quiet() float64 { return 1 }

// shaking draws factors around 1 with a standard deviation of cv.
func shaking(r *rand.Rand, cv float64) func() float64 {
	return func() float64 { return max(0.2, 1+cv*r.NormFloat64()) }
}

func read(t testing.TB, name string, s graph.Snapshot) *compare.Report {
	t.Helper()
	text, err := report.JSON(s)
	require.NoError(t, err)
	r, err := compare.Read(name, text)
	require.NoError(t, err)
	return r
}

// runs are n runs of a side.
func runs(t testing.TB, name string, n int, m made, noise func() float64) []*compare.Report {
	t.Helper()
	var all []*compare.Report
	for i := range n {
		all = append(all, read(t, fmt.Sprintf("%s/%d.json", name, i), m.snapshot(noise)))
	}
	return all
}

func of(t testing.TB, a, b []*compare.Report) *compare.Comparison {
	t.Helper()
	c, err := compare.Of(a, b)
	require.NoError(t, err)
	return c
}

func figure(t testing.TB, c *compare.Comparison, path string) *compare.Figure {
	t.Helper()
	for _, f := range c.Figures {
		if f.Path == path {
			return f
		}
	}
	require.Fail(t, "no such figure", path)
	return nil
}
