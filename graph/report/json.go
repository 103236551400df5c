package report

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// Version is that of the JSON report. It rises when a key changes its meaning or goes away; new keys do not raise it.
const Version = 1

// JSON is the report for programs, version 1, as report.schema.json describes it: durations in seconds, absent figures
// null, every key present, the same order of keys each time.
func JSON(s graph.Snapshot) ([]byte, error) {
	j := newJudge(clean(s))
	s = j.s
	doc := document{
		Version: Version, Pipeline: s.Pipeline, Emulated: s.Emulated, Rank: s.Rank, World: s.World,
		Environment: environmentOf(s.Environment),
		Spec:        specOf(s.Spec), Totals: totalsOf(&s), Sink: sinkOf(s.Sink), Blame: blameOf(s.Blame),
		Stages: stagesOf(s.Stages), Epochs: epochsOf(&s),
		Mix: mixOf(s.Mix), Cache: cachesOf(s.Caches), Devices: devicesOf(&s), Decisions: decisionsOf(s.Decisions),
		Skips:   skipsOf(s.Skips),
		Verdict: verdictOf(j.v), Memory: memoryOf(&s), Timeline: timelineOf(s.Timeline, s.Memory.BytesKnown), Digest: s.Digest,
		GCPause: s.GCPause.Seconds(), Warnings: warnings(&s),
	}
	if s.Digest != nil {
		doc.DigestSeconds = some(s.DigestTime.Seconds())
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return compact(b.Bytes()), err
}

// warnings are those of the run, with the stages whose counts do not add up.
func warnings(s *graph.Snapshot) []string {
	all := append([]string{}, s.Warnings...)
	for _, u := range s.Totals.Unbalanced {
		all = append(all, "counts do not add up: "+u)
	}
	return all
}

func some[T any](x T) *T { return &x }

// positive is nil for 0, where 0 means that there is no such figure.
func positive[T int | int64 | float64](x T) *T {
	if x == 0 {
		return nil
	}
	return &x
}

// text is nil for "".
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func inSeconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return some(d.Seconds())
}

func environmentOf(e graph.Environment) environmentDoc {
	return environmentDoc{CPU: text(e.CPU), Cores: positive(e.Cores), CoresQuota: positive(e.CoresQuota),
		MemoryLimit: e.MemoryLimit, OS: text(e.OS), Go: text(e.Go), Version: text(e.Version), Device: e.Device,
		Driver: e.Driver, Decoder: e.Decoder}
}

func specOf(x graph.SpecInfo) specDoc {
	return specDoc{Text: x.Text, Fingerprint: text(x.Fingerprint), Overrides: append([]string{}, x.Overrides...)}
}

func totalsOf(s *graph.Snapshot) totalsDoc {
	t := s.Totals
	d := totalsDoc{Epochs: t.Epochs, Samples: t.Samples, Batches: t.Batches, Bytes: t.Bytes, Seconds: t.Elapsed.Seconds(),
		SamplesPerSecond: ratio(float64(t.Samples), t.Elapsed.Seconds()),
		BatchesPerSecond: ratio(float64(t.Batches), t.Elapsed.Seconds()),
		FirstBatch:       inSeconds(t.FirstBatch), Skipped: t.Skipped, StandIns: t.StandIns, Padded: t.Padded,
		Dropped: t.Dropped, Failed: t.Failed, CPU: positive(s.CPU.Seconds()), CPUWait: positive(s.CPUWait.Seconds())}
	if !s.Running {
		d.Balanced = &t.Balanced
	}
	return d
}

func sinkOf(k graph.SinkStats) sinkDoc {
	d := sinkDoc{Wait: k.Wait.Seconds(), Busy: k.Busy.Seconds(), WaitRatio: k.WaitRatio, DeviceWaitRatio: k.DeviceWaitRatio}
	d.Waits = distributionOf(k.Waits)
	d.SteadyItems, d.SteadyBusy = k.SteadyItems, k.SteadyBusy.Seconds()
	d.Phases = phasesDoc{k.Startup.Seconds(), k.Steady.Seconds(), k.EpochEdge.Seconds()}
	if l := k.Launches; l != nil {
		d.Launches = &launchesDoc{Count: l.Late.Count, Busy: l.Busy.Seconds(), Late: distributionOf(l.Late)}
	}
	return d
}

func distributionOf(d graph.Distribution) distributionDoc {
	buckets := make([]bucketDoc, len(d.Buckets))
	for i, b := range d.Buckets {
		buckets[i] = bucketDoc{b.Upto.Seconds(), b.Count}
	}
	if d.Count == 0 && d.Mean == 0 {
		return distributionDoc{Buckets: buckets}
	}
	return distributionDoc{some(d.Mean.Seconds()), some(d.P50.Seconds()), some(d.P95.Seconds()), some(d.P99.Seconds()),
		some(d.Max.Seconds()), buckets}
}

func blameOf(all []graph.Blame) []blameDoc {
	docs := make([]blameDoc, 0, len(all))
	for _, b := range all {
		docs = append(docs, blameDoc{text(b.Stage), b.Cause, b.Phase, b.Time.Seconds()})
	}
	return docs
}

func stagesOf(all []graph.StageStats) []stageDoc {
	docs := make([]stageDoc, 0, len(all))
	for i := range all {
		docs = append(docs, stageOf(&all[i]))
	}
	return docs
}

// stageOf leaves out the times of a stage that was absorbed by another: they are that one's.
func stageOf(st *graph.StageStats) stageDoc {
	d := stageDoc{ID: st.ID, Kind: st.Kind, Load: text(string(st.Load)), From: append([]string{}, st.From...),
		Order: text(st.Order), Group: positive(st.Group), Slabs: positive(st.Slabs), Workers: st.Workers, Buffer: positive(st.Buffer),
		Window: positive(st.Window), ItemsIn: st.ItemsIn, ItemsOut: st.ItemsOut, Skipped: st.Skipped,
		StandIns: st.StandIns, Failed: st.Failed, Retried: st.Retried, InFlight: st.InFlight, BytesOut: st.BytesOut,
		SlabBytes: positive(st.SlabBytes), Keeps: st.Keeps,
		Queue: queueDoc{st.Queue.Mean, st.Queue.Occupancy}, FusedInto: text(st.FusedInto),
		Phases: []phaseDoc{}, Slowest: []slowDoc{}, Stragglers: []stragglerDoc{}, Filtered: st.Filtered}
	if st.Timeout > 0 {
		d.Abandoned, d.Overdue = &st.Abandoned, &st.Overdue
	}
	if a := st.Admitted; a != nil {
		d.Admitted = &admittedDoc{a.Items, a.Bytes, []sizeRangeDoc{}}
		for _, r := range a.Sizes {
			d.Admitted.Sizes = append(d.Admitted.Sizes, sizeRangeDoc(r))
		}
	}
	for _, p := range st.Phases {
		d.Phases = append(d.Phases, phaseDoc{p.Name, p.Busy.Seconds()})
	}
	for _, x := range st.Slowest {
		d.Slowest = append(d.Slowest, slowDoc{x.Key, x.Time.Seconds()})
	}
	for _, x := range st.Stragglers {
		d.Stragglers = append(d.Stragglers, stragglerDoc{x.Key, x.Times, x.Held.Seconds(), x.Blocked.Seconds()})
	}
	if st.FusedInto != "" {
		d.Service.Buckets = []bucketDoc{}
		return d
	}
	d.WaitIn, d.Busy, d.WaitOut = some(st.WaitIn.Seconds()), some(st.Busy.Seconds()), some(st.WaitOut.Seconds())
	d.Service = serviceDoc{distributionOf(st.Service), text(st.Resolution)}
	d.Capacity, d.Utilisation = st.Capacity, st.Utilisation
	return d
}

func skipsOf(all []graph.SkipNote) []skipDoc {
	docs := make([]skipDoc, 0, len(all))
	for _, n := range all {
		docs = append(docs, skipDoc{n.Stage, n.Key, n.Err, n.Attempt, n.Offset})
	}
	return docs
}

func epochsOf(s *graph.Snapshot) []epochDoc {
	docs := make([]epochDoc, 0, len(s.Epochs))
	for _, e := range s.Epochs {
		d := epochDoc{Epoch: e.Epoch, Samples: e.Samples, Batches: e.Batches, Seconds: e.Elapsed.Seconds(),
			EdgeGap: inSeconds(e.EdgeGap), Digest: e.Digest, Stages: []epochStageDoc{}, Cache: cacheEpochsOf(e.Caches),
			PeakRSS: positive(e.PeakRSS), Goroutines: positive(e.Goroutines)}
		if s.Memory.BytesKnown && e.Goroutines > 0 { // it is over
			d.InFlight = &e.InFlight
		}
		for i := range s.Stages { // in order of declaration, as everywhere
			if n, ok := e.ItemsIn[s.Stages[i].ID]; ok {
				d.Stages = append(d.Stages, epochStageDoc{s.Stages[i].ID, n})
			}
		}
		docs = append(docs, d)
	}
	return docs
}

func mixOf(all []graph.MixStats) []mixDoc {
	docs := make([]mixDoc, 0, len(all))
	for _, m := range all {
		d := mixDoc{ID: m.ID, Inputs: []mixInputDoc{}}
		for _, in := range m.Inputs {
			d.Inputs = append(d.Inputs, mixInputDoc{in.ID, in.Asked, in.Delivered, in.Items})
		}
		docs = append(docs, d)
	}
	return docs
}

func verdictOf(v Verdict) verdictDoc {
	d := verdictDoc{Bottleneck: text(v.Bottleneck), Sentence: v.Sentence, ShareOfWait: v.ShareOfWait, Gain: v.Gain,
		Predicted: v.Predicted, Evidence: append([]string{}, v.Evidence...)}
	if v.Measured {
		d.Starved = &v.Starved
	}
	if n := v.Next; n != nil {
		d.Next = &nextDoc{n.Stage, n.Knob, n.From, n.To}
	}
	return d
}

func memoryOf(s *graph.Snapshot) memoryDoc {
	m := s.Memory
	caches, held := heldBytes(s)
	d := memoryDoc{PeakRSS: positive(m.PeakRSS), BytesKnown: m.BytesKnown, Caches: caches, Estimate: m.Estimate, Scarce: m.Scarce.Seconds(),
		Estimated: estimateOf(m.Estimated), Budget: positive(m.Limit), Fixed: m.Fixed, Hold: m.Hold}
	if m.BytesKnown {
		d.InFlightPeak, d.OverdraftPeak, d.SlabsPeak, d.Held = &m.InFlightPeak, &m.OverdraftPeak, &m.SlabsPeak, &held
	}
	return d
}
