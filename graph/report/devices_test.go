package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	assert.Contains(t, told(graph.DeviceStats{Copies: 1, Use: &graph.DeviceUse{Missing: "no NVML: not found"}}), "its use is not known (no NVML: not found)")
	used := told(graph.DeviceStats{Copies: 1, Use: &graph.DeviceUse{Asked: 3, Told: 2, Busy: some(0.5), Memory: 8 << 30, MemoryUsed: 1 << 30,
		LinkGeneration: 4, LinkWidth: 16, LinkGenerationLimit: 5, LinkWidthLimit: 16}})
	for _, w := range []string{"a kernel of any process ran 50 % of the time (asked 2 times)", "1 GiB of its 8 GiB of memory in use", "link PCIe 4 x16 of at most 5 x16"} {
		assert.Contains(t, used, w)
	}
}

// Of 40 ms that a copy holds the host, and 30 that the device waits for a batch, page-locked memory saves 30 at most.
func TestPinningSavesNoMoreThanTheCopyAndTheWait(t *testing.T) {
	s := golden()["accelerator"]
	for _, c := range []struct {
		copies, staged   int64
		copy, idle, want time.Duration // of a batch
	}{
		{10, 10, 40 * time.Millisecond, 30 * time.Millisecond, 30 * time.Millisecond},
		{10, 10, 4 * time.Millisecond, 30 * time.Millisecond, 4 * time.Millisecond},
		{10, 5, 4 * time.Millisecond, 30 * time.Millisecond, 2 * time.Millisecond},
		{10, 0, 40 * time.Millisecond, 30 * time.Millisecond, -1},
	} {
		s.Devices = []graph.DeviceStats{{Name: "x", Copies: c.copies, StagedCopies: c.staged, CopyTime: time.Duration(c.copies) * c.copy, Steps: 11, Busy: time.Second, Idle: 10 * c.idle}}
		text, err := report.JSON(s)
		require.NoError(t, err)
		table := strings.Join(strings.Fields(report.Table(s)), " ")
		if c.want < 0 {
			assert.Contains(t, string(text), `"pin_saves_at_most_seconds": null`)
			assert.NotContains(t, table, "pinning can save")
			continue
		}
		assert.Contains(t, string(text), fmt.Sprintf(`"pin_saves_at_most_seconds": %v`, c.want.Seconds()))
		assert.Contains(t, table, fmt.Sprintf("pinning can save at most %d ms of the 30 ms that the device waits for a batch", c.want.Milliseconds()))
	}
}
