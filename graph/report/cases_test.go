package report_test

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

const ms = time.Millisecond

// builder makes snapshots by hand: a chain read, decode, crop, collate, train that delivers 100 batches of 64.
type builder struct{ s graph.Snapshot }

func some[T any](x T) *T { return &x }

// step is one stage of a made-up pipeline: what it does for one of its items.
type step struct {
	id, kind string
	load     graph.Load
	workers  int
	mean     time.Duration
	buffer   int
	full     float64 // mean fill of its queue, 0 to 1
}

// chain is a pipeline of 6,400 samples in 100 batches of 64, with a sink that takes step for each batch and waits wait
// for each but the first.
func chain(pipeline string, train, wait time.Duration, steps ...step) *builder {
	const batches, size = 100, 64
	b := &builder{graph.Snapshot{Pipeline: pipeline, Emulated: true, World: 1}}
	s := &b.s
	s.Environment = graph.Environment{CPU: "a processor", Cores: 4, CoresQuota: 4, OS: "linux", Go: "go1.26.0", Version: "0.1.0"}
	start := 400 * ms
	steadyItems := int64(batches - 1)
	steadyWait, busy := wait*time.Duration(steadyItems), train*batches
	life := start + steadyWait + busy
	s.Totals = graph.Totals{Epochs: 1, Samples: batches * size, Batches: batches, Bytes: batches * size * 150528,
		Elapsed: life, FirstBatch: some(start), Balanced: true}
	s.Sink = graph.SinkStats{Wait: start + steadyWait, Busy: busy, SteadyWait: steadyWait, SteadyBusy: train * time.Duration(steadyItems),
		SteadyItems: steadyItems, WaitRatio: some(float64(wait) / float64(wait+train)), Startup: start, Steady: steadyWait,
		Waits: graph.Distribution{Count: batches, Mean: (start + steadyWait) / batches, P50: wait, P95: wait + wait/10, P99: wait + wait/5, Max: start}}
	items, batched := int64(batches*size), false
	for i, x := range steps {
		st := graph.StageStats{ID: x.id, Kind: x.kind, Load: x.load, Workers: x.workers, Buffer: x.buffer, Window: 4 * x.workers,
			Order: "input", ItemsIn: items, ItemsOut: items, Resolution: "item"}
		n := items
		switch {
		case i == 0:
			st.ItemsIn = 0
		case x.kind == "collate":
			st.ItemsOut, batched = batches, true
		}
		st.From = from(steps, i)
		spread(&st, x, life, n)
		s.Stages = append(s.Stages, st)
		if batched {
			items = batches
		}
	}
	sink := graph.StageStats{ID: "train", Kind: "accelerator", Load: graph.Wait, Workers: 1, ItemsIn: items, From: []string{steps[len(steps)-1].id},
		WaitIn: start + steadyWait, Busy: busy, Lifetime: life, Resolution: "item"}
	sink.Service = flat(train, items)
	s.Stages = append(s.Stages, sink)
	s.CPU = cpuOf(s)
	s.Memory = graph.MemoryStats{PeakRSS: 212 << 20, InFlightPeak: 96 << 20, BytesKnown: true, Limit: 2 << 30, SlabsPeak: 80 << 20,
		Estimate: some(int64(190 << 20)), Estimated: &graph.MemoryEstimate{At: 800 * ms, InFlight: 104 << 20, Slabs: 86 << 20, Full: 320 << 20,
			Resident: 220 << 20, Slowest: steps[0].id, Parts: []graph.MemoryPart{
				{Stage: steps[0].id, Part: graph.PartEdge, Items: 104, Full: 130, Each: 1 << 20, Size: 100 << 10},
				{Stage: "collate", Part: graph.PartSlabs, Items: 2, Full: 4, Each: 43 << 20, Size: 43 << 20}}}}
	s.Digest, s.DigestTime = some("9f3c6a1b2d4e5f60"), 41*ms
	s.GCPause = 3 * ms
	s.Spec = graph.SpecInfo{Text: "pipeline: " + pipeline + "\n", Fingerprint: "5d0c"}
	return b.blame("train", graph.CauseStart, graph.PhaseStartup, start)
}

func from(steps []step, i int) []string {
	if i == 0 {
		return nil
	}
	return []string{steps[i-1].id}
}

func flat(mean time.Duration, n int64) graph.Distribution {
	return graph.Distribution{Count: n, Mean: mean, P50: mean, P95: mean + mean/20, P99: mean + mean/10, Max: mean + mean/5}
}

// spread fills the times of a stage: what it is not busy it waits, for work if its queue is empty, else for room.
func spread(st *graph.StageStats, x step, life time.Duration, n int64) {
	st.Lifetime = life * time.Duration(x.workers)
	st.Busy = x.mean * time.Duration(n)
	rest := max(0, st.Lifetime-st.Busy)
	st.WaitOut = time.Duration(float64(rest) * x.full)
	st.WaitIn = rest - st.WaitOut
	if len(st.From) == 0 { // a source waits for room only
		st.WaitIn, st.WaitOut = 0, rest
	}
	st.Service = flat(x.mean, n)
	st.Capacity = some(float64(x.workers) / x.mean.Seconds())
	st.Utilisation = some(float64(st.Busy) / float64(st.Lifetime))
	st.Queue = graph.Queue{Mean: some(x.full * float64(x.buffer)), Occupancy: some(min(1, x.full*1.1))}
	st.BytesOut = some(n * 150528)
	st.Slowest = []graph.Slow{{Key: "n01/0042.jpg", Time: st.Service.Max}, {Key: "n07/0007.jpg", Time: st.Service.P99}}
}

// cpuOf is what the computing stages took.
func cpuOf(s *graph.Snapshot) (sum time.Duration) {
	for _, st := range s.Stages {
		if st.Load == graph.CPU {
			sum += st.Busy
		}
	}
	return sum
}

func (b *builder) blame(stage, cause, phase string, t time.Duration) *builder {
	b.s.Blame = append(b.s.Blame, graph.Blame{Stage: stage, Cause: cause, Phase: phase, Time: t})
	return b
}

// share blames a part of the steady wait, in percent.
func (b *builder) share(stage, cause string, percent int) *builder {
	return b.blame(stage, cause, graph.PhaseSteady, b.s.Sink.SteadyWait*time.Duration(percent)/100)
}

func (b *builder) change(f func(*graph.Snapshot)) graph.Snapshot {
	f(&b.s)
	return b.s
}

// line adds a timeline: everybody waits in the first part, and works at his own rate in the others.
func (b *builder) line(buckets int) *builder {
	s := &b.s
	n := time.Duration(buckets)
	l := &graph.Timeline{Bucket: s.Totals.Elapsed / n, Until: s.Totals.Elapsed}
	for _, st := range s.Stages {
		x := graph.StageLine{ID: st.ID, Workers: st.Workers}
		for i := range n {
			x.WaitIn = append(x.WaitIn, st.WaitIn/n)
			x.Busy = append(x.Busy, st.Busy/n)
			x.WaitOut = append(x.WaitOut, st.WaitOut/n)
			if st.Queue.Mean != nil {
				x.Queue = append(x.Queue, *st.Queue.Mean*float64(min(i, 2))/2)
			}
		}
		l.Stages = append(l.Stages, x)
	}
	for _, bl := range s.Blame {
		w := graph.WaitLine{Stage: bl.Stage}
		for range n {
			w.Wait = append(w.Wait, bl.Time/n)
		}
		l.Waits = append(l.Waits, w)
	}
	for i := range int64(n) {
		l.RSS, l.Goroutines, l.InFlight = append(l.RSS, (180+4*i)<<20), append(l.Goroutines, 14), append(l.InFlight, 96<<20)
	}
	l.RSS[1], l.Goroutines[1], l.InFlight[1] = 0, 0, 0 // nobody looked
	s.Timeline = l
	return b
}

func (b *builder) stage(id string) *graph.StageStats {
	for i := range b.s.Stages {
		if b.s.Stages[i].ID == id {
			return &b.s.Stages[i]
		}
	}
	return nil
}

// steps is the usual chain; change one of them to plant a bottleneck.
func steps(change func(map[string]*step)) []step {
	all := []step{
		{"read", "folder", graph.Wait, 4, 1 * ms, 16, 0.95},
		{"decode", "decode_image", graph.CPU, 2, 1 * ms, 16, 0.95},
		{"crop", "random_resized_crop", graph.CPU, 1, 200 * time.Microsecond, 16, 0.95},
		{"collate", "collate", graph.CPU, 1, 50 * time.Microsecond, 2, 0.9},
	}
	by := map[string]*step{}
	for i := range all {
		by[all[i].id] = &all[i]
	}
	change(by)
	return all
}

// drain empties the queues from a stage on.
func drain(m map[string]*step, ids ...string) {
	for _, id := range ids {
		m[id].full = 0.03
	}
}

// golden is one hand-made snapshot for each thing that a report must tell apart. Step 30 ms for 64 samples asks for
// 2,133 samples/s.
func golden() map[string]graph.Snapshot {
	all := map[string]graph.Snapshot{}
	all["read"] = chain("planted_read", 30*ms, 34*ms, steps(func(m map[string]*step) {
		m["read"].mean = 4 * ms
		drain(m, "read", "decode", "crop", "collate")
	})...).share("read", graph.CauseService, 96).share("decode", graph.CauseService, 4).s

	all["decode"] = chain("planted_decode", 30*ms, 98*ms, steps(func(m map[string]*step) {
		m["decode"].mean, m["decode"].workers = 2*ms, 1
		drain(m, "decode", "crop", "collate")
	})...).share("decode", graph.CauseService, 94).share("decode", graph.CauseQueue, 2).share("read", graph.CauseService, 4).line(8).s

	all["transform"] = chain("planted_transform", 30*ms, 34*ms, steps(func(m map[string]*step) {
		m["crop"].mean = 1 * ms
		drain(m, "crop", "collate")
	})...).share("crop", graph.CauseService, 91).share("crop", graph.CauseQueue, 4).share("decode", graph.CauseService, 5).s

	batch := steps(func(m map[string]*step) { drain(m, "collate") })
	batch[3].full = 0.9
	batch = append(batch, step{"mixup", "map", graph.CPU, 1, 60 * ms, 2, 0.02})
	all["batch_stage"] = chain("planted_batch_stage", 30*ms, 30*ms, batch...).share("mixup", graph.CauseService, 98).
		share("collate", graph.CauseService, 2).s

	b := chain("planted_jitter", 30*ms, 10*ms, steps(func(m map[string]*step) {
		m["decode"].workers = 3
		m["read"].mean, m["read"].full = 1500*time.Microsecond, 0.4
		m["decode"].full, m["crop"].full, m["collate"].full = 0.4, 0.4, 0.45
	})...).share("read", graph.CauseService, 25).share("read", graph.CauseWindow, 70).share("decode", graph.CauseService, 5)
	d := &b.stage("read").Service
	d.P50, d.P95, d.P99, d.Max = 500*time.Microsecond, 800*time.Microsecond, 40*ms, 200*ms
	b.stage("read").Slowest = []graph.Slow{{Key: "n03/big.jpg", Time: 200 * ms}, {Key: "n03/huge.jpg", Time: 180 * ms}}
	b.stage("read").Stragglers = []graph.Straggler{{Key: "n03/big.jpg", Times: 1, Held: 190 * ms, Blocked: 540 * ms},
		{Key: "n03/huge.jpg", Times: 1, Held: 150 * ms}, {Key: "n01/0042.jpg", Times: 1, Held: 2 * ms}}
	all["jitter"] = b.s

	maps.Copy(all, others())
	return all
}

// others are the runs that are not simply starved by one stage.
func others() map[string]graph.Snapshot {
	all := map[string]graph.Snapshot{}
	all["accelerator"] = chain("accelerator_bound", 60*ms, 300*time.Microsecond, steps(func(map[string]*step) {})...).
		share("collate", graph.CauseService, 90).share("crop", graph.CauseService, 10).s

	all["short"] = chain("short_run", 30*ms, 0, steps(func(map[string]*step) {})...).change(func(s *graph.Snapshot) {
		s.Totals.Samples, s.Totals.Batches, s.Totals.Elapsed = 64, 1, 430*ms
		s.Sink.SteadyItems, s.Sink.SteadyBusy, s.Sink.WaitRatio, s.Sink.Busy = 0, 0, nil, 30*ms
		for i := range s.Stages {
			st := &s.Stages[i]
			st.ItemsIn, st.ItemsOut = st.ItemsIn/100, st.ItemsOut/100
			st.WaitIn, st.Busy, st.WaitOut = st.WaitIn/100, st.Busy/100, st.WaitOut/100
		}
		s.Sink.Wait, s.CPU = 400*ms, s.CPU/100
		s.Blame = []graph.Blame{{Stage: "decode", Cause: graph.CauseService, Phase: graph.PhaseStartup, Time: 300 * ms},
			{Stage: "read", Cause: graph.CauseStart, Phase: graph.PhaseStartup, Time: 100 * ms}}
	})

	all["mixed"] = chain("mixed_corpora", 60*ms, 300*time.Microsecond, append([]step{{"code", "folder", graph.Wait, 4, 1 * ms, 16, 0.95}},
		steps(func(m map[string]*step) { m["read"].id = "web"; m["decode"].id, m["decode"].kind = "both", "mix" })...)...).
		share("collate", graph.CauseService, 100).change(func(s *graph.Snapshot) {
		s.Stages[1].From, s.Stages[2].From = nil, []string{"code", "web"}
		s.Mix = []graph.MixStats{{ID: "both", Inputs: []graph.MixInput{
			{ID: "code", Asked: 0.3, Delivered: some(0.3), Items: 1920}, {ID: "web", Asked: 0.7, Delivered: some(0.7), Items: 4480}}}}
	})

	all["empty"] = empty()
	all["failed"] = chain("failed_run", 30*ms, 98*ms, steps(func(m map[string]*step) {
		m["decode"].mean, m["decode"].workers = 2*ms, 1
		drain(m, "decode", "crop", "collate")
	})...).share("decode", graph.CauseService, 100).change(func(s *graph.Snapshot) {
		s.Err = `pipeline "failed_run", stage "decode": n07/0007.jpg: the picture is cut short`
		s.Totals.Failed, s.Stages[1].Failed, s.Digest = 1, 1, nil
	})

	over := chain("oversubscribed", 30*ms, 98*ms, steps(func(m map[string]*step) {
		m["decode"].mean, m["decode"].workers = 30*ms, 16
		m["crop"].mean, m["crop"].workers = 4*ms, 8
		drain(m, "decode", "crop", "collate")
	})...).share("decode", graph.CauseService, 97).share("crop", graph.CauseService, 3)
	over.s.CPU = over.s.Totals.Elapsed * 38 / 10
	all["oversubscribed"] = over.s

	all["cores"], all["crowded"] = coresShort(), crowded()

	all["disagree"] = chain("disagreeing_witnesses", 30*ms, 34*ms, steps(func(m map[string]*step) {
		m["read"].mean = 3 * ms
		m["decode"].mean = 1200 * time.Microsecond
		m["crop"].mean = 800 * time.Microsecond
		drain(m, "read", "decode", "crop", "collate")
	})...).share("decode", graph.CauseQueue, 60).share("read", graph.CauseService, 40).s

	all["skips"] = chain("skips", 30*ms, 34*ms, steps(func(m map[string]*step) {
		m["read"].mean = 4 * ms
		drain(m, "read", "decode", "crop", "collate")
	})...).share("read", graph.CauseService, 100).change(func(s *graph.Snapshot) {
		s.Stages[1].Skipped, s.Stages[3].StandIns, s.Totals.Skipped, s.Totals.StandIns = 12, 12, 12, 12
		s.Totals.Samples -= 12
		s.Stages[2].Filtered, s.Stages[3].Dropped, s.Totals.Dropped = 5, 7, 7
		for i, key := range []string{"n02/broken.jpg", "n02/two\nlines.jpg", "n03/a.jpg", "n03/b.jpg", "n04/c.jpg", "n04/d.jpg", "n04/e.jpg",
			"n05/" + strings.Repeat("very_long_", 20) + ".jpg", "n06/f.jpg", "n06/g.jpg", "n07/h.jpg"} {
			s.Skips = append(s.Skips, graph.SkipNote{Stage: "decode", Key: key, Attempt: 1,
				Err: fmt.Sprintf("jpeg: the data end before the picture does, wanted a marker at byte %d", 1000+i)})
		}
		s.Skips = append(s.Skips, graph.SkipNote{Stage: "read", Key: "n09/gone.jpg", Err: "no such file", Attempt: 3})
		s.Stages[0].Skipped, s.Stages[0].Retried, s.Totals.Skipped = 1, 7, 13
		s.Stages[1].Timeout, s.Stages[1].Abandoned, s.Stages[1].Overdue, s.Stages[1].Retried = 500*ms, 2, 3, 1
		s.Warnings = []string{"12 of 6400 samples were skipped by \"decode\": see the first: n02/broken.jpg: not a picture"}
	})
	all["epochs"] = epochs()
	return all
}

// empty is a run that delivered nothing.
func empty() graph.Snapshot {
	return graph.Snapshot{Pipeline: "empty_run", World: 1, Totals: graph.Totals{Elapsed: 2 * ms, Balanced: true},
		Environment: graph.Environment{Cores: 2, OS: "linux", Go: "go1.26.0"}, Err: "", Stages: []graph.StageStats{
			{ID: "read", Kind: "folder", Load: graph.Wait, Workers: 4, WorkersAuto: true, Buffer: 16},
			{ID: "train", Kind: "each", Workers: 1, From: []string{"read"}},
		}}
}

// epochs is a fused, merged run of twelve epochs with a slow edge between them.
func epochs() graph.Snapshot {
	b := chain("twelve_epochs", 30*ms, 2*ms, steps(func(m map[string]*step) {})...)
	b.share("decode", graph.CauseService, 100)
	b.s.Totals.Epochs = 12
	b.s.Sink.EpochEdge = 1100 * ms
	b.s.Sink.Wait += b.s.Sink.EpochEdge
	b.blame("read", graph.CauseService, graph.PhaseEpochEdge, b.s.Sink.EpochEdge)
	crop := b.stage("crop")
	crop.FusedInto, crop.Queue = "decode", graph.Queue{}
	crop.WaitIn, crop.Busy, crop.WaitOut, crop.Service, crop.Slowest = 0, 0, 0, graph.Distribution{}, nil
	b.stage("decode").Phases = []graph.Phase{{Name: "decode", Busy: 6 * time.Second}, {Name: "crop", Busy: 400 * ms}}
	for i := range int64(12) {
		e := graph.EpochStats{Epoch: i, Samples: 533, Batches: 9, Elapsed: 280 * ms, PeakRSS: (200 + i) << 20, Goroutines: 14,
			ItemsIn: map[string]int64{"decode": 533, "crop": 533, "collate": 533, "train": 9}, Digest: some("ab12")}
		if i > 0 {
			e.EdgeGap = some(100 * ms)
		}
		b.s.Epochs = append(b.s.Epochs, e)
	}
	return b.s
}
