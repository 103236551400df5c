package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

func TestVerdictNamesThePlantedStageItsShareAndTheKnob(t *testing.T) {
	for name, want := range map[string]struct {
		stage, next, then string
		share             float64
	}{
		"read":           {"read", "read.workers 4 -> 8", "decode", 0.96},
		"decode":         {"decode", "decode.workers 1 -> 4", "cores", 0.96},
		"transform":      {"crop", "crop.workers 1 -> 2", "cores", 0.95},
		"batch_stage":    {"mixup", "mixup.workers 1 -> 2", "cores", 0.98},
		"jitter":         {"read", "read.window 16 -> 1024", "train", 0.95},
		"oversubscribed": {"decode", "decode.cores 4 -> 17", "train", 0.97},
		"disagree":       {"decode", "decode.workers 2 -> 3", "crop", 0.6},
	} {
		v := report.Judge(golden()[name])
		require.True(t, v.Measured && v.Starved, name)
		assert.Equal(t, want.stage, v.Bottleneck, name)
		assert.Equal(t, want.stage, v.Limit, name)
		assert.Equal(t, want.next, v.Next.String(), name)
		assert.Equal(t, want.then, v.Then, name)
		assert.InDelta(t, want.share, *v.ShareOfWait, 0.001, name)
		assert.Positive(t, *v.Gain, name)
		assert.Contains(t, v.Sentence, `"train" waits `, name)
	}
}

func TestASinkThatSetsThePaceIsNotStarved(t *testing.T) {
	v := report.Judge(golden()["accelerator"])
	assert.True(t, v.Measured)
	assert.False(t, v.Starved)
	assert.Empty(t, v.Bottleneck)
	assert.Equal(t, "train", v.Limit)
	assert.Nil(t, v.Next)
	assert.Contains(t, v.Sentence, `Not starved`)
	assert.Contains(t, v.Sentence, `The slowest stage before it, "decode", can do 1.9 x as much.`)
}

func TestAHostThatHardlyWaitsBesideAnIdleDeviceIsSaid(t *testing.T) {
	for name, x := range map[string]struct {
		copy     time.Duration
		depth    int
		next     string
		sentence []string
	}{
		"one slot": {copy: 30 * ms, depth: 1, next: "collate.depth 1 -> 2", sentence: []string{
			`"train" itself waits only <1 % of the steady time, but the device waits 50 % of it, more than half is lost.`,
			`A batch takes 30 ms to copy and 30 ms to work on. With one slot on the device the two take turns. Next: raise depth of "collate" from 1 to 2.` +
				` That should give 2,000 samples/s (now 1,061, 1.9 x as fast); then "decode" limits.`}},
		"a slow link": {copy: 60 * ms, depth: 2, next: "collate.bytes", sentence: []string{
			`A batch takes 60 ms to copy and 30 ms to work on. The link to the device is the limit. Next: send fewer bytes`}},
		"uneven batches": {copy: 20 * ms, depth: 2, next: "collate.depth", sentence: []string{
			`Neither fills the time: batches come unevenly. Next: raise depth of "collate".`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := golden()["accelerator"]
			s.Sink.DeviceWaitRatio, s.Sink.WaitRatio = some(0.5), some(0.001)
			s.Sink.SteadyBusy = 99 * 60 * ms
			s.Devices = []graph.DeviceStats{{Name: "emu:c2c", Stage: "collate", Depth: x.depth, Copies: 100, Bytes: 1 << 30,
				CopyTime: 100 * x.copy, Steps: 100, Busy: 99 * 30 * ms, Idle: 99 * 30 * ms, SteadyIdle: 99 * 30 * ms}}
			v := report.Judge(s)
			assert.False(t, v.Starved, "the host is not")
			assert.Equal(t, "collate", v.Bottleneck)
			assert.Equal(t, graph.CauseCopy, v.Cause)
			require.NotNil(t, v.Next)
			assert.Equal(t, x.next, v.Next.String())
			for _, w := range x.sentence {
				assert.Contains(t, v.Sentence, w)
			}
		})
	}
}

func TestWithoutASteadyPhaseNothingIsClaimed(t *testing.T) {
	v := report.Judge(golden()["short"])
	assert.False(t, v.Measured)
	assert.False(t, v.Starved)
	assert.Empty(t, v.Bottleneck)
	assert.Nil(t, v.Predicted)
	assert.Contains(t, v.Sentence, "Too short to judge: 1 batch reached")
}

func TestNothingDeliveredIsSaid(t *testing.T) {
	assert.Contains(t, report.Judge(golden()["empty"]).Sentence, `Nothing reached "train"`)
	assert.Contains(t, report.Judge(graph.Snapshot{}).Sentence, "There is no stage")
}

func TestAFailedRunSaysItsCauseFirst(t *testing.T) {
	v := report.Judge(golden()["failed"])
	assert.Regexp(t, `^The run failed: pipeline "failed_run", stage "decode": n07/0007.jpg: the picture is cut short\. Up to `, v.Sentence)
	assert.Equal(t, "decode", v.Bottleneck)
}

func TestARunThatGoesOnSaysSo(t *testing.T) {
	s := golden()["decode"]
	s.Running = true
	assert.Regexp(t, `^So far: "train" waits`, report.Judge(s).Sentence)
}

func TestWitnessesThatDisagreeAreNamed(t *testing.T) {
	v := report.Judge(golden()["disagree"])
	assert.Equal(t, report.Witnesses{Blame: "decode", Queues: "read", Capacity: "crop"}, v.Witnesses)
	assert.Contains(t, v.Evidence, `the witnesses disagree: blame names "decode", the queues "read", capacity "crop"; `+
		`the verdict follows blame, which is measured wait by wait`)
	agree := report.Judge(golden()["decode"])
	assert.Equal(t, report.Witnesses{Blame: "decode", Queues: "decode", Capacity: "decode"}, agree.Witnesses)
	assert.NotContains(t, agree.Evidence, "disagree")
}

func TestBandsOfTheWaitRatio(t *testing.T) {
	for ratio, want := range map[float64]string{
		0: "Not starved", 0.049: "Not starved", 0.05: "5 % of the steady time, a little.", 0.19: "a little.",
		0.2: "worth a look.", 0.49: "worth a look.", 0.5: "more than half is lost.", 0.79: "more than half is lost.",
		0.8: "nothing else matters.", 1: "nothing else matters.",
	} {
		s := golden()["decode"]
		s.Sink.WaitRatio = some(ratio)
		assert.Contains(t, report.Judge(s).Sentence, want, ratio)
	}
}

// planted is a starved run in which a stage is blamed for one cause only; read takes 2 ms with 4 workers and decode
// 2 ms with one, which makes decode the slowest.
func planted(stage, cause string, change func(m map[string]*step)) *builder {
	return chain("knobs", 30*ms, 98*ms, steps(func(m map[string]*step) {
		m["decode"].mean, m["decode"].workers = 2*ms, 1
		if change != nil {
			change(m)
		}
	})...).share(stage, cause, 100)
}

func TestEachCauseHasItsKnob(t *testing.T) {
	for name, x := range map[string]struct {
		run      *builder
		next     string // "": nothing to tune
		sentence string
	}{
		"a cpu stage below the cores gets workers": {
			planted("decode", graph.CauseService, nil), "decode.workers 1 -> 4", `Next: raise workers of "decode" from 1 to 4.`},
		"a cpu stage at all cores gets no more workers": {
			planted("decode", graph.CauseService, func(m map[string]*step) {
				m["decode"].workers, m["decode"].mean = 4, 8*ms
			}), "decode.cores 4 -> 18",
			`The cores are the limit: 4 of 4 cores are kept busy, and "decode" does 97 % of all computing. More workers or larger ` +
				`buffers bring nothing. Next: make "decode" cheaper, cache what it makes, or give it more cores.`},
		"a stage that waits gets workers beyond the cores": {
			planted("read", graph.CauseService, func(m map[string]*step) { m["read"].mean, m["decode"].workers = 40*ms, 2 }),
			"read.workers 4 -> 40", `Its workers wait rather than compute, so they may outnumber the cores. Next: raise workers of "read" from 4 to 40.`},
		"a stage that reads late gets workers": {
			planted("decode", graph.CauseQueue, nil), "decode.workers 1 -> 4",
			`Items lie ready before it because no worker is free. Next: raise workers of "decode" from 1 to 4.`},
		"finished items behind a slow one get a window": {
			planted("decode", graph.CauseWindow, nil), "decode.window 4 -> 8",
			`Finished items are stuck behind a slow one in "decode": raise its window from 4 to 8, or see why they are slow.`},
		"missing slabs give the holder a buffer": {
			planted("collate", graph.CauseSlabs, nil), "collate.buffer 2 -> 4",
			`"collate" holds all batches there are. Next: raise buffer of "collate" from 2 to 4, or give batches back sooner.`},
		"a sink that holds the slabs has its input buffered": {
			planted("train", graph.CauseSlabs, nil), "collate.buffer 2 -> 4",
			`"train" holds all batches there are. Next: raise buffer of "collate" from 2 to 4, or give batches back sooner.`},
		"a copy is overlapped": {
			planted("collate", graph.CauseCopy, nil), "collate.depth",
			`Next: let "collate" copy while the device works (raise depth), or send fewer bytes.`},
		"starting has no knob": {
			planted("", graph.CauseStart, nil), "decode.workers 1 -> 4", `Its waits could not be traced; "decode" can do the least.`},
		"slow items of a quick stage get a buffer": {
			jittery(), "read.buffer 16 -> 512",
			`"read" is fast enough on average, but its slow items leave holes: raise its buffer from 16 to 512, or see why they are slow.`},
	} {
		t.Run(name, func(t *testing.T) {
			v := report.Judge(x.run.s)
			require.NotNil(t, v.Next)
			assert.Equal(t, x.next, v.Next.String())
			assert.Contains(t, v.Sentence, x.sentence)
		})
	}
}

// jittery has a source that is quick enough on average.
func jittery() *builder {
	b := chain("knobs", 30*ms, 10*ms, steps(func(map[string]*step) {})...).share("read", graph.CauseService, 100)
	d := &b.stage("read").Service
	d.P99, d.Max = 30*ms, 100*ms
	return b
}

func TestRoomForSlowItemsStaysWithinTheMemoryBudget(t *testing.T) {
	b := jittery()
	b.s.Memory.Limit = 16 << 20 // a quarter of it holds 27 items
	assert.Equal(t, "read.buffer 16 -> 27", report.Judge(b.s).Next.String())
}

func TestAStageThatCannotHaveComputedIsTreatedAsWaiting(t *testing.T) {
	b := planted("decode", graph.CauseService, func(m map[string]*step) { m["decode"].mean, m["decode"].workers = 8*ms, 4 })
	b.s.CPU = b.stage("decode").Busy / 10
	v := report.Judge(b.s)
	assert.Equal(t, "decode.workers 4 -> 18", v.Next.String(), "the cores are idle: more workers help")
	assert.Contains(t, v.Evidence[len(v.Evidence)-1], `counted as computing, but mostly waiting (disk, network, a lock?): "decode"; `)
}

func TestOversubscribedCoresAreSaidAndCapacitiesScaled(t *testing.T) {
	s := golden()["oversubscribed"]
	v := report.Judge(s)
	assert.True(t, v.Oversubscribed)
	assert.Contains(t, v.Evidence, "oversubscribed: 25 computing workers share 4 cores and wait for one 77 % of the time; "+
		"capacities are scaled to what the cores give")
	assert.Contains(t, v.Sentence, `More workers or larger buffers bring nothing, and 4 workers of "decode" would do as much as its 16.`)
	s.CPU = 0 // not known: no claim
	assert.False(t, report.Judge(s).Oversubscribed)
}

func TestTheModelScalesByMeasuredInAndOut(t *testing.T) {
	// Two of three samples are filtered away before decode, and the batch still being filled does not count.
	b := chain("filtering", 30*ms, 98*ms, steps(func(m map[string]*step) { m["decode"].mean, m["decode"].workers = 2*ms, 1 })...).
		share("decode", graph.CauseService, 100)
	b.stage("read").ItemsOut *= 3
	b.s.Stages = append(b.s.Stages[:1], append([]graph.StageStats{{ID: "pick", Kind: "filter", Load: graph.CPU, Workers: 1, Buffer: 4,
		ItemsIn: 19200, ItemsOut: 6400, Filtered: 12800, From: []string{"read"}, Service: flat(100*time.Microsecond, 19200)}}, b.s.Stages[1:]...)...)
	b.stage("decode").From = []string{"pick"}
	b.stage("collate").ItemsIn, b.stage("collate").InFlight = 6430, 30
	table := report.Table(b.s)
	assert.Regexp(t, `read +folder .* 1,333 `, table, "4 workers at 1 ms, of which a third comes through")
	assert.Regexp(t, `pick +filter .* 3,333 `, table)
	assert.Regexp(t, `decode +decode_image .* 500 `, table)
	assert.Regexp(t, `collate +collate .* 20,000 `, table)
}

func TestMergedSourcesShareTheDemand(t *testing.T) {
	b := chain("merging", 30*ms, 98*ms, steps(func(m map[string]*step) {})...).share("other", graph.CauseService, 100)
	other := *b.stage("read")
	other.ID, other.ItemsOut = "other", 1600
	b.stage("read").ItemsOut = 4800
	b.s.Stages = append([]graph.StageStats{other}, b.s.Stages...)
	b.stage("decode").From = []string{"read", "other"}
	table := report.Table(b.s)
	assert.Regexp(t, `other +folder .* 16,000 `, table, "4 workers at 1 ms give 4,000 a second of every fourth sample")
	assert.Regexp(t, `read +folder .* 5,333 `, table)
}

func TestAnAdviceThatGainsNothingSaysSo(t *testing.T) {
	b := planted("decode", graph.CauseService, func(m map[string]*step) { m["read"].mean = 8 * ms })
	assert.Contains(t, report.Judge(b.s).Sentence, `Alone that gains nothing: "read" limits at 500 samples/s too.`)
}

func TestAModelThatCannotExplainTheRateGivesNoPrediction(t *testing.T) {
	b := planted("decode", graph.CauseService, func(m map[string]*step) { m["read"].mean = 40 * ms })
	v := report.Judge(b.s)
	assert.Nil(t, v.Predicted)
	assert.Nil(t, v.Gain)
	assert.Contains(t, v.Evidence, "the model gives no prediction: it expects 100 samples/s where 500 samples/s were measured")
}

func TestAWaitOutsideTheSteadyPhaseIsSaid(t *testing.T) {
	assert.Contains(t, report.Judge(golden()["epochs"]).Sentence, "Most of its wait, though, is at epoch edges: 1.1 s.")
}

func TestMembersOfAFusedGroupAreNamed(t *testing.T) {
	assert.Contains(t, report.Judge(golden()["epochs"]).Sentence, `"decode" (one group with "crop") causes`)
}
