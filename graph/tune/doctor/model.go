package doctor

import (
	"fmt"
	"math"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/tune"
)

// model predicts from one run.
type model struct {
	p     tune.Profile
	ok    bool
	rate  float64 // measured, samples a second in the steady phase
	scale float64 // measured against simulated; 1 where the simulation explains the run
	s     graph.Snapshot
}

// explains is how far a simulation of the run as it was may be off before it is not trusted with changes.
const explains = 0.1

func modelOf(s graph.Snapshot) model {
	m := model{s: s}
	p, err := tune.Of(s)
	if err != nil {
		return m
	}
	m.p, m.rate, m.ok = p, p.Measured.Rate, p.Measured.Rate > 0
	if m.ok {
		m.scale = m.rate / m.simulate(p)
	}
	return m
}

// mostEvents bounds a simulation; package tune has a wider bound of its own.
const mostEvents = 20_000_000

func (m *model) simulate(p tune.Profile) float64 {
	return tune.Simulate(p, tune.Options{Most: mostEvents}).Rate
}

// knob is one setting that could be changed.
type knob struct {
	stage, name string
	from, to    int
}

func (k knob) set() string { return k.stage + "." + k.name + "=" + itoa(k.to) }

// change is what could be changed at once, and the rate that is expected of it.
type change struct {
	knobs []knob
	rate  float64
}

func (c change) set() []string {
	all := make([]string, len(c.knobs))
	for i, k := range c.knobs {
		all[i] = k.set()
	}
	return all
}

func (c change) question() string { return strings.Join(c.set(), ",") }

func (c change) text() string {
	parts := make([]string, len(c.knobs))
	for i, k := range c.knobs {
		parts[i] = fmt.Sprintf("%s of %s from %d to %d", k.name, quote(k.stage), k.from, k.to)
	}
	return "raise " + strings.Join(parts, ", and ")
}

// together is the change of all stages' workers that the best rate needs, where one alone brings nothing.
func (m *model) together() (c change, ok bool) {
	if !m.ok {
		return c, false
	}
	a := m.p.Allocate()
	for i, n := range a.Workers {
		if s := &m.p.Stages[i]; n > s.Workers {
			c.knobs = append(c.knobs, knob{s.ID, "workers", s.Workers, n})
		}
	}
	if len(c.knobs) < 2 || len(c.knobs) > mostTogether {
		return c, false
	}
	c.rate = m.predict(c.question(), "", 1)
	return c, true
}

// mostTogether bounds the settings of one action.
const mostTogether = 3

// predict is the rate after a change: by the simulation, where it explains the run as it was; else, for a stage that
// becomes so many times as quick, by what it is blamed for, which is measured.
func (m *model) predict(question string, stage string, times float64) float64 {
	if !m.ok {
		return 0
	}
	q, err := tune.ParseQuestion(question)
	if err != nil {
		return 0
	}
	p, err := q.Apply(m.p)
	if err != nil {
		return 0
	}
	sim := m.simulate(p)
	if math.Abs(m.scale-1) <= explains || times <= 1 {
		return sim * m.scale
	}
	return m.spared(stage, m.left(stage, times))
}

// left is the part of a stage's blame that is left when it is so many times as quick. While it is slow (p95), the sink
// waits for the difference to its own pace.
func (m *model) left(stage string, times float64) float64 {
	sink := m.p.Stages[len(m.p.Stages)-1].Work()
	for i := range m.p.Stages {
		s := &m.p.Stages[i]
		if st := m.stage(stage); s.ID != stage || st == nil {
			continue
		} else if slow := s.Visits * st.Service.P95.Seconds() / float64(max(1, s.Workers)); slow > sink {
			return max(0, slow/times-sink) / (slow - sink)
		}
	}
	return 1 / times
}

// spared is the rate when only a part of the wait that a stage is blamed for is left. It needs no model of the run, and
// so holds when the stage is slow only at times.
func (m *model) spared(stage string, left float64) float64 {
	k := m.s.Sink
	took := (k.SteadyWait + k.SteadyBusy).Seconds()
	saved := m.blamed(stage) * (1 - left)
	if took <= saved || took == 0 {
		return 0
	}
	return m.rate * took / (took - saved)
}

// blamed is the steady wait that a stage is charged with, in seconds.
func (m *model) blamed(stage string) float64 {
	sum := 0.0
	for _, b := range m.s.Blame {
		if b.Stage == stage && b.Phase == graph.PhaseSteady {
			sum += b.Time.Seconds()
		}
	}
	return sum
}

// stage finds a stage's figures.
func (m *model) stage(id string) *graph.StageStats {
	for i := range m.s.Stages {
		if m.s.Stages[i].ID == id {
			return &m.s.Stages[i]
		}
	}
	return nil
}
