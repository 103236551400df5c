package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

func TestLiveLineTellsRateWaitStageEpochAndTimeLeft(t *testing.T) {
	s := golden()["decode"]
	s.Running = true
	assert.Equal(t, `488 samples/s, waits 77 %, slowest decode, epoch 1`, report.LiveLine(s))
	s.Expected = graph.Expected{Epochs: some(int64(3)), Samples: some(int64(19200))}
	assert.Equal(t, `488 samples/s, waits 77 %, slowest decode, epoch 1/3, 26.2 s left`, report.LiveLine(s))
}

func TestLiveLineBeforeAnythingIsKnown(t *testing.T) {
	assert.Equal(t, "- samples/s, epoch 1", report.LiveLine(graph.Snapshot{Running: true}))
}

func TestLiveLineAtTheEndStaysInTheLastEpoch(t *testing.T) {
	s := golden()["accelerator"]
	s.Expected = graph.Expected{Epochs: some(int64(1)), Samples: some(int64(6400))}
	assert.Equal(t, `995 samples/s, waits <1 %, slowest decode, epoch 1/1`, report.LiveLine(s))
}

func TestLiveSinceShowsAStopAtOnce(t *testing.T) {
	before := golden()["decode"]
	s := before
	s.Totals.Elapsed += 1000 * ms
	assert.Contains(t, report.LiveSince(before, s), "0 samples/s, ")
	s.Totals.Samples += 250
	assert.Contains(t, report.LiveSince(before, s), "250 samples/s, ")
	assert.Contains(t, report.LiveSince(s, before), "- samples/s, ", "an older snapshot gives no rate")
}
