package devices

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/graph/tune/doctor"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// quarter is a link that is four times as quick as [link]: to it, batches have a quarter of the bytes.
type quarter struct{}

func (quarter) Name() string { return "test" }

func (quarter) Open(int) (cuda.Device, error) {
	return cuda.NewEmulated(cuda.Emulation{Rate: 4 * 64 * 8 / 0.010, Latency: 1, Launch: 1})
}

// rateOf is the steady rate of a run, in samples a second.
func rateOf(s graph.Snapshot) float64 {
	return 64 * float64(s.Sink.SteadyItems) / (s.Sink.SteadyWait + s.Sink.SteadyBusy).Seconds()
}

func examine(t *testing.T, text string) *doctor.Examination {
	t.Helper()
	x, err := doctor.Examine(func(set []string, _ time.Duration) (s graph.Snapshot, err error) {
		synctest.Test(t, func(t *testing.T) { s = run(t, parse(t, text, set...)) })
		return s, nil
	}, doctor.Options{})
	require.NoError(t, err)
	return x
}

// Copies take 10 ms a batch and steps 12; with one slot on the device they take turns.
func TestDoctorGivesTheDeviceRoomForTheNextBatch(t *testing.T) {
	x := examine(t, strings.Replace(pinned, `{device: "cuda:0"}`, `{device: "cuda:0", depth: 1}`, 1))
	require.Len(t, x.Actions, 1, x.Text())
	a := x.Actions[0]
	assert.Equal(t, []string{"copy.depth=2"}, a.Set)
	require.NotNil(t, a.Measured, x.Text())
	assert.InEpsilon(t, a.Predicted, *a.Measured, 0.1, x.Text())
}

// Copies take 10 ms a batch and steps 2: the link is the limit.
func TestDoctorSaysThatTheLinkIsTheLimit(t *testing.T) {
	text := strings.Replace(pinned, "12ms", "2ms", 1)
	x := examine(t, text)
	require.Len(t, x.Actions, 1, x.Text())
	a := x.Actions[0]
	assert.Equal(t, "copy bytes", a.Stage+" "+a.Knob, x.Text())
	assert.Empty(t, a.Set)
	synctest.Test(t, func(t *testing.T) {
		c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds(), cuda.Kinds(quarter{}))...)
		require.NoError(t, err)
		s, found := spec.Parse("test.yaml", []byte(text), c, spec.Options{})
		require.Empty(t, found)
		assert.InEpsilon(t, a.Predicted, rateOf(run(t, s.Pipeline)), 0.1, x.Text())
	})
}

// Copies take 10 ms a batch from page-locked memory and 40 from other, steps 12: without pin the copies set the pace. With
// steps of 60 ms they hide behind the work either way.
func TestDoctorTellsWhetherPinningHelps(t *testing.T) {
	for _, c := range []struct{ step, answer, proof string }{
		{"12ms", "yes: 2", "with pin.off=true 1600 samples/s, 40 ms to copy a batch, the device waits 70 % of the time"},
		{"60ms", "no: within 5 % it is the same without", "with it 1066 samples/s, 10 ms to copy a batch"},
	} {
		x := examine(t, strings.Replace(pinned, "12ms", c.step, 1))
		last := x.Steps[len(x.Steps)-1]
		assert.Equal(t, "does pinning help here?", last.Ask, x.Text())
		assert.True(t, strings.HasPrefix(last.Answer, c.answer), "%s", x.Text())
		assert.Contains(t, last.Proof, c.proof)
	}
}

// Where batches are not page-locked, no number of workers helps, and doctor asks for pin and says what it brings at most.
func TestDoctorAsksForPin(t *testing.T) {
	x := examine(t, strings.Replace(pinned, "pin: {}", "pin: {off: true}", 1))
	require.Len(t, x.Actions, 1, x.Text())
	a := x.Actions[0]
	assert.Equal(t, []string{"pin.off=false"}, a.Set)
	require.NotNil(t, a.Measured, x.Text())
	assert.InEpsilon(t, a.Predicted, *a.Measured, 0.05, x.Text())

	x = examine(t, strings.Replace(pinned, "  - {id: pin, pin: {}}\n", "", 1))
	require.Len(t, x.Actions, 1, x.Text())
	assert.Equal(t, `put pin before "copy"`, x.Actions[0].Text)
	assert.Empty(t, x.Actions[0].Set)
	assert.Contains(t, x.Text(), "it can save at most 28 ms of the 28 ms that the device waits for a batch")
	assert.InEpsilon(t, 5333, x.Actions[0].Predicted, 0.05)
}
