package report

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// fewItems is the number of sink items below which a steady phase says little.
const fewItems = 10

// remarks adds to the evidence what a reader must know beside the witnesses.
func (j *judge) remarks() {
	j.say(j.jitterLine())
	j.say(j.coresLine())
	j.say(j.sharesLine())
	j.say(j.overLine())
	j.say(j.waitsLine())
	j.say(j.startLine())
	if n := j.s.Sink.SteadyItems; j.v.Measured && n > 0 && n < fewItems {
		j.say(fmt.Sprintf("the steady phase has only %s: run longer to be sure", plural(n, j.unit())))
	}
}

func (j *judge) jitterLine() string {
	at := j.m.index(j.v.Bottleneck)
	if at < 0 || j.v.Bottleneck == "" || j.v.Compute || !j.jitter(at) {
		return ""
	}
	d := j.m.all[at].stage.Service
	return fmt.Sprintf("%s takes %s on average, but %s at p99 and %s at worst",
		name(j.v.Bottleneck), duration(d.Mean), duration(d.P99), duration(d.Max))
}

func (j *judge) overLine() string {
	if !j.v.Oversubscribed {
		return ""
	}
	workers := 0.0
	for i, r := range j.m.all {
		if i != j.m.sink && r.stage.Load == graph.CPU && r.stage.FusedInto == "" {
			workers += float64(r.stage.Workers)
		}
	}
	return fmt.Sprintf("oversubscribed: %s computing workers share %s cores and wait for one %s of the time; "+
		"capacities are scaled to what the cores give", digits(workers, 3), digits(j.m.cores, 2), percent(1-1/j.m.over))
}

// waitsLine names the stages that are declared cpu and yet cannot have computed.
func (j *judge) waitsLine() string {
	var ids []string
	for i, r := range j.m.all {
		if i != j.m.sink && r.stage.Load == graph.CPU && j.m.waits(r.stage, &j.s) {
			ids = append(ids, name(r.stage.ID))
		}
	}
	if len(ids) == 0 || !j.v.Starved {
		return ""
	}
	return fmt.Sprintf("counted as computing, but mostly waiting (disk, network, a lock?): %s; marked as waiting "+
		"(graph.Waits) it may have more workers than there are cores", strings.Join(ids, ", "))
}

// outside says so when changing epochs costs more than the steady phase.
func (j *judge) outside() string {
	k := j.s.Sink
	if !j.v.Measured || j.delivered() == 0 || k.EpochEdge <= k.Steady || k.EpochEdge.Seconds() < bandHealthy*j.total() {
		return ""
	}
	text := fmt.Sprintf(" Most of its wait, though, is at epoch edges: %s.", duration(k.EpochEdge))
	for _, c := range j.m.charges(&j.s, graph.PhaseEpochEdge) {
		if at := j.m.index(c.stage); at >= 0 && c.stage != j.sink() && c.stage != "" {
			return text + fmt.Sprintf(" %s causes %s of that; a larger buffer behind it lets the next epoch begin earlier.",
				j.group(at), percent(c.share))
		}
	}
	return text
}

func (j *judge) startLine() string {
	share := ratio(j.s.Sink.Startup.Seconds(), j.total())
	if !j.v.Measured || share == nil || *share < 0.2 || *share > 1 {
		return ""
	}
	return fmt.Sprintf("waiting for the first %s took %s of this run; a longer run makes that small", j.unit(),
		percent(*share))
}

// total is the lifetime of the sink in seconds.
func (j *judge) total() float64 { return j.s.Sink.Wait.Seconds() + j.s.Sink.Busy.Seconds() }
