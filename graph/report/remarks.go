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
	j.say(j.overLine())
	j.say(j.waitsLine())
	j.say(j.outsideLine())
	if r := j.s.Sink.DeviceWaitRatio; r != nil && *r >= bandLook && !j.v.Starved {
		j.say(fmt.Sprintf("the host hardly waits, but the device itself idles %s of the time", percent(*r)))
	}
	if n := j.s.Sink.SteadyItems; j.v.Measured && n > 0 && n < fewItems {
		j.say(fmt.Sprintf("the steady phase has only %s: run longer to be sure", plural(n, j.unit())))
	}
}

func (j *judge) jitterLine() string {
	at := j.m.index(j.v.Bottleneck)
	if at < 0 || j.v.Bottleneck == "" || !j.jitter(at) {
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
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%s counted as computing, but mostly waits (disk, network, a lock?): mark it as waiting so that "+
		"its workers may outnumber the cores", strings.Join(ids, ", "))
}

func (j *judge) outsideLine() string {
	k := j.s.Sink
	outside := k.Startup.Seconds() + k.EpochEdge.Seconds()
	if all := k.Wait.Seconds() + k.Busy.Seconds(); !j.v.Measured || outside < 0.05*all || outside == 0 {
		return ""
	}
	return fmt.Sprintf("outside the steady phase %s waited %s at the start and %s at epoch edges",
		name(j.sink()), duration(k.Startup), duration(k.EpochEdge))
}
