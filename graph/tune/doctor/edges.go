package doctor

import (
	"fmt"

	"github.com/penstock-go/penstock/graph"
)

// edges treats a pipeline that keeps up within an epoch and makes the sink wait for the first item of each: a stage that
// begins slowly needs room to begin earlier. The rate here is that of the whole run, edges included.
func (x *exam) edges() {
	k, s := x.now.s.Sink, &x.now.s
	life := (k.Wait + k.Busy).Seconds()
	if !x.Healthy || life == 0 || k.EpochEdge.Seconds() < worth*life {
		return
	}
	id, most := "", 0.0
	by := map[string]float64{}
	for _, b := range s.Blame {
		if b.Phase != graph.PhaseEpochEdge || b.Stage == "" {
			continue
		}
		if by[b.Stage] += b.Time.Seconds(); by[b.Stage] > most {
			id, most = b.Stage, by[b.Stage]
		}
	}
	st := x.now.m.stage(id)
	if st == nil || st.Buffer == 0 || x.now.m.rate == 0 {
		return
	}
	x.Healthy = false
	x.step("which stage makes the edges long?", fmt.Sprintf("%s: %s", quote(id), trade(s.Stages, st)),
		fmt.Sprintf("it carries %s of the wait at the edges, %s of %s", percent(most/k.EpochEdge.Seconds()), seconds(most), seconds(life)))
	whole := overall(s)
	gap := k.EpochEdge.Seconds() / float64(max(1, s.Totals.Epochs-1)) // the sink goes on for so long if so much lies ready
	to := power(1.5*gap*x.now.m.rate*x.visits(id)+float64(st.Buffer), 65536)
	c := change{knobs: []knob{{id, "buffer", st.Buffer, to}}}
	c.rate = whole * life / (life - most)
	a := Action{Stage: id, Knob: "buffer", Set: c.set(), Text: c.text() + ", so that the next epoch is begun earlier", Predicted: c.rate, Gain: c.rate/whole - 1}
	const ask = "does room to begin earlier help?"
	after, err := x.run(a.Set)
	if err != nil {
		x.untried(ask, a, err)
		return
	}
	got := overall(&after.s)
	proof := fmt.Sprintf("%s: predicted %s samples/s over all, measured %s (was %s)", c.question(), rate(c.rate), rate(got), rate(whole))
	if got/whole-1 < helped*a.Gain {
		x.step(ask, "no", proof)
		return
	}
	x.step(ask, "yes", proof)
	a.Measured = &got
	x.Actions = append(x.Actions, a)
}

// overall is the rate of a whole run, in samples a second.
func overall(s *graph.Snapshot) float64 {
	if t := s.Totals.Elapsed.Seconds(); t > 0 {
		return float64(s.Totals.Samples) / t
	}
	return 0
}

// visits is how many outputs of a stage one sample takes.
func (x *exam) visits(id string) float64 {
	for i := range x.now.m.p.Stages {
		if s := &x.now.m.p.Stages[i]; s.ID == id && x.now.m.p.Samples > 0 {
			if out := s.Visits * s.Out; out > 0 {
				return out / x.now.m.p.Samples
			}
		}
	}
	return 1
}

// power is the next power of two, most at most.
func power(x float64, most int) int {
	n := 1
	for n < most && float64(n) < x {
		n *= 2
	}
	return n
}
