package report_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// hostile makes snapshots out of numbers that hurt: zero, one, the largest, negative, NaN.
type hostile struct{ *rand.Rand }

func (h hostile) count() int64 {
	all := []int64{0, 0, 1, 2, 64, 6400, 1 << 40, math.MaxInt64, -1, math.MinInt64}
	return all[h.IntN(len(all))]
}

func (h hostile) time() time.Duration {
	if h.IntN(2) == 0 {
		return time.Duration(h.Int64N(int64(time.Hour)))
	}
	return time.Duration(h.count())
}

func (h hostile) float() *float64 {
	all := []float64{0, 1, 0.5, 0.049, 0.9, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), -1, 5e-324, 16}
	if i := h.IntN(len(all) + 1); i < len(all) {
		return &all[i]
	}
	return nil
}

func (h hostile) distribution() graph.Distribution {
	return graph.Distribution{Count: h.count(), Mean: h.time(), P50: h.time(), P95: h.time(), P99: h.time(), Max: h.time(),
		Buckets: []graph.Bucket{{Upto: h.time(), Count: h.count()}}}
}

func (h hostile) pick(all ...string) string { return all[h.IntN(len(all))] }

var hostileIDs = []string{"a", "b", "c", "", "an id that is far longer than any column of the table is wide", "nl\n\x1b[2J\xff|*"}

func (h hostile) snapshot() graph.Snapshot {
	s := graph.Snapshot{Pipeline: h.pick(hostileIDs...), Running: h.IntN(2) == 0, Err: h.pick("", "it broke\nbadly"), CPU: h.time(), CPUWait: h.time(),
		DigestTime: h.time(), GCPause: h.time(), Rank: int(h.count()), World: int(h.count()), Digest: some(h.pick(hostileIDs...))}
	s.Environment = graph.Environment{Cores: int(h.count())}
	if q := h.float(); q != nil {
		s.Environment.CoresQuota = *q
	}
	s.Totals = graph.Totals{Epochs: h.count(), Samples: h.count(), Batches: h.count(), Bytes: h.count(), Elapsed: h.time(),
		FirstBatch: some(h.time()), Skipped: h.count(), Failed: h.count(), Dropped: h.count()}
	s.Expected = graph.Expected{Epochs: some(h.count()), Samples: some(h.count())}
	s.Sink = graph.SinkStats{Launches: &graph.LaunchStats{Busy: h.time(), Late: h.distribution()}, Wait: h.time(), Busy: h.time(), SteadyWait: h.time(), SteadyBusy: h.time(), SteadyItems: h.count(),
		WaitRatio: h.float(), DeviceWaitRatio: h.float(), Waits: h.distribution(), Startup: h.time(), Steady: h.time(), EpochEdge: h.time()}
	s.Memory = graph.MemoryStats{PeakRSS: h.count(), InFlightPeak: h.count(), OverdraftPeak: h.count(), BytesKnown: h.IntN(2) == 0,
		Estimate: some(h.count()), Limit: h.count(), SlabsPeak: h.count()}
	if h.IntN(2) == 0 {
		s.Memory.Estimated = &graph.MemoryEstimate{At: h.time(), InFlight: h.count(), Slabs: h.count(), Caches: h.count(), Full: h.count(),
			Resident: h.count(), Slowest: h.pick(hostileIDs...), Parts: []graph.MemoryPart{{Stage: h.pick(hostileIDs...), Part: graph.PartEdge,
				Items: h.count(), Full: h.count(), Each: h.count(), Size: h.count()}}}
	}
	for range h.IntN(6) {
		s.Stages = append(s.Stages, h.stage())
	}
	for range h.IntN(8) {
		s.Blame = append(s.Blame, graph.Blame{Stage: h.pick(hostileIDs...), Time: h.time(),
			Cause: h.pick(graph.CauseService, graph.CauseQueue, graph.CauseWindow, graph.CauseSlabs, graph.CauseCopy, graph.CauseStart, graph.CauseEnd, graph.CauseUnattributed),
			Phase: h.pick(graph.PhaseSteady, graph.PhaseSteady, graph.PhaseStartup, graph.PhaseEpochEdge)})
	}
	for range h.IntN(3) {
		s.Epochs = append(s.Epochs, graph.EpochStats{Epoch: h.count(), Samples: h.count(), Batches: h.count(), Elapsed: h.time(),
			EdgeGap: some(h.time()), ItemsIn: map[string]int64{"a": h.count()}, PeakRSS: h.count(), Goroutines: int(h.count())})
	}
	for range h.IntN(3) {
		m := graph.MixStats{ID: h.pick(hostileIDs...)}
		for range h.IntN(4) {
			in := graph.MixInput{ID: h.pick(hostileIDs...), Delivered: h.float(), Items: h.count()}
			if q := h.float(); q != nil {
				in.Asked = *q
			}
			m.Inputs = append(m.Inputs, in)
		}
		s.Mix = append(s.Mix, m)
	}
	if h.IntN(2) == 0 {
		s.Timeline = h.timeline()
	}
	h.parts(&s)
	h.told(&s)
	return s
}

// told adds what came last, so that the snapshots of older seeds stay as they were: moves of settings, the use of devices.
func (h hostile) told(s *graph.Snapshot) {
	number := func() float64 {
		if x := h.float(); x != nil {
			return *x
		}
		return 0
	}
	for range h.IntN(12) {
		s.Decisions = append(s.Decisions, graph.Decision{Move: graph.Move{Stage: h.pick(hostileIDs...), Key: h.pick("workers", hostileIDs[5]),
			From: int(h.count()), To: int(h.count()), Why: h.pick(hostileIDs...)}, Second: number(), Before: number(), After: number(),
			Kept: h.IntN(2) == 0, Open: h.IntN(4) == 0})
	}
	for i := range s.Devices {
		s.Devices[i].Use = &graph.DeviceUse{Asked: h.count(), Told: h.count(), Busy: h.float(), Memory: h.count(), MemoryUsed: h.count(),
			LinkGeneration: int(h.count()), LinkWidth: int(h.count()), LinkGenerationLimit: int(h.count()), LinkWidthLimit: int(h.count()),
			Missing: h.pick("", "", hostileIDs[5])}
	}
}

// parts adds what only some pipelines have: caches, devices, items that others waited behind.
func (h hostile) parts(s *graph.Snapshot) {
	for range h.IntN(3) {
		s.Caches = append(s.Caches, graph.CacheStats{ID: h.pick(hostileIDs...), Hits: h.count(), Misses: h.count(), Bytes: h.count(),
			Limit: h.count(), HitShare: h.float(), BestHitShare: h.float()})
		s.Devices = append(s.Devices, graph.DeviceStats{Name: h.pick(hostileIDs...), Stage: h.pick(hostileIDs...), Copies: h.count(),
			Bytes: h.count(), CopyTime: h.time(), CopiedBytes: h.count(), StagedCopies: h.count(), PinnedBytes: h.count(),
			PoolStall: h.time(), Depth: int(h.count()), Steps: h.count(), Busy: h.time(), Idle: h.time(), SteadyIdle: h.time()})
	}
	for i := range s.Epochs {
		s.Epochs[i].Wait, s.Epochs[i].Caches = h.time(), []graph.CacheEpoch{{ID: h.pick(hostileIDs...), Hits: h.count(), Misses: h.count()}}
	}
	for i := range s.Stages {
		s.Stages[i].Stragglers = []graph.Straggler{{Key: h.pick(hostileIDs...), Times: h.count(), Held: h.time(), Blocked: h.time()}}
	}
}

func (h hostile) timeline() *graph.Timeline {
	t := &graph.Timeline{Bucket: h.time(), Until: h.time()}
	for range h.IntN(5) {
		l := graph.StageLine{ID: h.pick(hostileIDs...), Workers: int(h.count())}
		for range h.IntN(4) {
			l.WaitIn, l.Busy, l.WaitOut = append(l.WaitIn, h.time()), append(l.Busy, h.time()), append(l.WaitOut, h.time())
			if q := h.float(); q != nil {
				l.Queue = append(l.Queue, *q)
			}
		}
		t.Stages, t.Waits = append(t.Stages, l), append(t.Waits, graph.WaitLine{Stage: l.ID, Wait: l.Busy})
		t.RSS, t.Goroutines, t.InFlight = append(t.RSS, h.count()), append(t.Goroutines, h.count()), append(t.InFlight, h.count(), h.count())
	}
	return t
}

func (h hostile) stage() graph.StageStats {
	return graph.StageStats{ID: h.pick(hostileIDs...), Kind: h.pick(hostileIDs...), Load: graph.Load(h.pick("cpu", "wait")),
		Workers: int(h.count()), Buffer: int(h.count()), Window: int(h.count()), From: [][]string{nil, {"a"}, {"b", "c"}}[h.IntN(3)],
		ItemsIn: h.count(), ItemsOut: h.count(), Filtered: h.count(), Skipped: h.count(), Failed: h.count(), InFlight: h.count(),
		WaitIn: h.time(), Busy: h.time(), WaitOut: h.time(), Service: h.distribution(), Resolution: h.pick("", "item", "slice"),
		Capacity: h.float(), Utilisation: h.float(), Queue: graph.Queue{Mean: h.float(), Occupancy: h.float()},
		BytesOut: some(h.count()), FusedInto: h.pick("", "", "", "a"), Phases: []graph.Phase{{Name: "x", Busy: h.time()}},
		Slowest: []graph.Slow{{Key: h.pick(hostileIDs...), Time: h.time()}}}
}

// wrong finds what no report may hold: NaN, Inf, negative numbers, scientific form, control characters.
var wrong = regexp.MustCompile(`NaN|Inf\b|(^|[ ("/|>])-[0-9]|[0-9]e[+-]?[0-9]|[\x00-\x09\x0b-\x1f]`)

func FuzzReportsOfHostileSnapshots(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, seed*31)
	}
	all := rules(f)
	f.Fuzz(func(t *testing.T, a, b uint64) {
		s := hostile{rand.New(rand.NewPCG(a, b))}.snapshot()
		text, err := report.JSON(s)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		require.Empty(t, violations(t, all, text))
		v := report.Judge(s)
		for _, x := range []*float64{v.Gain, v.Predicted, v.ShareOfWait} {
			require.False(t, x != nil && (!(*x >= 0) || math.IsInf(*x, 0)))
		}
		for _, out := range []string{report.Table(s), report.Markdown(s), report.LiveLine(s), v.Sentence, strings.Join(v.Evidence, "\n")} {
			require.True(t, utf8.ValidString(out))
			require.Empty(t, wrong.FindString(out), out)
		}
		again, _ := report.JSON(s)
		require.Equal(t, text, again, "the same snapshot, the same report")
	})
}
