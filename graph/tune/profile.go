package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// Profile is what a run tells about a pipeline: enough to predict others. It is a value; changing a copy made by
// [Profile.Clone] asks what if. Times are in seconds, rates in items a second.
type Profile struct {
	Pipeline string
	Stages   []Stage // each after those that it reads from; the sink last
	Cores    float64 // that the process may use; 0: unknown, and no limit
	Overhead float64 // processor time for one item of the sink that is spent outside of computing stages
	Disk     float64 // bytes a second that all sources together can read; 0: not known, and no limit
	Memory   int64   // the byte budget: what items under way and batches may take; 0: no limit
	Fixed    float64 // bytes of it that stages keep for good, without batches
	Hold     int64   // the oldest items of each source, which pass whatever there is room for
	Samples  float64 // samples in one item of the sink
	Measured Measured
}

// Measured is what the recorded run did. 0: not known.
type Measured struct {
	Rate      float64 // samples a second in the steady phase
	WaitRatio float64
	P95       float64 // of the sink's waits
	Items     int64   // that the sink took
	CPU       float64 // cores that the process kept busy
	Seconds   float64
}

// Stage is one stage of a profile. Stages that were fused are one, under the id of the first.
type Stage struct {
	ID, Kind  string
	From      []int // indices of the stages that it reads from
	Waits     bool  // its workers wait for something that is not the processor
	Sink      bool
	Merge     bool
	Shares    []float64 // of a mix: what is asked of each of From; nil: it takes of each in turn
	Workers   int
	Buffer    int // 0: it has no output
	Window    int
	Ordered   bool
	Group     int     // inputs of one output; 0: not a group
	Slabs     int     // outputs of a group that there may be at once
	Keeps     bool    // the inputs of a group live on in its output
	Out       float64 // outputs for one input
	Visits    float64 // its inputs (outputs of a source) for one item of the sink; 0: unknown
	Epoch     int64   // items of an epoch, of a source; 0: unknown
	Epochs    int64   // that the run went through, of a source
	Bytes     float64 // of an output; 0: unknown
	SlabBytes float64 // of the memory of a group's output; 0: unknown, or not its own
	Need      float64 // bytes of the budget that are set aside for an output of a source; 0: unknown
	Read      float64 // share of a source's bytes that comes from the disk: less than 1 behind a cache
	Missed    float64 // share of a cache's look-ups that it did not have; 0: no cache, or not known
	Set       float64 // bytes that there are for a cache to hold; 0: not known
	Time      Times   // of one input
	made      int64   // outputs that were recorded
	sizes     Times   // of which Need is the mean, a billionth of a byte for a second; zero: all alike
	let       float64 // items that were let in
	members   []string
}

// document is the part of report.json that a profile is made of.
type document struct {
	Version  int    `json:"version"`
	Pipeline string `json:"pipeline"`
	Env      struct {
		Cores *float64 `json:"cores"`
		Quota *float64 `json:"cores_quota"`
	} `json:"environment"`
	Totals struct {
		Epochs, Samples int64
		Seconds         float64
		CPU             *float64 `json:"cpu_seconds"`
		CPUWait         *float64 `json:"cpu_wait_seconds"`
	} `json:"totals"`
	Sink struct {
		WaitRatio   *float64 `json:"wait_ratio"`
		SteadyItems int64    `json:"steady_items"`
		SteadyBusy  float64  `json:"steady_busy_seconds"`
		Phases      struct{ Steady float64 }
		Waits       struct{ P95 *float64 }
	} `json:"sink"`
	Memory struct {
		Budget *int64 `json:"budget_bytes"`
		Fixed  int64  `json:"budget_fixed_bytes"`
		Hold   int64  `json:"hold_items"`
	} `json:"memory"`
	Stages []stageDoc `json:"stages"`
	Cache  []cacheDoc `json:"cache"`
	Mix    []struct {
		ID     string `json:"id"`
		Inputs []struct {
			ID    string  `json:"id"`
			Asked float64 `json:"asked"`
		} `json:"inputs"`
	} `json:"mix"`
	Epochs []struct {
		Stages []struct {
			ID      string `json:"id"`
			ItemsIn int64  `json:"items_in"`
		} `json:"stages"`
	} `json:"epochs"`
}

type stageDoc struct {
	ID, Kind, Load, Order   string
	From                    []string
	Workers, Buffer, Window int
	Group, Slabs            int
	In                      int64    `json:"items_in"`
	Out                     int64    `json:"items_out"`
	InFlight                int64    `json:"in_flight"`
	Busy                    *float64 `json:"busy_seconds"`
	BytesOut                *float64 `json:"bytes_out"`
	SlabBytes               int64    `json:"slab_bytes"`
	Keeps                   bool     `json:"keeps_inputs"`
	Admitted                *struct {
		Items, Bytes int64
		Sizes        []bucket
	}
	FusedInto string `json:"fused_into"`
	Service   struct {
		Mean    *float64
		Buckets []bucket
	}
}

// Of makes a profile of a run.
func Of(s graph.Snapshot) (Profile, error) {
	text, err := report.JSON(s)
	if err != nil {
		return Profile{}, err
	}
	return Read(text)
}

// Read makes a profile of a report in JSON.
func Read(text []byte) (Profile, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return Profile{}, fmt.Errorf("not a report in JSON: %w", err)
	}
	switch {
	case d.Version != report.Version:
		return Profile{}, fmt.Errorf("a report of version %d, wanted %d", d.Version, report.Version)
	case len(d.Stages) == 0:
		return Profile{}, errors.New("the report has no stages")
	case d.Stages[len(d.Stages)-1].In == 0:
		return Profile{}, errors.New("nothing reached the sink in this report, so there is nothing to predict from; run it longer")
	}
	if err := d.check(); err != nil {
		return Profile{}, err
	}
	return d.profile()
}

func (d *document) profile() (Profile, error) {
	p := Profile{Pipeline: d.Pipeline, Samples: 1}
	for _, c := range []*float64{d.Env.Cores, d.Env.Quota} { // the quota is the one that holds
		if c != nil {
			p.Cores = *c
		}
	}
	p.Measured = Measured{Seconds: d.Totals.Seconds, Items: d.Stages[len(d.Stages)-1].In}
	if d.Sink.WaitRatio != nil {
		p.Measured.WaitRatio = *d.Sink.WaitRatio
	}
	if d.Sink.Waits.P95 != nil {
		p.Measured.P95 = *d.Sink.Waits.P95
	}
	if d.Totals.CPU != nil && d.Totals.Seconds > 0 {
		p.Measured.CPU = *d.Totals.CPU / d.Totals.Seconds
	}
	if d.Totals.Samples > 0 {
		p.Samples = float64(d.Totals.Samples) / float64(p.Measured.Items)
	}
	if took := d.Sink.Phases.Steady + d.Sink.SteadyBusy; took > 0 {
		p.Measured.Rate = float64(d.Sink.SteadyItems) / took * p.Samples
	}
	if err := d.stages(&p); err != nil {
		return Profile{}, err
	}
	p.visits()
	d.caches(&p)
	d.needs(&p)
	d.budget(&p)
	d.processor(&p)
	return p, nil
}

// stages fills the stages in; those that were fused into another become part of it.
func (d *document) stages(p *Profile) error {
	index, read := map[string]int{}, map[int]bool{}
	for i := range d.Stages {
		x := &d.Stages[i]
		if _, twice := index[x.ID]; twice {
			return fmt.Errorf("the report has two stages %q", x.ID)
		}
		if x.FusedInto != "" {
			at, ok := index[x.FusedInto]
			if !ok {
				return fmt.Errorf("stage %q is fused into %q, which the report does not have before it", x.ID, x.FusedInto)
			}
			index[x.ID] = at
			p.Stages[at].absorb(x, d.first(x.FusedInto))
			continue
		}
		s := Stage{ID: x.ID, Kind: x.Kind, Waits: x.Load == string(graph.Wait), Sink: i == len(d.Stages)-1, Workers: max(1, x.Workers),
			Merge: len(x.From) > 1, Ordered: x.Order != string(graph.CompletionOrder), Group: x.Group, Out: 1, Read: 1, Keeps: x.Keeps, SlabBytes: float64(x.SlabBytes)}
		s.behind(x)
		for _, id := range x.From {
			at, ok := index[id]
			if !ok {
				return fmt.Errorf("stage %q reads from %q, which the report does not have before it", x.ID, id)
			}
			if read[at] {
				return fmt.Errorf("stage %q reads from %q, which another stage reads from already", x.ID, id)
			}
			s.From, read[at] = append(s.From, at), true
		}
		s.Shares = d.shares(x)
		if x.Service.Mean != nil {
			s.Time = recorded(*x.Service.Mean, x.Service.Buckets)
		}
		if s.Sink && d.Sink.SteadyItems > 0 && s.Time.Mean() > 0 {
			s.Time = s.Time.Scaled(d.Sink.SteadyBusy / float64(d.Sink.SteadyItems) / s.Time.Mean())
		}
		s.outputs(x, x)
		d.epochs(&s)
		index[x.ID] = len(p.Stages)
		p.Stages = append(p.Stages, s)
	}
	return nil
}

func (d *document) first(id string) *stageDoc {
	return &d.Stages[slices.IndexFunc(d.Stages, func(s stageDoc) bool { return s.ID == id })]
}

// shares are what a mix asks of its inputs, in their order; nil where it is none, or asks nothing that could be followed.
func (d *document) shares(x *stageDoc) []float64 {
	for _, m := range d.Mix {
		if m.ID != x.ID || len(m.Inputs) != len(x.From) {
			continue
		}
		shares := make([]float64, len(x.From))
		for _, in := range m.Inputs {
			at := slices.Index(x.From, in.ID)
			if at < 0 || !(in.Asked > 0 && in.Asked <= 1) {
				return nil
			}
			shares[at] = in.Asked
		}
		return shares
	}
	return nil
}

// behind takes what is told of the queue behind a stage.
func (s *Stage) behind(x *stageDoc) { s.Buffer, s.Window, s.Slabs = x.Buffer, x.Window, x.Slabs }

// outputs sets how many outputs a stage makes of an input and how large they are. last is the last member of a fused group.
func (s *Stage) outputs(x, last *stageDoc) {
	s.made = last.Out
	if in := x.In - x.InFlight; in > 0 && last.Out > 0 && len(s.From) > 0 {
		s.Out = float64(last.Out) / float64(in)
		if one := s.Out; one > 0.999 && one < 1.001 {
			s.Out = 1 // the run was broken off while items were under way
		}
		if s.Group > 0 {
			s.Out = max(s.Out, 1/float64(s.Group))
		}
	}
	if last.BytesOut != nil && last.Out > 0 {
		s.Bytes = *last.BytesOut / float64(last.Out)
	}
}

func (s *Stage) absorb(x, head *stageDoc) {
	s.members = append(s.members, x.ID)
	s.behind(x)
	s.Ordered = s.Ordered && x.Order != string(graph.CompletionOrder)
	s.outputs(head, x)
}

// epochs finds how long a source's epochs are: the first of several, or all that was read.
func (d *document) epochs(s *Stage) {
	if len(s.From) > 0 {
		return
	}
	s.Epochs = max(1, int64(len(d.Epochs)))
	for i, e := range d.Epochs {
		for _, x := range e.Stages {
			if x.ID == s.ID && (i == 0 || x.ItemsIn > s.Epoch) {
				s.Epoch = x.ItemsIn
			}
		}
	}
}

// visits follows the ratios of in to out from the sink upwards.
func (p *Profile) visits() {
	made := make([]float64, len(p.Stages)) // outputs for one item of the sink
	for i := len(p.Stages) - 1; i >= 0; i-- {
		s := &p.Stages[i]
		switch {
		case s.Sink:
			s.Visits = 1
		case len(s.From) == 0:
			s.Visits = made[i]
		case s.Out > 0:
			s.Visits = made[i] / s.Out
		}
		all := 0.0
		for _, from := range s.From {
			all += float64(p.Stages[from].made)
		}
		for _, from := range s.From {
			if made[from] = s.Visits; len(s.From) > 1 && all > 0 {
				made[from] *= float64(p.Stages[from].made) / all
			}
		}
	}
}

// processor takes waits for a core out of the service times of computing stages, and finds what is computed elsewhere.
// A stage that says it computes, and cannot have done so all the time it was busy, is taken to wait.
func (d *document) processor(p *Profile) {
	if d.Totals.CPU == nil || p.Measured.Items == 0 {
		return
	}
	cpu, ready := *d.Totals.CPU, *d.Totals.CPU
	if d.Totals.CPUWait != nil {
		ready += *d.Totals.CPUWait
	}
	crowded := p.Cores > 0 && p.Measured.CPU >= usedAt*p.Cores
	busy := 0.0
	for _, x := range d.Stages {
		at := p.index(x.ID)
		if at < 0 || x.Busy == nil || p.Stages[at].Sink || p.Stages[at].Waits {
			continue
		}
		if *x.Busy > overAt*ready && !crowded {
			p.Stages[at].Waits = true
			continue
		}
		busy += *x.Busy
	}
	if busy > cpu && crowded {
		for i := range p.Stages {
			if s := &p.Stages[i]; !s.Sink && !s.Waits {
				s.Time = s.Time.Scaled(cpu / busy)
			}
		}
		busy = cpu
	}
	p.Overhead = max(0, cpu-busy) / float64(p.Measured.Items)
}

// From these on, busy workers are taken to have waited for cores; see the model of package report.
const (
	usedAt = 0.7
	overAt = 1.5
)

// index finds a stage by its id, also one that was fused into another; -1 is none.
func (p *Profile) index(id string) int {
	return slices.IndexFunc(p.Stages, func(s Stage) bool { return s.ID == id || slices.Contains(s.members, id) })
}

// Clone is a copy whose stages may be changed.
func (p Profile) Clone() Profile {
	p.Stages = slices.Clone(p.Stages)
	return p
}
