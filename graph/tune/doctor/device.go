package doctor

import (
	"fmt"

	"github.com/penstock-go/penstock/graph"
)

// fewer is by how much the bytes of a batch shrink where pictures are copied as uint8 and not as float32.
const fewer = 4

// device treats a pipeline whose sink hardly waits while the device behind it does: copies go on beside the host's work,
// so what they cost shows on the device alone.
func (x *exam) device() {
	v := &x.now.v
	if x.now.s.Sink.DeviceWaitRatio == nil || v.Bottleneck == "" || v.Next == nil {
		return
	}
	x.Healthy = false
	x.step("does the device itself wait?", "yes", v.Sentence)
	n := v.Next
	a := Action{Stage: n.Stage, Knob: n.Knob, Set: []string{}}
	switch {
	case n.Knob == "bytes":
		a.Text = fmt.Sprintf("send fewer bytes through %s (pictures as uint8, made into floats on the device, are a quarter)", quote(n.Stage))
		a.Predicted = x.lighter(n.Stage)
		x.act(a)
		return
	case n.To == nil:
		a.Text = fmt.Sprintf("raise %s of %s: batches come unevenly", n.Knob, quote(n.Stage))
		x.act(a)
		return
	}
	k := knob{n.Stage, n.Knob, *n.From, *n.To}
	c := change{knobs: []knob{k}}
	a.Set, a.Text = c.set(), c.text()
	if v.Predicted != nil && x.Before > 0 {
		a.Predicted = *v.Predicted
		a.Gain = a.Predicted/x.Before - 1
	}
	x.proved("does room on the device help?", a)
}

// proved tries an action and keeps it if it helps.
func (x *exam) proved(ask string, a Action) {
	after, err := x.run(a.Set)
	if err != nil {
		x.untried(ask, a, err)
		return
	}
	proof := fmt.Sprintf("%s: predicted %s samples/s, measured %s (was %s)", a.Set[0], rate(a.Predicted), rate(after.m.rate), rate(x.Before))
	if after.m.rate/x.Before-1 < max(worth/2, helped*a.Gain) {
		x.step(ask, "no", proof)
		return
	}
	x.step(ask, "yes", proof)
	a.Measured = &after.m.rate
	x.Actions = append(x.Actions, a)
}

// lighter is the rate if batches had a quarter of their bytes: the copy's, the step's, or that of the slowest other stage.
func (x *exam) lighter(stage string) float64 {
	d := deviceOf(&x.now.s, stage)
	if d == nil || d.Copies == 0 || d.Steps < 2 || x.now.m.p.Samples == 0 {
		return 0
	}
	each := max(d.CopyTime.Seconds()/float64(d.Copies)/fewer, d.Busy.Seconds()/float64(d.Steps-1))
	best := x.now.m.p.Samples / each
	for _, l := range x.now.m.p.Limits() {
		if s := x.now.m.stage(l.By); l.By != stage && (s == nil || s.ID != x.now.s.Stages[len(x.now.s.Stages)-1].ID) {
			best = min(best, l.Rate)
		}
	}
	return best
}

func deviceOf(s *graph.Snapshot, stage string) *graph.DeviceStats {
	for i := range s.Devices {
		if s.Devices[i].Stage == stage {
			return &s.Devices[i]
		}
	}
	return nil
}
