package graph

import (
	"time"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// OnWorker calls f on each goroutine of a stage when it starts, with a number that counts the stage's goroutines: there
// labels for profiles are set, once, so that nothing is paid for each item.
//
//	graph.OnWorker(func(stage string, worker int) {
//		pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("stage", stage)))
//	})
//
// Goroutines that a stage starts itself inherit the labels. Under [Sync] all runs in the consumer's goroutine, which is
// not a stage's; nor is that of a loop over an [Output].
func OnWorker(f func(stage string, worker int)) PipelineOption {
	return func(p *Pipeline) { p.onWorker = f }
}

// OnState calls f on each worker's goroutine when it starts, and what f gives with each state that the worker enters:
// "wait_in", "busy", "wait_out", and "" when it leaves. It is called for each slice of items, so it must be quick.
func OnState(f func(stage string) (enter func(state string))) PipelineOption {
	return func(p *Pipeline) {
		p.onState = func(stage string) func(meter.State) {
			enter := f(stage)
			return func(s meter.State) {
				if s < 0 {
					enter("")
					return
				}
				enter(states[s])
			}
		}
	}
}

var states = [...]string{meter.WaitIn: StateWaitIn, meter.Busy: StateBusy, meter.WaitOut: StateWaitOut}

// States of a worker.
const (
	StateWaitIn  = "wait_in"
	StateBusy    = "busy"
	StateWaitOut = "wait_out"
)

// KeepTrace keeps what each worker did, slice by slice, for [Run.Trace]: the first so many spans, of 40 bytes each, from
// the start on. Then it stops, and a warning says when. The clock is not read more often.
func KeepTrace(spans int) PipelineOption {
	return func(p *Pipeline) {
		p.keepTrace = func(r *Run) {
			r.roll = meter.NewRoll(int64(spans))
			for _, st := range r.stages {
				st.m.Tape(r.roll)
				if st.depth != nil {
					st.depth.KeepTape(r.roll)
				}
			}
			r.blamer.KeepWaits(r.roll)
		}
	}
}

// Trace is what every worker did from the start of a run on. Times are since Start.
type Trace struct {
	Pipeline string
	Stages   []TraceStage  // in order of declaration; the sink last
	Waits    []TraceWait   // of the sink, in order
	Cut      time.Duration // when it was full; 0: it is complete
	Spans    int           // how many there may be
}

// TraceStage is one stage of a trace.
type TraceStage struct {
	ID, Kind string
	Workers  [][]Span // in order of their start
	Queue    []Depth  // of its output queue
}

// Span is a time in one state. Epoch and Place are those of the item that the worker began with last.
type Span struct {
	From, To     time.Duration
	State        string
	Epoch, Place int64
}

// Depth is how many items lay in a queue for a time.
type Depth struct {
	From, To time.Duration
	Items    int64
}

// TraceWait is a wait of the sink. Stage is what most of it is blamed on, "" if no stage is at fault; that stage was done
// with the awaited item at Done, -1 if it had no part in it.
type TraceWait struct {
	From, To time.Duration
	Stage    string
	Done     time.Duration
}

// Trace copies what was kept. It is empty without [KeepTrace].
func (r *Run) Trace() Trace {
	t := Trace{Pipeline: r.p.name}
	if r.roll == nil {
		return t
	}
	t.Cut, t.Spans = time.Duration(r.roll.Cut()), r.roll.Size()
	for _, st := range r.stages {
		x := TraceStage{ID: st.n.id, Kind: st.n.kind}
		for _, w := range st.m.Workers() {
			if st.group == nil {
				x.Workers = append(x.Workers, spansOf(w.Tape()))
			}
		}
		if st.depth != nil {
			for _, s := range st.depth.Tape().Spans() {
				x.Queue = append(x.Queue, Depth{time.Duration(s.From), time.Duration(s.To), s.Place})
			}
		}
		t.Stages = append(t.Stages, x)
	}
	for _, w := range r.blamer.Waits() {
		x := TraceWait{From: time.Duration(w.From), To: time.Duration(w.To), Done: time.Duration(w.Done)}
		if w.Stage >= 0 {
			x.Stage = r.stages[w.Stage].n.id
		}
		t.Waits = append(t.Waits, x)
	}
	return t
}

func spansOf(t *meter.Tape) []Span {
	var out []Span
	for _, s := range t.Spans() {
		out = append(out, Span{time.Duration(s.From), time.Duration(s.To), states[s.State], s.Epoch, s.Place})
	}
	return out
}
