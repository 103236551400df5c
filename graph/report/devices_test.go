package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
)

func TestADeviceTellsItsCopiesAndWhetherItsUseIsKnown(t *testing.T) {
	s := golden()["accelerator"]
	told := func(d graph.DeviceStats) string {
		d.Name = "emu:c2c"
		s.Devices = []graph.DeviceStats{d}
		_, after, _ := strings.Cut(strings.Join(strings.Fields(report.Table(s)), " "), "Device emu:c2c: ")
		text, _, _ := strings.Cut(after, ".")
		return text
	}
	const unknown = "the consumer did not say when it used them"
	assert.Contains(t, told(graph.DeviceStats{Copies: 1, Bytes: 64 << 20, Unknown: true}), "1 copy, 64 MiB; copies under way 0 % of the time; "+unknown)
	assert.Equal(t, "2 copies, 64 MiB; copies under way 0 % of the time; 1 batch not page-locked, so the copies held the host up", told(graph.DeviceStats{Copies: 2, Bytes: 64 << 20,
		StagedCopies: 1}), "it said so, and no use has ended yet")
	assert.Contains(t, told(graph.DeviceStats{Copies: 2, Bytes: 64 << 20, Steps: 2, Busy: time.Second, Idle: 500 * time.Millisecond}),
		"its work waited 500 ms for batches")
	assert.NotContains(t, told(graph.DeviceStats{Unknown: true}), unknown, "there is nothing to use")
}
