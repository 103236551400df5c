package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

func TestLateLaunchesAreTold(t *testing.T) {
	s := golden()["accelerator"]
	assert.NotContains(t, report.Table(s), "Launches")
	s.Sink.Launches = &graph.LaunchStats{Busy: 2 * time.Second, Late: graph.Distribution{Count: 400, Mean: 40 * time.Microsecond,
		P50: time.Microsecond, P95: time.Millisecond, P99: 5 * time.Millisecond, Max: 9 * time.Millisecond}}
	assert.Contains(t, strings.Join(strings.Fields(report.Table(s)), " "), `Launches of "train": 400 needed 2 s of a core; `+
		`for want of one they were late by 40 us on average, 1 ms at p95, 9 ms at most.`)
	text, err := report.JSON(s)
	require.NoError(t, err)
	assert.Empty(t, violations(t, rules(t), text))
	var doc struct {
		Sink struct {
			Launches struct {
				Count int     `json:"count"`
				Busy  float64 `json:"busy_seconds"`
				Late  struct{ P95, Max float64 }
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	l := doc.Sink.Launches
	assert.Equal(t, []float64{400, 2, 0.001, 0.009}, []float64{float64(l.Count), l.Busy, l.Late.P95, l.Late.Max})
	assert.Equal(t, 9*time.Millisecond, s.Sink.Launches.Late.Max, "the snapshot is left as it was")
}
