package graph

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/host"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

var causes = map[meter.Cause]string{
	meter.Service: CauseService, meter.Queue: CauseQueue, meter.Window: CauseWindow, meter.Slabs: CauseSlabs,
	meter.Copy: CauseCopy, meter.Startup: CauseStart, meter.End: CauseEnd, meter.Unattributed: CauseUnattributed,
}

var phases = map[meter.When]string{meter.InStartup: PhaseStartup, meter.InSteady: PhaseSteady, meter.AtEdge: PhaseEpochEdge}

// Snapshot reads every number of the run. It may be called at any time; a running run is read without stopping it, so
// that counts of different stages may be some items apart.
func (r *Run) Snapshot() Snapshot {
	o := r.outlet.read()
	s, stats := r.numbers(o)
	s.Environment, s.Digest, s.Epochs, s.Spec = environment(), o.digest, o.epochs, SpecInfo{Text: r.p.Describe()}
	s.Rank, s.World = r.p.World()
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Spec.Text))
	s.Spec.Fingerprint = fmt.Sprintf("%016x", h.Sum64())
	for i, st := range r.stages {
		s.Emulated = s.Emulated || emulated(st.n.decl)
		s.Totals.Skipped += s.Stages[i].Skipped
		s.Totals.StandIns += s.Stages[i].StandIns
		s.Totals.Dropped += s.Stages[i].Dropped
		s.Totals.Failed += s.Stages[i].Failed
		s.DigestTime += time.Duration(st.m.Times().Digest)
	}
	s.Caches = r.cacheStats(s.Epochs)
	if !s.Running {
		s.Totals.Unbalanced = r.unbalanced(s.Stages, stats)
		s.Totals.Balanced = len(s.Totals.Unbalanced) == 0
	}
	s.Devices = r.deviceStats(&s)
	for _, b := range r.blamer.Read() {
		x := Blame{Cause: causes[b.Cause], Phase: phases[b.When], Time: time.Duration(b.Time)}
		if b.Stage != nil {
			x.Stage = b.Stage.ID
		}
		s.Blame = append(s.Blame, x)
	}
	if r.lines != nil {
		s.Timeline = r.lines.read(int64(s.Totals.Elapsed), s.Running)
	}
	s.Mix = r.book.mixes()
	s.Memory, s.Skips = r.memoryStats(), r.Skips()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Decisions = append([]Decision(nil), r.log...)
	s.Warnings = append([]string(nil), r.warnings...)
	if r.roll != nil && r.roll.Cut() > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the trace ends after %v: it holds %d spans and is full", time.Duration(r.roll.Cut()).Round(time.Millisecond), r.roll.Size()))
	}
	if r.err != nil {
		s.Err = r.err.Error()
	}
	return s
}

// look is the part of a snapshot that a tuner goes by.
func (r *Run) look() Snapshot {
	s, _ := r.numbers(r.outlet.read())
	s.Memory.BytesKnown = r.bytes.known.Load()
	return s
}

// numbers reads the counts, times and settings of the stages.
func (r *Run) numbers(o outletStats) (Snapshot, []edge.Stats) {
	s := Snapshot{Pipeline: r.p.name, Running: !r.eng.Over()}
	s.Totals = Totals{
		Epochs: int64(len(o.epochs)), Samples: o.samples, Batches: o.batches, Bytes: o.bytes, Padded: o.padded,
		Elapsed: time.Duration(r.clock.Now()), Balanced: true,
	}
	s.CPU, s.CPUWait, s.GCPause = host.CPUTime()-r.cpu, r.waitedForCores(), gcPauses()-r.pauses
	r.mu.Lock()
	if r.elapsed > 0 {
		s.Totals.Elapsed, s.CPU, s.CPUWait, s.GCPause = r.elapsed, r.cpuUsed, r.cpuWaited, r.gcUsed
	}
	r.mu.Unlock()
	if o.first > 0 {
		d := time.Duration(o.first)
		s.Totals.FirstBatch = &d
	}
	s.Sink = sinkStats(o)
	s.Sink.Launches = r.launches.read()
	stats := make([]edge.Stats, len(r.stages))
	for i, st := range r.stages {
		if st.stats != nil {
			stats[i] = st.stats()
		}
	}
	for i, st := range r.stages {
		s.Stages = append(s.Stages, r.stageStats(st, stats[i]))
	}
	return s, stats
}

// deviceStats reads the devices, each once, and what they say of the run as a whole.
func (r *Run) deviceStats(s *Snapshot) (all []DeviceStats) {
	for _, st := range r.stages {
		if st.devices == nil {
			continue
		}
		d := st.devices()
		d.Stage = st.n.id
		all = append(all, d)
		s.Emulated = s.Emulated || d.Emulated
		if s.Environment.Device == nil && d.Title != "" {
			s.Environment.Device = &d.Title
			if d.Driver != "" {
				s.Environment.Driver = &d.Driver
			}
		}
		if t := d.Busy + d.SteadyIdle; t > 0 && s.Sink.DeviceWaitRatio == nil {
			ratio := float64(d.SteadyIdle) / float64(t)
			s.Sink.DeviceWaitRatio = &ratio
		}
	}
	return all
}

// waitedForCores is what the threads of the process have waited for a core since the start. The waits of threads that
// ended since are lost, which must not make it negative.
func (r *Run) waitedForCores() time.Duration {
	now, _ := host.CPUWait()
	return max(0, now-r.cpuWait)
}

func emulated(decl any) bool {
	e, ok := decl.(Emulator)
	return ok && e.Emulated()
}

func sinkStats(o outletStats) SinkStats {
	var s SinkStats
	ds := []*time.Duration{&s.Startup, &s.Steady, &s.EpochEdge}
	for i, p := range o.phases {
		*ds[i] = time.Duration(p.Wait)
		s.Wait += time.Duration(p.Wait)
		s.Busy += time.Duration(p.Busy)
	}
	s.SteadyWait, s.SteadyBusy = s.Steady, time.Duration(o.phases[meter.InSteady].Busy)
	s.SteadyItems = o.phases[meter.InSteady].Items
	if all := s.SteadyWait + s.SteadyBusy; all > 0 {
		ratio := float64(s.SteadyWait) / float64(all)
		s.WaitRatio = &ratio
	}
	s.Waits = distribution(o.waits)
	return s
}

func distribution(h meter.Summary) Distribution {
	d := Distribution{Count: h.Count, P50: time.Duration(h.P50), P95: time.Duration(h.P95), P99: time.Duration(h.P99), Max: time.Duration(h.Max), Sum: time.Duration(h.Sum)}
	if h.Count > 0 {
		d.Mean = time.Duration(h.Sum / h.Count)
	}
	for _, b := range h.Buckets {
		d.Buckets = append(d.Buckets, Bucket{time.Duration(b.Upto), b.Count})
	}
	return d
}

func (r *Run) stageStats(st *stageRun, e edge.Stats) StageStats {
	n, m := st.n, st.m
	t := m.Times()
	h := m.Service.Read()
	x := StageStats{
		ID: n.id, Kind: n.kind, Load: st.load, Workers: st.hands(), WorkersAuto: n.opts.workers == 0 && n.role != sinkRole && n.role != mergeRole,
		Buffer: e.Buffer, BufferAuto: n.opts.buffer == 0 && st.stats != nil, Window: e.Window, WindowAuto: n.opts.window == 0 && st.stats != nil,
		Order: string(InputOrder), ItemsIn: m.In.Load(), ItemsOut: e.In - e.Marks, Filtered: m.Filtered.Load(),
		Skipped: m.Skipped.Load(), StandIns: m.StandIns.Load(), Dropped: m.Dropped.Load(), Failed: m.Failed.Load(), Retried: m.Retried.Load(), Timeout: n.opts.timeout, Overdue: m.Overdue.Load(), Abandoned: m.Abandoned.Load(), InFlight: m.Lost.Load(),
		WaitIn: time.Duration(t.WaitIn), Busy: time.Duration(t.Busy), WaitOut: time.Duration(t.WaitOut), Lifetime: time.Duration(t.Lifetime),
		Service: distribution(h), Resolution: "item", Open: st.opened,
	}
	if x.Group = st.size; st.slabs != nil {
		x.Slabs, x.SlabBytes, x.Keeps = st.slabs(), st.slab.Load(), st.lists
	}
	if a := st.admitted; a != nil {
		x.Admitted = a.read()
	}
	if n.opts.order != "" {
		x.Order = string(n.opts.order)
	}
	if st.group != nil {
		x.FusedInto = st.group.members[0].id
	}
	if len(st.absorbed) > 0 {
		x.Phases = st.absorbed[0].group.phasesOf()
	}
	if st.stats == nil && st.n.next != nil { // a member of a fused group before the last
		x.ItemsOut = m.Done.Load()
	}
	if m.Sliced.Load() {
		x.Resolution = "slice"
	}
	for _, in := range n.ins {
		x.From = append(x.From, in.id)
	}
	if h.Count > 0 && h.Sum > 0 {
		c := float64(st.hands()) * float64(h.Count) / (float64(h.Sum) / 1e9)
		x.Capacity = &c
	}
	if t.Lifetime > 0 {
		u := float64(t.Busy) / float64(t.Lifetime)
		x.Utilisation = &u
	}
	if st.sized {
		b := m.BytesOut.Load()
		x.BytesOut = &b
	}
	if e.Seen > 0 {
		mean, full := float64(e.ItemTime)/float64(e.Seen), float64(e.FullTime)/float64(e.Seen)
		x.Queue = Queue{Mean: &mean, Occupancy: &full}
	}
	for _, s := range m.Slowest.Read() {
		x.Slowest = append(x.Slowest, Slow{s.Key, time.Duration(s.Time)})
	}
	for _, g := range m.Stragglers.Read() {
		x.Stragglers = append(x.Stragglers, Straggler{g.Key, g.Times, time.Duration(g.Held), time.Duration(g.Blocked)})
	}
	return x
}

// unbalanced checks that every item is accounted for: at each stage in = done + filtered + skipped + failed + in
// flight, and on each edge out = in + left inside.
func (r *Run) unbalanced(stages []StageStats, edges []edge.Stats) []string {
	var bad []string
	for i, st := range r.stages {
		x, m := &stages[i], st.m
		if sum := m.Done.Load() + x.Filtered + x.Skipped + x.Failed + x.InFlight; sum != x.ItemsIn {
			bad = append(bad, fmt.Sprintf("stage %q took %d items and accounts for %d", x.ID, x.ItemsIn, sum))
		}
		if len(st.n.ins) == 0 {
			continue
		}
		var out, left int64
		if st.group != nil { // nothing lies between the members of a group
			continue
		}
		for _, in := range st.n.ins {
			e := edges[in.no]
			out += e.In - e.Marks
			left += e.Left
		}
		if out != x.ItemsIn+left {
			bad = append(bad, fmt.Sprintf("edge to %q carried %d items, %d were taken and %d left", x.ID, out, x.ItemsIn, left))
		}
	}
	for _, c := range r.caches {
		passed, hits := c.outs()
		if out := edges[c.no].In - edges[c.no].Marks; out != passed+hits {
			bad = append(bad, fmt.Sprintf("cache %q gave out %d items, %d from its input and %d hits", c.id, out, passed, hits))
		}
	}
	return bad
}

// cacheStats adds up what the caches did.
func (r *Run) cacheStats(epochs []EpochStats) (all []CacheStats) {
	for i, c := range r.caches {
		x := c.read()
		var hits, asked int64
		for _, e := range epochs[min(1, len(epochs)):] {
			if i < len(e.Caches) {
				hits, asked = hits+e.Caches[i].Hits, asked+e.Caches[i].Hits+e.Caches[i].Misses
			}
		}
		if asked > 0 {
			share := float64(hits) / float64(asked)
			x.HitShare = &share
		}
		all = append(all, x)
	}
	return all
}

func (r *Run) memoryStats() MemoryStats {
	m := MemoryStats{BytesKnown: r.bytes.known.Load(), Limit: r.bytes.limit}
	_, m.PeakRSS = host.RSS()
	m.InFlightPeak, m.OverdraftPeak = r.bytes.admit.Peaks()
	m.Fixed, m.Hold = r.bytes.admit.Fixed(), r.bytes.hold
	m.Scarce = r.bytes.admit.Scarce()
	for _, st := range r.stages {
		if st.lent != nil {
			m.SlabsPeak += int64(st.lent()) * st.slab.Load()
		}
	}
	if e := r.estimate.Load(); e != nil {
		total := e.Total()
		m.Estimate, m.Estimated = &total, e
	}
	return m
}
