package devices

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// link is a device whose copies take 10 ms for a batch of 64 numbers.
type link struct{}

func (link) Name() string { return "test" }

func (link) Open(int) (cuda.Device, error) {
	return cuda.NewEmulated(cuda.Emulation{Rate: 64 * 8 / 0.010, Latency: 1, Launch: 1})
}

func parse(t *testing.T, text string, set ...string) *graph.Pipeline {
	t.Helper()
	c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds(), cuda.Kinds(link{}))...)
	require.NoError(t, err)
	s, found := spec.Parse("test.yaml", []byte(text), c, spec.Options{Set: set})
	require.Empty(t, found)
	return s.Pipeline
}

func run(t *testing.T, p *graph.Pipeline) graph.Snapshot {
	t.Helper()
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	s := r.Snapshot()
	s.CPU, s.CPUWait = 0, 0 // of the real clock: other programs are none of these tests' business
	assert.True(t, s.Totals.Balanced, "%v", s.Totals.Unbalanced)
	assert.True(t, s.Emulated)
	var blamed time.Duration
	for _, b := range s.Blame {
		blamed += b.Time
		assert.NotEqual(t, graph.CauseUnattributed, b.Cause)
	}
	assert.Equal(t, s.Sink.Wait, blamed)
	return s
}

const pinned = `
pipeline: pinned
stages:
  - {id: read, range: {count: 12800}}
  - {id: slow, delay: {time: 1us}, workers: 1}
  - {id: collate, collate: {size: 64}}
  - {id: hold, delay: {time: 1us}, workers: 1}
  - {id: pin, pin: {}}
  - {id: copy, device_copy: {device: "cuda:0"}}
  - {id: train, accelerator: {step: 12ms}}
`

func TestLaunchesGoOnBesideTheDevicesWork(t *testing.T) {
	for _, c := range []struct {
		launch string
		step   time.Duration // that comes of it
	}{{"4ms", 12 * time.Millisecond}, {"20ms", 20 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			s := run(t, parse(t, pinned, "train.launch="+c.launch))
			launch, err := time.ParseDuration(c.launch)
			require.NoError(t, err)
			require.NotNil(t, s.Sink.Launches)
			assert.Equal(t, int64(200), s.Sink.Launches.Late.Count)
			assert.Equal(t, 200*launch, s.Sink.Launches.Busy)
			assert.Zero(t, s.Sink.Launches.Late.Max)
			assert.InDelta(t, 200*c.step, s.Totals.Elapsed, float64(30*time.Millisecond), "the longer of the two")
			assert.Zero(t, s.Sink.Steady, "the host waits for no batch")
		})
	}
}

func TestNothingIsStarvedWhereTheStepIsTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t, parse(t, pinned))
		v := report.Judge(s)
		assert.False(t, v.Starved)
		assert.Empty(t, v.Bottleneck)
		assert.LessOrEqual(t, *s.Sink.DeviceWaitRatio, 0.01)
		assert.Zero(t, s.Devices[0].CopiedBytes, "delay hands batches on as they are")
		assert.Equal(t, int64(12800), s.Totals.Samples)
		assert.Equal(t, int64(12800*8), s.Totals.Bytes)
		assert.NotNil(t, s.Digest)
	})
}

func TestThePlantedStageIsNamed(t *testing.T) {
	for _, c := range []struct {
		name        string
		set         []string
		stage, text string
		starved     bool
	}{
		{"before collate", []string{"slow.time=500us"}, "slow", `"slow" causes`, true},
		{"after collate", []string{"hold.time=40ms"}, "hold", `"hold" causes`, true},
		{"a slow link", []string{"train.step=3ms"}, "copy", "The link to the device is the limit", false},
		{"one slot", []string{"copy.depth=1"}, "copy", `Next: raise depth of "copy" from 1 to 2. That should give`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := run(t, parse(t, pinned, c.set...))
				v := report.Judge(s)
				assert.Equal(t, c.stage, v.Bottleneck, report.Table(s))
				assert.Equal(t, c.starved, v.Starved)
				assert.Contains(t, v.Sentence, c.text, report.Table(s))
				if !c.starved {
					assert.Equal(t, graph.CauseCopy, v.Cause)
					assert.Less(t, *s.Sink.WaitRatio, 0.01, "the host does not wait")
					assert.Greater(t, *s.Sink.DeviceWaitRatio, 0.4)
				}
			})
		})
	}
}

// Without page-locked memory the copy holds the host up, and blame names it as what it is.
func TestACopyThatHoldsTheHostUpIsBlamed(t *testing.T) {
	const text = `
pipeline: plain
stages:
  - {id: read, range: {count: 6400}}
  - {id: collate, collate: {size: 64}}
  - {id: copy, device_copy: {device: "cuda:0"}}
  - {id: train, accelerator: {step: 12ms}}
`
	synctest.Test(t, func(t *testing.T) {
		s := run(t, parse(t, text))
		v := report.Judge(s)
		assert.True(t, v.Starved)
		assert.Equal(t, "copy", v.Bottleneck)
		assert.Equal(t, graph.CauseCopy, v.Cause)
		assert.Contains(t, v.Sentence, `Next: put pin before "copy".`)
		assert.Equal(t, int64(100), s.Devices[0].StagedCopies)
		assert.Contains(t, report.Table(s), "100 batches not page-locked")
	})
}

// What the verdict says that a second slot brings is what it brings.
func TestTheAdviceOfASecondSlotHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := run(t, parse(t, pinned, "copy.depth=1"))
		v := report.Judge(before)
		require.NotNil(t, v.Next)
		after := run(t, parse(t, pinned, fmt.Sprintf("copy.depth=%d", *v.Next.To)))
		assert.Less(t, *after.Sink.DeviceWaitRatio, 0.01)
		require.NotNil(t, v.Predicted)
		rate := float64(after.Totals.Samples) / after.Totals.Elapsed.Seconds()
		assert.InDelta(t, *v.Predicted, rate, 0.05*rate)
	})
}

func TestAReportOfThatIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t, parse(t, pinned))
		text, err := report.JSON(s)
		require.NoError(t, err)
		for _, w := range []string{`"emulated": true`, `"name": "cuda:0"`, `"copied_bytes": 0`, `"staged_copies": 0`, `"device_wait_ratio"`, `"stage": "copy"`} {
			assert.Contains(t, string(text), w)
		}
		assert.Contains(t, report.Table(s), "Device cuda:0: 200 copies")
	})
}
