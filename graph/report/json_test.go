package report_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

func TestEveryGoldenReportFollowsTheSchema(t *testing.T) {
	all := rules(t)
	for name, s := range golden() {
		text, err := report.JSON(s)
		require.NoError(t, err)
		assert.Empty(t, violations(t, all, text), name)
	}
}

func TestTheSchemaCheckSeesWhatIsWrong(t *testing.T) {
	all := rules(t)
	text, err := report.JSON(golden()["decode"])
	require.NoError(t, err)
	for name, breakIt := range map[string]func(map[string]any){
		"missing key":    func(d map[string]any) { delete(d, "mix") },
		"unknown key":    func(d map[string]any) { d["colour"] = "red" },
		"negative":       func(d map[string]any) { d["sink"].(map[string]any)["wait_seconds"] = -1 },
		"wrong type":     func(d map[string]any) { d["pipeline"] = 3 },
		"ratio above 1":  func(d map[string]any) { d["sink"].(map[string]any)["wait_ratio"] = 1.5 },
		"unknown cause":  func(d map[string]any) { d["blame"].([]any)[0].(map[string]any)["cause"] = "bad luck" },
		"another format": func(d map[string]any) { d["version"] = 2 },
		"part of a unit": func(d map[string]any) { d["rank"] = 0.5 },
	} {
		var d map[string]any
		require.NoError(t, json.Unmarshal(text, &d))
		breakIt(d)
		broken, err := json.Marshal(d)
		require.NoError(t, err)
		assert.Len(t, violations(t, all, broken), 1, name)
	}
}

// decoded is the report of s as generic JSON, with a way to reach into it.
func decoded(t *testing.T, s graph.Snapshot) func(path ...any) any {
	t.Helper()
	text, err := report.JSON(s)
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(text, &doc))
	return func(path ...any) any {
		x := doc
		for _, p := range path {
			switch p := p.(type) {
			case string:
				object, ok := x.(map[string]any)
				require.True(t, ok, "%v", path)
				x = object[p]
			case int:
				x = x.([]any)[p]
			}
		}
		return x
	}
}

func TestAbsentFiguresAreNullAndEmptyListsStay(t *testing.T) {
	at := decoded(t, graph.Snapshot{})
	for _, path := range [][]any{{"digest"}, {"digest_seconds"}, {"totals", "samples_per_second"}, {"totals", "first_batch_seconds"},
		{"sink", "wait_ratio"}, {"sink", "waits", "p99"}, {"environment", "cores"}, {"verdict", "starved"}, {"verdict", "next"},
		{"verdict", "gain"}, {"memory", "peak_rss_bytes"}, {"memory", "in_flight_peak_bytes"}} {
		assert.Nil(t, at(path...), "%v", path)
	}
	for _, key := range []string{"blame", "stages", "epochs", "mix", "cache", "devices", "decisions", "warnings"} {
		assert.Equal(t, []any{}, at(key), key)
	}
	assert.Empty(t, at("spec", "overrides"))
	assert.Zero(t, at("totals", "samples"))
}

func TestAStageAbsorbedByAnotherHasNoTimes(t *testing.T) {
	at := decoded(t, golden()["epochs"])
	assert.Equal(t, "decode", at("stages", 2, "fused_into"))
	assert.Nil(t, at("stages", 2, "busy_seconds"))
	assert.Nil(t, at("stages", 2, "service", "mean"))
	assert.Equal(t, "crop", at("stages", 1, "phases", 1, "name"))
	assert.Equal(t, 0.1, at("epochs", 1, "edge_gap_seconds"))
	assert.Equal(t, "decode", at("epochs", 0, "stages", 0, "id"), "in order of declaration")
}

func TestBlameInJSONAddsUpToTheWaitOfTheSink(t *testing.T) {
	for _, name := range []string{"decode", "read", "transform", "batch_stage", "jitter", "accelerator"} {
		at := decoded(t, golden()[name])
		sum := 0.0
		for _, b := range at("blame").([]any) {
			sum += b.(map[string]any)["seconds"].(float64)
		}
		assert.InDelta(t, at("sink", "wait_seconds"), sum, 1e-9, name)
	}
}

func TestFiguresThatCannotBeTrueAreLeftOutAndNamed(t *testing.T) {
	s := golden()["decode"]
	nan, inf := math.NaN(), math.Inf(1)
	s.Stages[1].Busy, s.Stages[1].Capacity, s.Stages[1].Queue.Mean = -time.Second, &inf, &nan
	s.Sink.WaitRatio = some(1.5)
	s.Totals.Skipped = -3
	at := decoded(t, s)
	assert.Nil(t, at("stages", 1, "capacity_per_second"))
	assert.Nil(t, at("stages", 1, "queue", "mean"))
	assert.Nil(t, at("sink", "wait_ratio"))
	assert.Zero(t, at("totals", "skipped"))
	assert.Contains(t, at("warnings", 0), "5 figures left out, negative or not a number: sink.wait_ratio, stages.decode.busy")
	assert.Equal(t, -time.Second, s.Stages[1].Busy, "the snapshot itself stays as it was")
}

func TestCountsThatDoNotAddUpAreAWarning(t *testing.T) {
	s := golden()["decode"]
	s.Totals.Balanced, s.Totals.Unbalanced = false, []string{`stage "decode": 10 in, 9 accounted for`}
	at := decoded(t, s)
	assert.Equal(t, false, at("totals", "balanced"))
	assert.Contains(t, at("warnings", 0), `counts do not add up: stage "decode"`)
	s.Running = true
	assert.Nil(t, decoded(t, s)("totals", "balanced"), "not known while items are under way")
}

func TestWhatFinishedItemsWaitedBehindIsInTheReport(t *testing.T) {
	all, ok := decoded(t, golden()["jitter"])("stages", 0, "stragglers").([]any)
	require.True(t, ok)
	require.Len(t, all, 3)
	assert.Equal(t, map[string]any{"key": "n03/big.jpg", "times": 1.0, "held_seconds": 0.19, "blocked_seconds": 0.54}, all[0])
}

func TestFiguresOfATimelineStandOnOneLine(t *testing.T) {
	text, err := report.JSON(golden()["decode"])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"goroutines": [14, null, 14, 14, 14, 14, 14, 14]`)
	at := decoded(t, golden()["decode"])
	assert.Len(t, at("timeline", "stages", 0, "busy_seconds"), 8)
	assert.Nil(t, at("timeline", "stages", 4, "queue"), "a sink has none")
	assert.Equal(t, "train", at("timeline", "waits", 0, "stage"))
}
