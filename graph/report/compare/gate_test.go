package compare_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report/compare"
)

func TestGatesAreRead(t *testing.T) {
	for text, want := range map[string]compare.Gate{
		"totals.samples_per_second < -5%":  {Path: "totals.samples_per_second", Op: "<", Number: -5, Percent: true},
		"stages.decode.service.mean>=10 %": {Path: "stages.decode.service.mean", Op: ">=", Number: 10, Percent: true},
		" sink.wait_ratio > 0.2 ":          {Path: "sink.wait_ratio", Op: ">", Number: 0.2},
		"totals.balanced != 1":             {Path: "totals.balanced", Op: "!=", Number: 1},
		"memory.peak_rss_bytes<=1.5e9":     {Path: "memory.peak_rss_bytes", Op: "<=", Number: 1.5e9},
		"alarms == 0":                      {Path: "alarms", Op: "==", Number: 0},
	} {
		got, err := compare.ParseGate(text)
		require.NoError(t, err, text)
		got.Text = ""
		assert.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"totals.samples": "no comparison; wanted PATH OP NUMBER", "a = 3": `unknown comparison at "= 3"`, "a ! 3": "unknown comparison",
		"< 3": "wanted a path", "a < b": `wanted a number after "<", got "b"`, "a < 1e999": "wanted a number", "a < NaN%": "wanted a number",
		"a <": "wanted a number", "alarms > 5%": "has no percentage", "": "no comparison",
	} {
		_, err := compare.ParseGate(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestGatesFailWhenTheyHold(t *testing.T) {
	slow := base()
	slow.decode = 25 * time.Millisecond // 50 samples/s, then 40
	c := of(t, runs(t, "a", 1, base(), quiet), runs(t, "b", 1, slow, quiet))
	for text, want := range map[string]bool{
		"totals.samples_per_second < -5%": true, "totals.samples_per_second < -30%": false, "totals.samples_per_second < 45": true,
		"totals.samples_per_second < 35": false, "stages.decode.service.mean > 20%": true, "stages.decode.service.mean > 25%": false,
		"stages.decode.service.mean >= 25%": true, "stages.1.service.mean > 20%": true, "stages.train.service.p95 != 0%": false,
		"blame.0.seconds > 1": true, "totals.balanced == 1": true, "alarms > 0": false,
	} {
		g, err := compare.ParseGate(text)
		require.NoError(t, err)
		r, err := c.Check(g)
		require.NoError(t, err, text)
		assert.Equal(t, want, r.Failed, "%s: %s", text, r.Text)
	}
}

func TestAGateOnNoiseDoesNotFail(t *testing.T) {
	g, err := compare.ParseGate("totals.samples_per_second < -1%")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(13, 4))
	held := 0
	for range 20 {
		res, err := of(t, runs(t, "a", 5, base(), shaking(r, 0.05)), runs(t, "b", 5, base(), shaking(r, 0.05))).Check(g)
		require.NoError(t, err)
		assert.False(t, res.Failed, res.Text)
		if res.Text != "" && res.Change != nil && *res.Change < -0.01 {
			held++
			assert.Contains(t, res.Text, "the runs do not tell A and B apart")
		}
	}
	assert.Positive(t, held, "the noise is too small for this test")
}

func TestAGateThatCannotBeJudgedIsAnError(t *testing.T) {
	c := of(t, runs(t, "a", 1, base(), quiet), runs(t, "b", 1, base(), quiet))
	for text, want := range map[string]string{
		"totals.sample > 1":            `there is no "sample" in "b/0.json"; wanted one of balanced, batches`,
		"stages.decod.workers > 1":     `there is no "decod" in "b/0.json"; wanted one of read, decode, train`,
		"stages.9.workers > 1":         `there is no "9"`,
		"totals.samples.x > 1":         `nothing below the part before "x"`,
		"sink.device_wait_ratio > 0.1": `is null in "b/0.json"`,
		"stages.decode.kind > 1":       `is no number in "b/0.json"; it holds "decode_image"`,
		"stages > 1":                   "it holds the list read, decode, train",
		"totals.skipped > 5%":          "A is 0, so there is no percentage",
	} {
		g, err := compare.ParseGate(text)
		require.NoError(t, err)
		_, err = c.Check(g)
		assert.ErrorContains(t, err, want)
	}
	g, _ := compare.ParseGate("stages.decod.workers > 1")
	_, err := c.Check(g)
	var wrong *compare.PathError
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "decod", wrong.Word)
	assert.Equal(t, []string{"read", "decode", "train"}, wrong.Have)
}
