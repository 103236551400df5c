package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// The bands of the sink's wait ratio.
const (
	bandHealthy = 0.05 // below: not starved
	bandLook    = 0.20
	bandHalf    = 0.50
	bandAll     = 0.80
)

// Verdict is the conclusion of a report: which stage keeps the sink waiting, what that costs, what to change and what
// the change should bring. Shares and ratios are between 0 and 1.
type Verdict struct {
	// Measured is false before there is a steady phase: then nothing is known about starvation.
	Measured bool
	// Starved: the sink waits at least 0.05 of the steady phase.
	Starved bool
	// Oversubscribed: the computing workers had to wait for cores. Capacities are then scaled to what the cores gave.
	Oversubscribed bool
	// Compute: what the sink waits for is computing, and the cores are the limit. Bottleneck is the stage that computes
	// most, Next the number of cores. No other setting helps.
	Compute bool
	// Crowded: other programs had the cores. The figures tell little about the pipeline, so nothing is predicted.
	Crowded bool
	// Bottleneck is the stage that causes the starvation, "" without one. Cause is one of graph.Cause*.
	Bottleneck, Cause string
	// Limit is the stage that sets the pace: the bottleneck, or the sink when it is not starved.
	Limit string
	// ShareOfWait is the part of the steady wait that the bottleneck is blamed for.
	ShareOfWait *float64
	// Next is the knob to turn; nil when there is nothing to tune.
	Next *Next
	// Predicted is the rate after that, from the capacities: samples a second. Gain is by what part that is more than
	// now: 0.5 is half as much again. Then says which stage limits ("cores": the processor). nil and "": no prediction.
	Predicted, Gain *float64
	Then            string
	// Sentence says all this in words, Evidence what it rests on.
	Sentence  string
	Evidence  []string
	Witnesses Witnesses
}

// Next is one change of a setting. From and To are nil where the knob has no number or the number is not known.
type Next struct {
	Stage, Knob string
	From, To    *int
}

// String is `decode.workers 1 -> 4`.
func (n *Next) String() string {
	s := n.Stage + "." + n.Knob
	if n.To == nil {
		return s
	}
	if n.From != nil {
		s += " " + strconv.Itoa(*n.From)
	}
	return s + " -> " + strconv.Itoa(*n.To)
}

// judge is the work of [Judge].
type judge struct {
	s     graph.Snapshot
	m     model
	v     Verdict
	blame []charge // of the steady phase, or of all when there is none
}

// Judge finds the verdict. Three witnesses are heard: blame (measured wait by wait), the queues around each stage, and
// the capacities (workers / mean service, scaled to the sink's items). Blame names the stage and its share; the
// capacities predict what a change brings. Where the three name different stages the evidence says so.
func Judge(s graph.Snapshot) Verdict { return newJudge(clean(s)).v }

// newJudge judges a cleaned snapshot.
func newJudge(s graph.Snapshot) *judge {
	j := &judge{s: s}
	j.m = newModel(&j.s)
	j.v.Measured = s.Sink.WaitRatio != nil
	j.v.Oversubscribed, j.v.Crowded = j.m.over > 1, j.m.crowded
	phase := graph.PhaseSteady
	if !j.v.Measured {
		phase = ""
	}
	j.blame = j.m.charges(&j.s, phase)
	j.v.Starved = j.v.Measured && *s.Sink.WaitRatio >= bandHealthy
	j.accuse()
	j.testimony()
	said := ""
	switch {
	case j.delivered() == 0:
		said = j.empty()
	case !j.v.Measured:
		said = j.tooShort()
	case j.idle() != nil:
		said = j.deviceWaits(j.idle())
	case !j.v.Starved:
		said = j.healthy()
	default:
		said = j.starved()
	}
	if j.v.Crowded && (j.v.Starved || !j.v.Measured) && j.delivered() > 0 {
		said = j.crowd() + said + " Run it again when the machine is quiet."
	}
	j.v.Sentence = j.opening() + said + j.cold() + j.outside()
	j.remarks()
	return j
}

// accuse finds whom blame names, and whether it is the cores. The little that a sink waits which is not starved accuses
// nobody.
func (j *judge) accuse() {
	if !j.v.Starved && j.v.Measured {
		return
	}
	b, at, share := j.blamed(), -1, 0.0
	if b != nil {
		at, share = j.m.index(b.stage), b.share
	}
	j.v.Compute = j.v.Starved && j.computes(at, share)
	if core, _ := j.coreless(); b != nil && (core == 0 || core < share) {
		j.v.Witnesses.Blame = b.stage
	}
}

// blamed is the charge of the stage that is most at fault, without its waits for a core; nil without one.
func (j *judge) blamed() *charge {
	var worst *charge
	for _, c := range j.blame {
		c = c.without(causeCore)
		if c.stage != "" && c.time > 0 && (c.stage != j.sink() || c.main() == graph.CauseSlabs) &&
			(worst == nil || c.time > worst.time) {
			worst = &c
		}
	}
	return worst
}

// second is the charge of another stage that carries a good part of the wait, nil without one.
func (j *judge) second(first string) *charge {
	for _, c := range j.blame {
		if c = c.without(causeCore); c.stage != "" && c.stage != first && c.share >= 0.25 {
			return &c
		}
	}
	return nil
}

func (j *judge) say(line string) {
	if line != "" {
		j.v.Evidence = append(j.v.Evidence, line)
	}
}

// opening says what stands before every judgement: that the run failed or still goes on.
func (j *judge) opening() string {
	if j.s.Err != "" {
		return "The run failed: " + strings.TrimRight(plain(j.s.Err), ". ") + ". Up to then: "
	}
	if j.s.Running {
		return "So far: "
	}
	return ""
}

func (j *judge) empty() string {
	if len(j.s.Stages) == 0 {
		return "There is no stage, so there is nothing to judge."
	}
	return fmt.Sprintf("Nothing reached %s, so there is nothing to judge.", name(j.sink()))
}

func (j *judge) tooShort() string {
	text := fmt.Sprintf("Too short to judge: %s reached %s and there was no steady phase yet.",
		plural(j.delivered(), j.unit()), name(j.sink()))
	if b := j.blamed(); b != nil {
		text += fmt.Sprintf(" %s caused %s of the wait until now, start-up included.", name(b.stage), percent(b.share))
	}
	return text + " Run it longer."
}

func (j *judge) healthy() string {
	j.v.Limit = j.sink()
	text := fmt.Sprintf("Not starved: %s waits %s of the steady time and sets the pace itself", name(j.sink()),
		percent(*j.s.Sink.WaitRatio))
	if j.m.now > 0 {
		text += ", at " + j.perSecond(j.m.now)
	}
	text += "."
	at := j.m.slowest(j.m.sink)
	if at < 0 || j.m.now == 0 {
		return text
	}
	can, id := j.m.all[at].can, name(j.m.all[at].stage.ID)
	what, whom := "The slowest stage before it, "+id+",", id
	if c := j.m.ceiling(&j.s, -1); c > 0 && c < can {
		can, what, whom = c, "The cores", "the cores"
	}
	return text + j.toSpare(what, whom, can/j.m.now)
}

// toSpare says how much faster a sink could be that sets the pace, before something else does.
func (j *judge) toSpare(what, whom string, times float64) string {
	switch {
	case times < 0.95: // slower than what was measured: the model does not fit
		return ""
	case times < littleGain:
		return fmt.Sprintf(" %s can do no more than that: if %s were faster, it would wait for %s.", what, name(j.sink()), whom)
	}
	return fmt.Sprintf(" %s can do %s x as much.", what, digits(times, 2))
}

func (j *judge) starved() string {
	r := *j.s.Sink.WaitRatio
	text := fmt.Sprintf("%s waits %s of the steady time%s.", name(j.sink()), percent(r), band(r))
	if j.v.Compute {
		return text + j.compute()
	}
	b := j.blamed()
	id, cause := j.v.Witnesses.Capacity, graph.CauseService
	if b != nil {
		id, cause = b.stage, b.main()
	}
	at := j.m.index(id)
	if at < 0 || at == j.m.sink && cause != graph.CauseSlabs {
		return text + " No stage could be found at fault."
	}
	j.v.Bottleneck, j.v.Cause, j.v.Limit = id, cause, id
	if b != nil {
		share := b.share
		j.v.ShareOfWait = &share
		text += fmt.Sprintf(" %s causes %s of that%s.", j.group(at), percent(share), j.cost(b))
	} else {
		text += fmt.Sprintf(" Its waits could not be traced; %s can do the least.", j.group(at))
	}
	if c := j.second(id); c != nil {
		text += fmt.Sprintf(" %s causes another %s.", name(c.stage), percent(c.share))
	}
	a := j.advise(at, cause)
	j.v.Next = a.next
	if a.text != "" {
		text += " " + a.text
	}
	return text + j.predict(a)
}

// cost is what the blame comes to for one item of the sink.
func (j *judge) cost(b *charge) string {
	items, took := steady(&j.s)
	if items == 0 || took == 0 {
		return ""
	}
	return fmt.Sprintf(": %s of the %s a %s takes", seconds(b.time/items), seconds(took/items), j.unit())
}

// predict says what the model expects of a change.
func (j *judge) predict(a advice) string {
	if a.rate == 0 || j.m.now == 0 || j.v.Crowded {
		return ""
	}
	if a.rate < 0.95*j.m.now {
		j.say(fmt.Sprintf("the model gives no prediction: it expects %s where %s were measured",
			j.perSecond(a.rate), j.perSecond(j.m.now)))
		return ""
	}
	rate := max(a.rate, j.m.now)
	gain := rate/j.m.now - 1
	j.v.Gain, j.v.Then = &gain, a.then
	if p := ratio(rate*j.samples(), 1); p != nil {
		j.v.Predicted = p
	}
	then := name(a.then) + " limits"
	switch a.then {
	case cores:
		then = "the cores limit"
	case j.sink():
		then = name(a.then) + " itself limits"
	}
	if gain < 0.02 {
		return fmt.Sprintf(" Alone that gains nothing: %s at %s too.", then, j.perSecond(rate))
	}
	return fmt.Sprintf(" That should give %s (now %s, %s x as fast); then %s.", j.perSecond(rate),
		strings.Fields(j.perSecond(j.m.now))[0], digits(rate/j.m.now, 2), then)
}

// group names a stage together with those that are fused into it.
func (j *judge) group(at int) string {
	id := j.m.all[at].stage.ID
	var with []string
	for _, r := range j.m.all {
		if r.stage.FusedInto == id {
			with = append(with, name(r.stage.ID))
		}
	}
	if len(with) == 0 {
		return name(id)
	}
	return fmt.Sprintf("%s (one group with %s)", name(id), strings.Join(with, ", "))
}

// band puts a wait ratio into words.
func band(r float64) string {
	switch {
	case r < bandLook:
		return ", a little"
	case r < bandHalf:
		return ", worth a look"
	case r < bandAll:
		return ", more than half is lost"
	}
	return ", nothing else matters"
}

func (j *judge) sink() string {
	if j.m.sink < 0 {
		return ""
	}
	return j.m.all[j.m.sink].stage.ID
}

func (j *judge) delivered() int64 {
	if j.m.sink < 0 {
		return 0
	}
	return j.m.all[j.m.sink].stage.ItemsIn
}

// unit is what the sink takes.
func (j *judge) unit() string {
	if j.s.Totals.Batches > 0 {
		return "batch"
	}
	return "item"
}

// samples is how many samples one item of the sink counts for.
func (j *judge) samples() float64 {
	if j.m.samples > 0 {
		return j.m.samples
	}
	return 1
}

// perSecond is a rate of the sink's items in samples.
func (j *judge) perSecond(x float64) string {
	if j.m.samples > 0 {
		return rate(x*j.m.samples) + " samples/s"
	}
	return rate(x) + " items/s"
}

func (j *judge) phaseWord() string {
	if j.v.Measured {
		return "the steady wait"
	}
	return "the wait"
}

// name is a stage's id as it stands in sentences.
func name(id string) string { return `"` + plain(id) + `"` }
