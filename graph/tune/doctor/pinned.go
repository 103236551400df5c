package doctor

import (
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// pinned is the arrow about page-locked memory, for a pipeline that has it: a run without shows what it brings.
func (x *exam) pinned() {
	const ask = "does pinning help here?"
	pin := pinOf(&x.now.s)
	if pin == nil || len(x.now.s.Devices) == 0 || x.now.s.Devices[0].PinnedBytes == 0 || x.now.m.rate == 0 {
		return
	}
	off := pin.ID + ".off=true"
	without, err := x.run([]string{off})
	if err != nil || len(without.s.Devices) == 0 || without.m.rate == 0 {
		if err == nil {
			err = fmt.Errorf("the run with %s has no steady phase", off)
		}
		x.step(ask, "not known", err.Error())
		return
	}
	answer := "no: within 5 % it is the same without"
	if gain := x.now.m.rate/without.m.rate - 1; gain >= worth {
		answer = fmt.Sprintf("yes: %s more samples/s", percent(gain))
	} else if gain <= -worth {
		answer = "no: it is slower"
	}
	proof := fmt.Sprintf("with it %s; with %s %s", withPin(&x.now), off, withPin(&without))
	if saves, wait, ok := report.PinSaves(&without.s.Devices[0]); ok {
		proof += fmt.Sprintf("; by the copies it could save at most %s of the %s that the device then waits for a batch", seconds(saves.Seconds()), seconds(wait.Seconds()))
	}
	x.step(ask, answer, proof)
}

// copies is the arrow about copies that hold the host up. True: they do, and the action says so: the stage has one worker,
// whatever the settings.
func (x *exam) copies(st *graph.StageStats) bool {
	d := deviceOf(&x.now.s, st.ID)
	if x.now.v.Cause != graph.CauseCopy || d == nil || d.StagedCopies == 0 {
		return false
	}
	const ask = "do batches lie in page-locked memory?"
	saves, wait, ok := report.PinSaves(d)
	bound := "what it can save is not known: the consumer does not say when it uses batches"
	a := Action{Stage: st.ID, Knob: "pin", Set: []string{}, Text: fmt.Sprintf("put pin before %s", quote(st.ID))}
	if ok {
		bound = fmt.Sprintf("it can save at most %s of the %s that the device waits for a batch", seconds(saves.Seconds()), seconds(wait.Seconds()))
		if each := x.now.m.p.Samples / x.now.m.rate; x.now.m.rate > 0 && each > saves.Seconds() {
			a.Predicted = x.now.m.p.Samples / (each - saves.Seconds())
			a.Gain = a.Predicted/x.now.m.rate - 1
		}
	}
	x.step(ask, "no", fmt.Sprintf("%s of %s hold the host up while they are copied; %s", plural(int(d.StagedCopies), "batch"), plural(int(d.Copies), "batch"), bound))
	pin := pinOf(&x.now.s)
	if pin == nil {
		x.act(a)
		return true
	}
	a.Set, a.Text = []string{pin.ID + ".off=false"}, fmt.Sprintf("let %s page-lock memory", quote(pin.ID))
	x.proved("does it help?", a)
	return true
}

func pinOf(s *graph.Snapshot) *graph.StageStats {
	for i := range s.Stages {
		if st := &s.Stages[i]; st.Kind == "pin" {
			return st
		}
	}
	return nil
}

// withPin tells what a run says of the way to the device.
func withPin(f *finding) string {
	text := rate(f.m.rate) + " samples/s"
	if d := &f.s.Devices[0]; d.Copies > 0 {
		text += fmt.Sprintf(", %s to copy a batch", seconds(d.CopyTime.Seconds()/float64(d.Copies)))
	}
	if r := f.s.Sink.DeviceWaitRatio; r != nil {
		text += fmt.Sprintf(", the device waits %s of the time", percent(*r))
	}
	return text
}
