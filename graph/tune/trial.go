package tune

import (
	"slices"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// Trial is one measured run, without its warm-up.
type Trial struct {
	Rate      float64 // samples a second that the sink took
	Items     float64 // items a second that it took
	WaitRatio float64
	CPU       float64 // cores kept busy
	Seconds   float64
	PeakRSS   int64
	Snapshot  graph.Snapshot // at the end
	later     bool           // it is of the epochs after the first
}

// profile is what the trial tells about the pipeline: of later epochs what they are like, with what caches spare them.
func (t Trial) profile() (Profile, error) {
	p, err := Of(t.Snapshot)
	if err != nil || !t.later {
		return p, err
	}
	for _, c := range t.Snapshot.Caches {
		if at := p.index(c.ID); at >= 0 && p.Stages[at].Missed > 0 {
			_ = p.cache(at, float64(c.Limit))
		}
	}
	return p, nil
}

// Between is what happened between two snapshots of a run; the first may be empty. Its time is that from one item of the
// sink to another, so that a short trial is not off by a part of an item.
func Between(warm, end graph.Snapshot) Trial {
	t := Trial{Seconds: (end.Totals.Elapsed - warm.Totals.Elapsed).Seconds(), PeakRSS: end.Memory.PeakRSS, Snapshot: end}
	if t.Seconds > 0 {
		t.CPU = (end.CPU - warm.CPU).Seconds() / t.Seconds
	}
	wait, busy := end.Sink.Wait-warm.Sink.Wait, end.Sink.Busy-warm.Sink.Busy
	samples, items := float64(end.Totals.Samples-warm.Totals.Samples), float64(taken(end)-taken(warm))
	if warm.Pipeline == "" || items == 0 { // over before the warm-up was
		wait, busy = end.Sink.SteadyWait, end.Sink.SteadyBusy
		each := float64(end.Totals.Samples) / max(1, float64(taken(end)))
		items = float64(end.Sink.SteadyItems)
		samples = items * each
	}
	if took := (wait + busy).Seconds(); took > 0 {
		t.Rate, t.Items, t.WaitRatio = samples/took, items/took, wait.Seconds()/took
	}
	return t
}

// Later is what happened in the whole epochs after the first, which fills what keeps items for them; ok is false where
// there was none. warm is a snapshot of when the first was over, or of some time after. Cores are those kept busy since.
func Later(warm, end graph.Snapshot) (t Trial, ok bool) {
	n := WholeEpochs(end)
	if n < 2 {
		return t, false
	}
	t = Trial{PeakRSS: end.Memory.PeakRSS, Snapshot: end, later: true}
	var samples, items int64
	var took, waited time.Duration
	for _, e := range end.Epochs[1:n] {
		samples, took, waited = samples+e.Samples, took+e.Elapsed, waited+e.Wait
		if items += e.Batches; e.Batches == 0 {
			items += e.Samples
		}
	}
	if t.Seconds = took.Seconds(); took > 0 {
		t.Rate, t.Items, t.WaitRatio = float64(samples)/t.Seconds, float64(items)/t.Seconds, waited.Seconds()/t.Seconds
	}
	if d := end.Totals.Elapsed - warm.Totals.Elapsed; d > 0 {
		t.CPU = (end.CPU - warm.CPU).Seconds() / d.Seconds()
	}
	return t, samples > 0
}

// WholeEpochs is how many epochs are over.
func WholeEpochs(s graph.Snapshot) int {
	n := len(s.Epochs)
	if n > 0 && s.Epochs[n-1].Goroutines == 0 {
		n-- // it goes on
	}
	return n
}

func taken(s graph.Snapshot) int64 {
	if len(s.Stages) == 0 {
		return 0
	}
	return s.Stages[len(s.Stages)-1].ItemsIn
}

// median is the middle one; of an even number the lower.
func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	xs = slices.Sorted(slices.Values(xs))
	return xs[(len(xs)-1)/2]
}

// Growth is an alarm: something grew from epoch to epoch.
type Growth struct {
	What     string // "goroutines", "rss", "in_flight"
	From, To float64
	Epochs   int
}

// Growing finds what grew through all of the epochs, the first left out, by a tenth in all or more. It needs four.
func Growing(epochs []graph.EpochStats) (all []Growth) {
	epochs = epochs[:WholeEpochs(graph.Snapshot{Epochs: epochs})]
	if len(epochs) < 5 {
		return nil
	}
	epochs = epochs[1:]
	for _, q := range []struct {
		what string
		of   func(graph.EpochStats) float64
	}{
		{"goroutines", func(e graph.EpochStats) float64 { return float64(e.Goroutines) }},
		{"in_flight", func(e graph.EpochStats) float64 { return float64(e.InFlight) }},
		{"rss", func(e graph.EpochStats) float64 { return float64(e.PeakRSS) }},
	} {
		first, last, rises := q.of(epochs[0]), q.of(epochs[len(epochs)-1]), 0
		for i := 1; i < len(epochs); i++ {
			switch a, b := q.of(epochs[i-1]), q.of(epochs[i]); {
			case b > a:
				rises++
			case b < a:
				rises = -len(epochs)
			}
		}
		if first > 0 && last >= 1.1*first && rises >= len(epochs)/2 {
			all = append(all, Growth{q.what, first, last, len(epochs)})
		}
	}
	return all
}
