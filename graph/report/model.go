package report

import (
	"math"

	"github.com/penstock-go/penstock/graph"
)

// rates is what a stage could do, seen from the sink.
type rates struct {
	stage  *graph.StageStats
	visits float64 // items of this stage for one item of the sink; 0: unknown
	work   float64 // seconds of service for one item of the sink, without waiting for a core
	can    float64 // sink items a second that it could do; 0: unknown or without limit
}

// model predicts the rate of a pipeline: the lowest of what each stage can do and of what the cores can do together.
// It takes means only, so it knows neither jitter nor bursts.
type model struct {
	all     []rates // as in the snapshot
	sink    int     // index of the sink, -1 without stages
	samples float64 // samples in one item of the sink
	now     float64 // sink items a second in the steady phase; 0: unknown
	cores   float64 // 0: unknown
	used    float64 // cores that the process kept busy; 0: unknown
	over    float64 // how many workers competed for each core; 1 when nobody waited for one
	taken   float64 // of the time in which threads of the process wanted a core, the part in which they got none
	short   bool    // the cores are the limit: the process keeps them busy itself
	crowded bool    // other programs keep them busy
}

// overAt is the factor from which on workers count as competing for the cores.
const overAt = 1.5

func newModel(s *graph.Snapshot) model {
	m := model{all: make([]rates, len(s.Stages)), sink: len(s.Stages) - 1, over: 1}
	m.cores = s.Environment.CoresQuota
	if m.cores == 0 {
		m.cores = float64(s.Environment.Cores)
	}
	for i := range s.Stages {
		m.all[i].stage = &s.Stages[i]
	}
	if m.sink < 0 {
		return m
	}
	m.demand(s)
	m.over = m.oversubscribed(s)
	m.count()
	m.measure(s)
	for i := range m.all {
		m.rate(&m.all[i], i == m.sink, s)
	}
	return m
}

// oversubscribed compares what the computing stages call busy with the processor time that the process got. Only when
// the cores were in use does the difference mean waiting for a core.
func (m *model) oversubscribed(s *graph.Snapshot) float64 {
	busy := 0.0
	for i, r := range m.all {
		if i != m.sink && r.stage.Load == graph.CPU {
			busy += r.stage.Busy.Seconds()
		}
	}
	over := ratio(busy, s.CPU.Seconds())
	if over == nil || *over < overAt || m.cores > 0 && m.used < 0.7*m.cores {
		return 1
	}
	return *over
}

// waits tells that a stage which is declared cpu cannot have computed all the time it was busy, nor waited for a core.
func (m *model) waits(st *graph.StageStats, s *graph.Snapshot) bool {
	return st.Load == graph.Wait || s.CPU > 0 && m.cores > 0 && m.used < 0.7*m.cores &&
		st.Busy.Seconds() > overAt*(s.CPU+s.CPUWait).Seconds()
}

// count follows the measured in:out ratios from the sink upwards.
func (m *model) count() {
	next := m.consumers()
	for i := m.sink; i >= 0; i-- {
		r := &m.all[i]
		if i == m.sink {
			r.visits = 1
			continue
		}
		j := next[i]
		if j < 0 || m.all[j].visits == 0 {
			continue
		}
		made := m.all[j].visits * m.part(i, j, next)
		in, out := float64(r.stage.ItemsIn-min(r.stage.InFlight, r.stage.ItemsIn)), float64(r.stage.ItemsOut)
		if in == 0 && len(m.all[i].stage.From) == 0 {
			r.visits = made // a source: its items are those it makes
		} else if v := ratio(in*made, out); v != nil {
			r.visits = *v
		}
	}
}

// part is the share of the input of stage j that comes from stage i.
func (m *model) part(i, j int, next []int) float64 {
	sum := 0.0
	for k := range next {
		if next[k] == j {
			sum += float64(m.all[k].stage.ItemsOut)
		}
	}
	if p := ratio(float64(m.all[i].stage.ItemsOut), sum); p != nil {
		return *p
	}
	return 0
}

// consumers is, for each stage, the index of the stage that reads from it, or -1.
func (m *model) consumers() []int {
	index, next := map[string]int{}, make([]int, len(m.all))
	for i := range m.all {
		index[m.all[i].stage.ID], next[i] = i, -1
	}
	for j := range m.all {
		for _, id := range m.all[j].stage.From {
			if i, ok := index[id]; ok && i < j {
				next[i] = j
			}
		}
	}
	return next
}

// measure takes the rate of the steady phase, or of the whole run where there is none.
func (m *model) measure(s *graph.Snapshot) {
	sink := m.all[m.sink].stage
	if r := ratio(float64(s.Totals.Samples), float64(sink.ItemsIn)); r != nil {
		m.samples = *r
	}
	items, took := steady(s)
	if r := ratio(items, took); r != nil {
		m.now = *r
	}
}

// steady is the number of sink items of the steady phase and its length; of the whole run where there is none.
func steady(s *graph.Snapshot) (items, took float64) {
	took = s.Sink.SteadyWait.Seconds() + s.Sink.SteadyBusy.Seconds()
	if s.Sink.SteadyItems > 0 && took > 0 {
		return float64(s.Sink.SteadyItems), took
	}
	if len(s.Stages) == 0 {
		return 0, 0
	}
	return float64(s.Stages[len(s.Stages)-1].ItemsIn), s.Sink.Wait.Seconds() + s.Sink.Busy.Seconds()
}

func (m *model) rate(r *rates, sink bool, s *graph.Snapshot) {
	st := r.stage
	mean := st.Service.Mean.Seconds()
	if sink && s.Sink.SteadyItems > 0 {
		mean = s.Sink.SteadyBusy.Seconds() / float64(s.Sink.SteadyItems)
	}
	if mean == 0 && st.Capacity != nil && *st.Capacity > 0 {
		mean = float64(max(1, st.Workers)) / *st.Capacity
	}
	if mean == 0 || r.visits == 0 || st.FusedInto != "" {
		return
	}
	workers := float64(max(1, st.Workers))
	if m.over > 1 && !sink && st.Load == graph.CPU {
		// While it waits for a core a worker counts as busy. Alone on the machine the stage would have min(workers,
		// cores) of them.
		mean /= m.over
		if m.cores > 0 {
			workers = min(workers, m.cores)
		}
	}
	r.work = mean * r.visits
	if c := ratio(workers, r.work); c != nil {
		r.can = *c
	}
}

// slowest is the index of the stage that can do least, leaving out one (-1: none); -1 when no rate is known.
func (m *model) slowest(without int) int {
	best, at := math.Inf(1), -1
	for i, r := range m.all {
		if i != without && r.can > 0 && r.can < best {
			best, at = r.can, i
		}
	}
	return at
}

// index finds a stage; -1: there is none of this id.
func (m *model) index(id string) int {
	for i := range m.all {
		if m.all[i].stage.ID == id {
			return i
		}
	}
	return -1
}
