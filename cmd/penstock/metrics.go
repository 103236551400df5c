package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// family is one metric: its name without "penstock_", its type, what it says, and its samples.
type family struct {
	name, kind, help string
	emit             func(e *emitter)
}

// emitter writes the samples of one family. Every one has the name of the pipeline as a label.
type emitter struct {
	b        *strings.Builder
	pipeline string
	name     string
}

// one writes a sample; labels are names and values in turn.
func (e *emitter) one(v float64, labels ...string) { e.suffixed("", v, labels...) }

func (e *emitter) suffixed(suffix string, v float64, labels ...string) {
	fmt.Fprintf(e.b, "penstock_%s%s{pipeline=%s", e.name, suffix, label(e.pipeline))
	for i := 0; i+1 < len(labels); i += 2 {
		fmt.Fprintf(e.b, ",%s=%s", labels[i], label(labels[i+1]))
	}
	fmt.Fprintf(e.b, "} %s\n", strconv.FormatFloat(v, 'g', -1, 64))
}

func (e *emitter) seconds(d time.Duration, labels ...string) { e.one(d.Seconds(), labels...) }

func (e *emitter) maybe(v *float64, labels ...string) {
	if v != nil && !math.IsNaN(*v) {
		e.one(*v, labels...)
	}
}

// label quotes a value as the text format wants it.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\uFFFD")) + `"`
}

// bounds of the histogram of waits, in seconds.
var waitBounds = [...]float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100}

// families are all metrics of a snapshot. docs/metrics.md explains them by these names; a test holds them equal.
func families(s *graph.Snapshot) []family {
	return append(append(runFamilies(s), sinkFamilies(s)...), stageFamilies(s)...)
}

func runFamilies(s *graph.Snapshot) []family {
	t := &s.Totals
	last := func(l func(*graph.Timeline) []int64) func(*emitter) {
		return func(e *emitter) {
			if s.Timeline == nil {
				return
			}
			if all := l(s.Timeline); len(all) > 0 && all[len(all)-1] > 0 {
				e.one(float64(all[len(all)-1]))
			}
		}
	}
	count := func(n int64) func(*emitter) { return func(e *emitter) { e.one(float64(n)) } }
	return []family{
		{"info", "gauge", "What runs, as labels. Always 1.", func(e *emitter) {
			e.one(1, "version", s.Environment.Version, "go", s.Environment.Go, "fingerprint", s.Spec.Fingerprint)
		}},
		{"running", "gauge", "1 while the run goes on.", func(e *emitter) { e.one(truth(s.Running)) }},
		{"elapsed_seconds", "gauge", "Time since the start.", func(e *emitter) { e.seconds(t.Elapsed) }},
		{"first_batch_seconds", "gauge", "Time from the start to the first delivery.", func(e *emitter) {
			if t.FirstBatch != nil {
				e.seconds(*t.FirstBatch)
			}
		}},
		{"epochs_total", "counter", "Epochs that have begun.", count(t.Epochs)},
		{"samples_total", "counter", "Samples that the sink received.", count(t.Samples)},
		{"batches_total", "counter", "Batches that the sink received.", count(t.Batches)},
		{"bytes_total", "counter", "Bytes that the sink received.", count(t.Bytes)},
		{"cpu_seconds_total", "counter", "Processor time of the process.", func(e *emitter) { e.seconds(s.CPU) }},
		{"cpu_wait_seconds_total", "counter", "Time its threads were ready and had no core.", func(e *emitter) { e.seconds(s.CPUWait) }},
		{"gc_pause_seconds_total", "counter", "Time that garbage collection stopped the program.", func(e *emitter) { e.seconds(s.GCPause) }},
		{"resident_bytes", "gauge", "Resident memory of the process.", last(func(l *graph.Timeline) []int64 { return l.RSS })},
		{"in_flight_bytes", "gauge", "Items under way and memory of batches.", last(func(l *graph.Timeline) []int64 { return l.InFlight })},
		{"goroutines", "gauge", "Goroutines of the process.", last(func(l *graph.Timeline) []int64 { return l.Goroutines })},
	}
}

func sinkFamilies(s *graph.Snapshot) []family {
	k := &s.Sink
	v := report.Judge(*s)
	return []family{
		{"sink_wait_seconds_total", "counter", "Time that the sink waited for its next item, by phase.", func(e *emitter) {
			e.seconds(k.Startup, "phase", graph.PhaseStartup)
			e.seconds(k.Steady, "phase", graph.PhaseSteady)
			e.seconds(k.EpochEdge, "phase", graph.PhaseEpochEdge)
		}},
		{"sink_busy_seconds_total", "counter", "Time that the sink worked.", func(e *emitter) { e.seconds(k.Busy) }},
		{"sink_wait_ratio", "gauge", "Share of the steady time that the sink has waited.", func(e *emitter) { e.maybe(k.WaitRatio) }},
		{"sink_device_wait_ratio", "gauge", "Share of the time that the device itself idled.", func(e *emitter) { e.maybe(k.DeviceWaitRatio) }},
		{"sink_waits_seconds", "histogram", "Single waits of the sink.", func(e *emitter) { histogram(e, &k.Waits, k.Wait) }},
		{"blame_seconds_total", "counter", "The sink's wait, by what it is charged to.", func(e *emitter) {
			for _, b := range s.Blame {
				e.seconds(b.Time, "stage", b.Stage, "cause", b.Cause, "phase", b.Phase)
			}
		}},
		{"starved", "gauge", "1 if the sink waits at least 5 % of the steady time.", func(e *emitter) {
			if v.Measured {
				e.one(truth(v.Starved))
			}
		}},
		{"bottleneck", "gauge", "1 for the stage that is the bottleneck now.", func(e *emitter) {
			if v.Bottleneck != "" {
				e.one(1, "stage", v.Bottleneck)
			}
		}},
		{"predicted_gain", "gauge", "What the next change should bring: 0.5 is half as fast again.", func(e *emitter) { e.maybe(v.Gain) }},
	}
}

// histogram puts the buckets of a distribution into the fixed ones, by their largest times.
func histogram(e *emitter, d *graph.Distribution, sum time.Duration) {
	for _, le := range waitBounds {
		n := int64(0)
		for _, b := range d.Buckets {
			if b.Upto.Seconds() <= le {
				n += b.Count
			}
		}
		e.suffixed("_bucket", float64(n), "le", strconv.FormatFloat(le, 'g', -1, 64))
	}
	e.suffixed("_bucket", float64(d.Count), "le", "+Inf")
	e.suffixed("_sum", sum.Seconds())
	e.suffixed("_count", float64(d.Count))
}

func stageFamilies(s *graph.Snapshot) []family {
	each := func(f func(e *emitter, st *graph.StageStats, labels ...string)) func(*emitter) {
		return func(e *emitter) {
			for i := range s.Stages {
				st := &s.Stages[i]
				f(e, st, "stage", st.ID, "kind", st.Kind)
			}
		}
	}
	count := func(of func(*graph.StageStats) int64) func(*emitter) {
		return each(func(e *emitter, st *graph.StageStats, labels ...string) { e.one(float64(of(st)), labels...) })
	}
	timed := func(f func(e *emitter, st *graph.StageStats, labels ...string)) func(*emitter) {
		return each(func(e *emitter, st *graph.StageStats, labels ...string) {
			if st.FusedInto == "" { // its times are those of the stage it runs inside
				f(e, st, labels...)
			}
		})
	}
	return []family{
		{"stage_workers", "gauge", "Workers of the stage.", count(func(st *graph.StageStats) int64 { return int64(st.Workers) })},
		{"stage_buffer", "gauge", "Size of its output queue in items.", count(func(st *graph.StageStats) int64 { return int64(st.Buffer) })},
		{"stage_items_in_total", "counter", "Items that it took.", count(func(st *graph.StageStats) int64 { return st.ItemsIn })},
		{"stage_items_out_total", "counter", "Items that it handed on.", count(func(st *graph.StageStats) int64 { return st.ItemsOut })},
		{"stage_bytes_out_total", "counter", "Bytes that it handed on.", each(func(e *emitter, st *graph.StageStats, labels ...string) {
			if st.BytesOut != nil {
				e.one(float64(*st.BytesOut), labels...)
			}
		})},
		{"stage_lost_total", "counter", "Items that did not come through as they were, by reason.", each(func(e *emitter, st *graph.StageStats, labels ...string) {
			for _, x := range []struct {
				n    int64
				what string
			}{{st.Filtered, "filtered"}, {st.Skipped, "skipped"}, {st.StandIns, "stand_in"}, {st.Dropped, "dropped"}, {st.Failed, "failed"}} {
				e.one(float64(x.n), append(labels, "reason", x.what)...)
			}
		})},
		{"stage_retried_total", "counter", "Attempts after an item's first.", count(func(st *graph.StageStats) int64 { return st.Retried })},
		{"stage_abandoned_total", "counter", "Calls that were left behind after their timeout.", count(func(st *graph.StageStats) int64 { return st.Abandoned })},
		{"stage_seconds_total", "counter", "Time of its workers, by state.", timed(func(e *emitter, st *graph.StageStats, labels ...string) {
			e.seconds(st.WaitIn, append(labels, "state", graph.StateWaitIn)...)
			e.seconds(st.Busy, append(labels, "state", graph.StateBusy)...)
			e.seconds(st.WaitOut, append(labels, "state", graph.StateWaitOut)...)
		})},
		{"stage_service_seconds", "summary", "Busy time for an item, since the start.", timed(func(e *emitter, st *graph.StageStats, labels ...string) {
			for _, q := range []struct {
				q string
				d time.Duration
			}{{"0.5", st.Service.P50}, {"0.95", st.Service.P95}, {"0.99", st.Service.P99}} {
				e.seconds(q.d, append(labels, "quantile", q.q)...)
			}
			e.suffixed("_sum", st.Busy.Seconds(), labels...)
			e.suffixed("_count", float64(st.Service.Count), labels...)
		})},
		{"stage_capacity_per_second", "gauge", "Items a second that its workers could do.", timed(func(e *emitter, st *graph.StageStats, labels ...string) {
			e.maybe(st.Capacity, labels...)
		})},
		{"stage_queue_items", "gauge", "Mean depth of its output queue lately.", func(e *emitter) { queues(e, s) }},
	}
}

// queues gives the depths of the last bucket of the timeline.
func queues(e *emitter, s *graph.Snapshot) {
	if s.Timeline == nil {
		return
	}
	for _, l := range s.Timeline.Stages {
		if n := len(l.Queue); n > 0 {
			e.one(l.Queue[n-1], "stage", l.ID)
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// metrics is a snapshot in the text format of Prometheus.
func metrics(s graph.Snapshot) string {
	var b strings.Builder
	for _, f := range families(&s) {
		before := b.Len()
		fmt.Fprintf(&b, "# HELP penstock_%s %s\n# TYPE penstock_%s %s\n", f.name, f.help, f.name, f.kind)
		after := b.Len()
		f.emit(&emitter{&b, s.Pipeline, f.name})
		if b.Len() == after { // nothing is known: no family
			text := b.String()[:before]
			b.Reset()
			b.WriteString(text)
		}
	}
	return b.String()
}
