package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

// hungry is a run whose decode computes on all 4 cores, so that what is ready lies about until a core is free.
func hungry(pipeline string) *builder {
	return chain(pipeline, 30*ms, 98*ms, steps(func(m map[string]*step) {
		m["decode"].workers, m["decode"].mean, m["decode"].full = 4, 7500*time.Microsecond, 0.3
		m["crop"].full = 0.7
		drain(m, "collate")
	})...).share("collate", graph.CauseQueue, 55).share("decode", graph.CauseService, 38).
		share("train", graph.CauseQueue, 5).share("crop", graph.CauseQueue, 2)
}

func coresShort() graph.Snapshot {
	return hungry("planted_cores").change(func(s *graph.Snapshot) { s.CPUWait = 900 * ms })
}

// crowded is the same pipeline where other programs leave it a tenth of what it wants.
func crowded() graph.Snapshot {
	return hungry("crowded").change(func(s *graph.Snapshot) {
		s.CPU, s.CPUWait = s.Totals.Elapsed*4/10, s.Totals.Elapsed*36/10
	})
}

func TestCoresThatAreAllKeptBusyAreTheBottleneck(t *testing.T) {
	v := report.Judge(golden()["cores"])
	assert.True(t, v.Compute && !v.Crowded && !v.Oversubscribed)
	assert.Equal(t, "decode", v.Bottleneck, `not "collate", which is idle 98 % of the time`)
	assert.Equal(t, "decode", v.Limit)
	assert.Equal(t, graph.CauseService, v.Cause)
	assert.Equal(t, "decode.cores 4 -> 17", v.Next.String(), "never workers or buffers")
	assert.InDelta(t, 0.38, *v.ShareOfWait, 0.001)
	assert.InDelta(t, 2133, *v.Predicted, 1)
	assert.Equal(t, "train", v.Then)
	assert.Equal(t, report.Witnesses{Queues: "decode", Capacity: "decode"}, v.Witnesses)
	assert.Contains(t, v.Sentence, `The cores are the limit: 3.8 of 4 cores are kept busy, and "decode" does 97 % of all `+
		`computing. More workers or larger buffers bring nothing. Next: make "decode" cheaper, cache what it makes, or give it `+
		`more cores. About 17 cores would do, with as many workers.`)
	assert.Contains(t, v.Evidence, `blame for the steady wait: 55 % "collate" (no core free), 38 % "decode" (service), 5 % `+
		`"train" (no core free); for 62 % of it there was a worker free but no core, before "collate", "train", "crop"`)
	assert.Contains(t, v.Evidence, "cores: 3.8 of 4 cores are kept busy; a batch costs 496 ms of processor time, so they can "+
		"do 516 samples/s")
	assert.Contains(t, v.Evidence, `computing: "decode" 97 %`)
}

func TestCoresThatOtherProgramsTookAreSaid(t *testing.T) {
	v := report.Judge(golden()["crowded"])
	assert.True(t, v.Compute && v.Crowded)
	assert.Equal(t, "decode", v.Bottleneck)
	assert.Nil(t, v.Next, "nothing that could be tuned is known")
	assert.Nil(t, v.Predicted)
	assert.Nil(t, v.Gain)
	assert.Equal(t, `Other programs had the cores for 90 % of the time in which this one wanted them, so these figures are not `+
		`to be trusted. "train" waits 77 % of the steady time, more than half is lost. As far as can be told it waits for `+
		`computing, of which "decode" does 97 %. Run it again when the machine is quiet.`, v.Sentence)
	assert.Contains(t, v.Evidence, "cores: this program kept 0.4 of 4 busy; its threads ran for 5.24 s in all and waited for a "+
		"core for 47.2 s; service times include such waits")
	for _, line := range v.Evidence {
		assert.NotContains(t, line, "counted as computing, but mostly waiting")
	}
}

func TestWhoHadTheCoresIsToldByTheTimesOfTheThreads(t *testing.T) {
	elapsed := hungry("who").s.Totals.Elapsed
	for name, x := range map[string]struct {
		cpu, wait        float64 // of the 4 cores
		compute, crowded bool
	}{
		"all of them by this program":               {3.9, 0, true, false},
		"more threads than cores, all its own":      {3.5, 4, true, false},
		"a little less, and it wanted no more":      {3.1, 0, false, false},
		"a little less, as others had the rest":     {3.1, 0.2, true, false},
		"half of them, as others had the rest":      {2, 2, true, true},
		"none to speak of, as others had them":      {0.1, 3, true, true},
		"none to speak of, and it wanted no more":   {0.1, 0.05, false, false},
		"one thread, slowed down by others":         {0.3, 0.4, true, true},
		"some, on a system that tells nothing else": {2, 0, false, false},
		"nothing known":                             {0, 0, false, false},
		"no processor time, for whatever reason":    {0, 3, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := hungry("who")
			b.s.CPU, b.s.CPUWait = time.Duration(x.cpu*float64(elapsed)), time.Duration(x.wait*float64(elapsed))
			v := report.Judge(b.s)
			assert.Equal(t, x.compute, v.Compute, v.Sentence)
			assert.Equal(t, x.crowded, v.Crowded, v.Sentence)
		})
	}
}

func TestBusyCoresDoNotExcuseWorkersThatNeverRest(t *testing.T) {
	// read waits for its disk, 13.1 s of 13.1 s, while decode happens to compute on nearly all cores.
	b := hungry("read_all_the_time")
	b.s.CPU = b.s.Totals.Elapsed * 33 / 10
	b.s.Blame = nil
	b.share("read", graph.CauseService, 90).share("collate", graph.CauseQueue, 10)
	b.stage("read").Utilisation = some(0.99)
	b.stage("read").Workers, b.stage("read").Service.Mean = 1, 2*ms
	v := report.Judge(b.s)
	assert.False(t, v.Compute)
	assert.Equal(t, "read", v.Bottleneck)
	assert.Equal(t, "read.workers 1 -> 2", v.Next.String())
	assert.Equal(t, "decode", v.Then)
	assert.Equal(t, "read", v.Witnesses.Blame)

	kept := b.s.CPU
	b.s.CPU = b.s.Totals.Elapsed * 39 / 10
	assert.True(t, report.Judge(b.s).Compute, "only that there is no core left for what more of them would read")

	b.s.CPU, b.s.CPUWait = kept/10, kept // others have the cores: the advice stands, a prediction would not
	v = report.Judge(b.s)
	assert.True(t, v.Crowded)
	assert.Equal(t, "read", v.Bottleneck)
	assert.Equal(t, "workers", v.Next.Knob)
	assert.Nil(t, v.Predicted)
	assert.Regexp(t, `^Other programs had the cores .* Run it again when the machine is quiet\.$`, v.Sentence)
}

func TestSlowItemsOfAStageThatWaitsAreNamedOnALoadedMachineToo(t *testing.T) {
	s := golden()["jitter"]
	s.CPU, s.CPUWait = s.Totals.Elapsed/2, s.Totals.Elapsed*2
	v := report.Judge(s)
	assert.True(t, v.Crowded)
	assert.False(t, v.Compute)
	assert.Equal(t, "read", v.Bottleneck)
	assert.Equal(t, "read.window 16 -> 1024", v.Next.String())
}

func TestALoopBodyThatComputesOnAllCoresIsNotTheStages(t *testing.T) {
	b := hungry("loop_body")
	b.s.Blame = nil
	b.share("decode", graph.CauseWindow, 90).share("collate", graph.CauseQueue, 10)
	for _, id := range []string{"decode", "crop", "collate"} {
		b.stage(id).Busy /= 4
	}
	b.stage("decode").Utilisation = some(0.24)
	v := report.Judge(b.s)
	assert.False(t, v.Compute)
	assert.Equal(t, "decode.window", v.Next.Stage+"."+v.Next.Knob)
	assert.Contains(t, v.Evidence, `computing: "decode" 24 %, 75 % outside of stages that compute (the loop body, garbage `+
		`collection, reading)`)
}

func TestTheVerdictOnCoresSaysWhatItFollowsWhereWitnessesDisagree(t *testing.T) {
	b := hungry("disagreeing")
	b.stage("read").Service.Mean = 9 * ms
	v := report.Judge(b.s)
	assert.True(t, v.Compute)
	assert.Contains(t, v.Evidence, `the witnesses disagree: blame names none, the queues "decode", capacity "read"; the `+
		`verdict follows the processor time`)
}

func TestAQueueBeforeAnIdleStageAccusesNobodyWhileCoresAreShort(t *testing.T) {
	b := hungry("queue")
	b.stage("read").Queue.Mean = some(0.6 * 16)
	v := report.Judge(b.s)
	assert.Contains(t, v.Evidence, `queues: 70 % full before "collate", which had a worker free, but no core`)
	assert.Empty(t, v.Witnesses.Queues)
}

func TestASinkWithoutLimitGetsNoNumberOfCores(t *testing.T) {
	b := hungry("discarding")
	b.s.Sink.SteadyBusy, b.stage("train").Service.Mean, b.stage("train").Busy = 0, 0, 0
	b.s.Stages[0].Load = graph.CPU
	v := report.Judge(b.s)
	require.NotNil(t, v.Next)
	assert.Equal(t, "decode.cores", v.Next.String())
	assert.Nil(t, v.Predicted)
	assert.Regexp(t, `or give it more cores\.$`, v.Sentence)
}

func TestARunThatIsNotStarvedIsJudgedOnALoadedMachineToo(t *testing.T) {
	s := golden()["accelerator"]
	s.CPU, s.CPUWait = s.Totals.Elapsed/2, s.Totals.Elapsed
	v := report.Judge(s)
	assert.True(t, v.Crowded)
	assert.Regexp(t, `^Not starved: "train" waits`, v.Sentence)
	assert.Contains(t, v.Evidence[len(v.Evidence)-1], "cores: this program kept 0.5 of 4 busy")
}

func TestAShortRunOnALoadedMachineSaysSo(t *testing.T) {
	s := golden()["short"]
	s.CPU, s.CPUWait = s.Totals.Elapsed/2, s.Totals.Elapsed
	assert.Regexp(t, `^Other programs had the cores for 67 % .* Too short to judge: .* when the machine is quiet\.$`,
		report.Judge(s).Sentence)
}

func TestASinkThatTheCoresJustFeedIsToldThatTheyHaveNothingToSpare(t *testing.T) {
	s := golden()["accelerator"]
	s.CPU = s.Totals.Elapsed * 39 / 10
	v := report.Judge(s)
	assert.False(t, v.Starved || v.Compute)
	assert.Contains(t, v.Sentence, `The cores can do no more than that: if "train" were faster, it would wait for the cores.`)

	b := chain("just_enough", 60*ms, 300*time.Microsecond, steps(func(m map[string]*step) { m["decode"].mean = 1850 * time.Microsecond })...)
	assert.Contains(t, report.Judge(b.s).Sentence, `The slowest stage before it, "decode", can do no more than that: if "train" `+
		`were faster, it would wait for "decode".`)
}

func TestAWaitForCoresThatCannotBeIsLeftOut(t *testing.T) {
	s := golden()["cores"]
	s.CPUWait = -1
	assert.Contains(t, report.Table(s), "warning: 1 figure left out, negative or not a number: cpu_wait")
}
