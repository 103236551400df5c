package doctor

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// Measure runs the pipeline with settings changed, such as "decode.workers=8", for at most a time.
type Measure func(set []string, most time.Duration) (graph.Snapshot, error)

// Options are how an examination is made.
type Options struct {
	// Time is what all runs together may take; 0 is 30 seconds. Each of at most [Runs] gets an equal part.
	Time time.Duration
	// Memory is what the process may take in bytes where no container limits it: the machine's. A cache is not made larger
	// than that. 0 is no bound.
	Memory int64
}

// Runs is how often an examination runs the pipeline at most: as it is, with each of three actions, and once to find out
// why more workers do not help.
const Runs = 5

// mostActions is how many actions an examination ends in at most.
const mostActions = 3

// Step is one arrow of the way: what was asked, what the answer is, and what it rests on.
type Step struct {
	Ask    string `json:"ask"`
	Answer string `json:"answer"`
	Proof  string `json:"proof"`
}

// Action is something to do.
type Action struct {
	Text string `json:"text"`
	// Set are the settings that do it, for run --set; empty where none can.
	Set []string `json:"set"`
	// Stage is where, and Knob what: workers, buffer, window, limit, cores, sharing, items.
	Stage string `json:"stage"`
	Knob  string `json:"knob"`
	// Predicted is the rate that was expected with this action and those before it, in samples a second; Gain by what part
	// that is more than before it. Measured is what a run then gave; nil where it could not be tried.
	Predicted float64  `json:"predicted_samples_per_second"`
	Gain      float64  `json:"gain"`
	Measured  *float64 `json:"measured_samples_per_second"`
}

// Examination is what was found.
type Examination struct {
	Steps   []Step   `json:"steps"`
	Actions []Action `json:"actions"`
	Before  float64  `json:"samples_per_second"` // as it is, in the steady phase
	Healthy bool     `json:"healthy"`            // the sink hardly waits
	Runs    int      `json:"runs"`
	Limits  []string `json:"limits"` // what this examination could not see
	// First is the run as it is.
	First graph.Snapshot `json:"-"`
}

// exam is an examination at work.
type exam struct {
	Examination
	measure Measure
	each    time.Duration
	memory  int64           // 0: not known
	set     []string        // of the actions that were kept
	tried   map[string]bool // sets of settings
	now     finding         // with those
}

// finding is a run and what it tells.
type finding struct {
	s graph.Snapshot
	v report.Verdict
	m model
}

// Examine runs a pipeline at most [Runs] times and says what to do. It fails when the first run does; a later run that
// fails only ends the examination, and says so in Limits.
func Examine(measure Measure, o Options) (*Examination, error) {
	if o.Time == 0 {
		o.Time = 30 * time.Second
	}
	if o.Time < 0 {
		return nil, fmt.Errorf("the time must be more than 0, got %v", o.Time)
	}
	x := &exam{measure: measure, each: o.Time / Runs, memory: o.Memory, tried: map[string]bool{}}
	x.Steps, x.Actions, x.Limits = []Step{}, []Action{}, []string{}
	var err error
	if x.now, err = x.run(nil); err != nil {
		return nil, err
	}
	x.First, x.Before = x.now.s, x.now.m.rate
	x.limits()
	if !x.waiting() {
		x.device()
		x.edges()
		x.pinned()
		return &x.Examination, nil
	}
	x.phases()
	if x.now.v.Crowded {
		x.step("do other programs have the cores?", "yes", evidence(x.now.v.Evidence, "cores: "))
	}
	for len(x.Actions) < mostActions && x.now.v.Starved && x.treat() {
	}
	x.pinned()
	return &x.Examination, nil
}

// run measures with settings beside those that were kept.
func (x *exam) run(more []string) (finding, error) {
	if x.Runs == Runs {
		return finding{}, errNoTime
	}
	x.Runs++
	s, err := x.measure(append(append([]string{}, x.set...), more...), x.each)
	if err == nil && s.Err != "" {
		err = errors.New(s.Err)
	}
	if err != nil {
		return finding{}, err
	}
	return finding{s: s, v: report.Judge(s), m: modelOf(s)}, nil
}

var errNoTime = errors.New("the time is used up")

func (x *exam) step(ask, answer, proof string) {
	x.Steps = append(x.Steps, Step{ask, answer, proof})
}

// limits says what the first run leaves open.
func (x *exam) limits() {
	if x.now.v.Crowded {
		x.Limits = append(x.Limits, "other programs had the cores, so these figures tell little; examine again when the machine is quiet")
	}
	if x.now.s.Emulated {
		x.Limits = append(x.Limits, "the accelerator is emulated: its step is what the spec says, not what a device takes")
	}
	if n := x.now.s.Sink.SteadyItems; x.now.v.Measured && n < 30 {
		x.Limits = append(x.Limits, fmt.Sprintf("a run took only %d batches or items; more time (--seconds) makes this surer", n))
	}
}

// waiting is the first arrow. It says whether there is anything to treat.
func (x *exam) waiting() bool {
	const ask = "is the sink waiting?"
	r := x.now.s.Sink.WaitRatio
	switch {
	case r == nil:
		x.step(ask, "not known", x.now.v.Sentence)
		x.Limits = append(x.Limits, "the run was too short for a steady phase; give it more time (--seconds) or more samples")
		return false
	case !x.now.v.Starved:
		x.Healthy = true
		x.step(ask, "no", x.now.v.Sentence)
		x.phases()
		return false
	}
	x.step(ask, "yes", fmt.Sprintf("%s of the steady time, at %s samples/s", percent(*r), rate(x.Before)))
	return true
}

// phases is the arrow about the first batch and the edges of epochs.
func (x *exam) phases() {
	k := x.now.s.Sink
	all := k.Startup + k.Steady + k.EpochEdge
	if all == 0 {
		return
	}
	part := func(d time.Duration) string { return percent(float64(d) / float64(all)) }
	answer := "no"
	switch {
	case k.EpochEdge > k.Steady && k.EpochEdge > k.Startup:
		answer = "yes, at epoch edges"
	case k.Startup > k.Steady && k.Startup > k.EpochEdge:
		answer = "mostly the start, which a longer run makes small"
	}
	x.step("is it the first batch, or the edges of epochs?", answer, fmt.Sprintf("of the wait %s is the start, %s epoch edges, %s the rest",
		part(k.Startup), part(k.EpochEdge), part(k.Steady)))
}
