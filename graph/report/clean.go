package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// limit is above every true figure (rates, ratios); anything beyond it is a mistake.
const limit = 1e18

// cleaner takes out figures that cannot be true and remembers which.
type cleaner struct{ bad []string }

// clean is a copy of s without negative figures, NaN and Inf. What was taken out is named in a warning, so that nothing
// is silently dropped.
func clean(s graph.Snapshot) graph.Snapshot {
	var c cleaner
	c.totals(&s)
	s.Stages = slices.Clone(s.Stages)
	for i := range s.Stages {
		c.stage(&s.Stages[i])
	}
	s.Blame = slices.Clone(s.Blame)
	for i := range s.Blame {
		c.time(&s.Blame[i].Time, "blame")
	}
	s.Epochs = slices.Clone(s.Epochs)
	for i := range s.Epochs {
		c.epoch(&s.Epochs[i])
	}
	s.Timeline = c.timeline(s.Timeline)
	s.Devices = slices.Clone(s.Devices)
	for i := range s.Devices {
		c.device(&s.Devices[i])
	}
	s.Mix = c.mixes(s.Mix)
	s.Decisions = slices.Clone(s.Decisions)
	for i := range s.Decisions {
		c.decision(&s.Decisions[i])
	}
	s.Caches = slices.Clone(s.Caches)
	for i := range s.Caches {
		c.cache(&s.Caches[i])
	}
	if len(c.bad) > 0 {
		names := slices.Compact(slices.Sorted(slices.Values(c.bad)))
		if len(names) > 5 {
			names = append(slices.Clip(names[:5]), "...")
		}
		s.Warnings = append(slices.Clip(s.Warnings), fmt.Sprintf(
			"%s left out, negative or not a number: %s", plural(int64(len(c.bad)), "figure"), strings.Join(names, ", ")))
	}
	return s
}

func (c *cleaner) mixes(all []graph.MixStats) []graph.MixStats {
	all = slices.Clone(all)
	for i := range all {
		m := &all[i]
		m.Inputs = slices.Clone(m.Inputs)
		for k := range m.Inputs {
			in, at := &m.Inputs[k], "mix."+plain(m.ID)
			asked := &in.Asked
			if c.share(at+".asked", &asked); asked == nil {
				in.Asked = 0
			}
			c.share(at+".delivered", &in.Delivered)
			c.counts(at+".items", &in.Items)
		}
	}
	return all
}

func (c *cleaner) totals(s *graph.Snapshot) {
	t, k, m := &s.Totals, &s.Sink, &s.Memory
	c.counts("totals", &t.Epochs, &t.Samples, &t.Batches, &t.Bytes, &t.Skipped, &t.StandIns, &t.Padded, &t.Dropped,
		&t.Failed)
	c.time(&t.Elapsed, "totals.elapsed")
	c.times("totals.first_batch", &t.FirstBatch)
	c.maybe("expected", &s.Expected.Epochs, &s.Expected.Samples)
	for name, d := range map[string]*time.Duration{"wait": &k.Wait, "busy": &k.Busy, "steady_wait": &k.SteadyWait,
		"steady_busy": &k.SteadyBusy, "startup": &k.Startup, "steady": &k.Steady, "epoch_edge": &k.EpochEdge} {
		c.time(d, "sink."+name)
	}
	c.counts("sink.steady_items", &k.SteadyItems)
	c.share("sink.wait_ratio", &k.WaitRatio)
	c.share("sink.device_wait_ratio", &k.DeviceWaitRatio)
	c.distribution("sink.waits", &k.Waits)
	if k.Launches != nil {
		l := *k.Launches
		k.Launches = &l
		c.time(&l.Busy, "sink.launches.busy")
		c.distribution("sink.launches.late", &l.Late)
	}
	c.counts("memory", &m.PeakRSS, &m.InFlightPeak, &m.OverdraftPeak, &m.SlabsPeak, &m.Limit, &m.Fixed, &m.Hold)
	m.Estimated = c.estimated(m.Estimated)
	c.maybe("memory.estimate", &m.Estimate)
	c.time(&m.Scarce, "memory.scarce")
	c.maybe("environment.memory_limit", &s.Environment.MemoryLimit)
	if q := s.Environment.CoresQuota; q < 0 || math.IsNaN(q) || q > limit {
		s.Environment.CoresQuota, c.bad = 0, append(c.bad, "environment.cores_quota")
	}
	c.settings("environment.cores", &s.Environment.Cores)
	c.settings("rank", &s.Rank, &s.World)
	c.time(&s.DigestTime, "digest_seconds")
	c.time(&s.GCPause, "gc_pause")
	c.time(&s.CPU, "cpu")
	c.time(&s.CPUWait, "cpu_wait")
}

func (c *cleaner) stage(st *graph.StageStats) {
	at := "stages." + plain(st.ID)
	c.counts(at, &st.ItemsIn, &st.ItemsOut, &st.Filtered, &st.Skipped, &st.StandIns, &st.Dropped, &st.Failed,
		&st.Retried, &st.Overdue, &st.Abandoned, &st.InFlight)
	c.time(&st.WaitIn, at+".wait_in")
	c.time(&st.Busy, at+".busy")
	c.time(&st.WaitOut, at+".wait_out")
	c.time(&st.Lifetime, at+".lifetime")
	c.time(&st.Open, at+".open")
	c.distribution(at+".service", &st.Service)
	c.number(at+".capacity", &st.Capacity)
	c.share(at+".utilisation", &st.Utilisation)
	c.number(at+".queue.mean", &st.Queue.Mean)
	c.share(at+".queue.occupancy", &st.Queue.Occupancy)
	c.maybe(at+".bytes_out", &st.BytesOut)
	c.counts(at+".slab_bytes", &st.SlabBytes)
	if a := st.Admitted; a != nil {
		x := *a
		st.Admitted = &x
		c.counts(at+".admitted", &x.Items, &x.Bytes)
		x.Sizes = slices.Clone(x.Sizes)
		for i := range x.Sizes {
			c.counts(at+".admitted.sizes", &x.Sizes[i].Upto, &x.Sizes[i].Count)
		}
	}
	c.settings(at, &st.Workers, &st.Buffer, &st.Window, &st.Group, &st.Slabs)
	st.Phases = slices.Clone(st.Phases)
	for i := range st.Phases {
		c.time(&st.Phases[i].Busy, at+".phases")
	}
	st.Slowest = slices.Clone(st.Slowest)
	for i := range st.Slowest {
		c.time(&st.Slowest[i].Time, at+".slowest")
	}
	st.Stragglers = slices.DeleteFunc(slices.Clone(st.Stragglers), func(x graph.Straggler) bool {
		if x.Times < 1 {
			c.bad = append(c.bad, at+".stragglers")
		}
		return x.Times < 1
	})
	for i := range st.Stragglers {
		x := &st.Stragglers[i]
		c.time(&x.Held, at+".stragglers")
		c.time(&x.Blocked, at+".stragglers")
	}
}

func (c *cleaner) epoch(e *graph.EpochStats) {
	c.counts("epochs", &e.Epoch, &e.Samples, &e.Batches, &e.PeakRSS, &e.InFlight)
	c.time(&e.Elapsed, "epochs.elapsed")
	c.time(&e.Wait, "epochs.wait")
	c.times("epochs.edge_gap", &e.EdgeGap)
	c.settings("epochs.goroutines", &e.Goroutines)
	e.ItemsIn = maps.Clone(e.ItemsIn)
	for id, n := range e.ItemsIn {
		c.counts("epochs.items_in", &n)
		e.ItemsIn[id] = n
	}
	e.Caches = slices.Clone(e.Caches)
	for i := range e.Caches {
		c.counts("epochs.cache", &e.Caches[i].Hits, &e.Caches[i].Misses)
	}
}

func (c *cleaner) distribution(name string, d *graph.Distribution) {
	c.counts(name, &d.Count)
	for _, t := range []*time.Duration{&d.Mean, &d.P50, &d.P95, &d.P99, &d.Max} {
		c.time(t, name)
	}
	d.Buckets = slices.Clone(d.Buckets)
	for i := range d.Buckets {
		c.counts(name+".buckets", &d.Buckets[i].Count)
		c.time(&d.Buckets[i].Upto, name+".buckets")
	}
}

func (c *cleaner) counts(name string, all ...*int64) {
	for _, n := range all {
		if *n < 0 {
			*n, c.bad = 0, append(c.bad, name)
		}
	}
}

// settings are small numbers; no machine has a thousand million of such things.
func (c *cleaner) settings(name string, all ...*int) {
	for _, n := range all {
		if *n < 0 || *n > 1<<30 {
			*n, c.bad = 0, append(c.bad, name)
		}
	}
}

func (c *cleaner) maybe(name string, all ...**int64) {
	for _, n := range all {
		if *n != nil && **n < 0 {
			*n, c.bad = nil, append(c.bad, name)
		}
	}
}

func (c *cleaner) time(d *time.Duration, name string) {
	if *d < 0 {
		*d, c.bad = 0, append(c.bad, name)
	}
}

func (c *cleaner) times(name string, d **time.Duration) {
	if *d != nil && **d < 0 {
		*d, c.bad = nil, append(c.bad, name)
	}
}

// number takes out what is no rate; share also what is above 1, but for rounding.
func (c *cleaner) number(name string, x **float64) {
	if *x != nil && (!(**x >= 0) || **x > limit) {
		*x, c.bad = nil, append(c.bad, name)
	}
}

func (c *cleaner) share(name string, x **float64) {
	c.number(name, x)
	if *x == nil || **x <= 1 {
		return
	}
	if one := 1.0; **x <= 1+1e-6 {
		*x = &one
		return
	}
	*x, c.bad = nil, append(c.bad, name)
}
