package cuda_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/graphtest"
)

// The copy of a batch takes 10 ms. The table is that of what the device and the host do for it.
func TestWhatOverlapsInVirtualTime(t *testing.T) {
	var table strings.Builder
	fmt.Fprintln(&table, "load   compute  depth  pinned  device busy  device waits  host waits")
	for _, c := range []struct {
		load, compute time.Duration
		depth         int
		pinned        bool
	}{
		{1 * ms, 10 * ms, 2, true},
		{1 * ms, 20 * ms, 2, true},
		{1 * ms, 10 * ms, 1, true},
		{1 * ms, 5 * ms, 2, true},
		{30 * ms, 10 * ms, 2, true},
		{1 * ms, 10 * ms, 2, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			const n, bytes = 500, 10_000
			s := pipe{dev: emulated(t, bytes, nil), n: n, bytes: bytes, load: c.load, depth: c.depth, noPin: !c.pinned}.steps(t, c.compute)
			require.NotNil(t, s.Sink.DeviceWaitRatio)
			busy := float64(n*c.compute) / float64(s.Totals.Elapsed)
			wait := float64(s.Sink.Wait) / float64(s.Sink.Wait+s.Sink.Busy)
			fmt.Fprintf(&table, "%-6v %-8v %-6d %-7v %-12s %-13s %.1f %%\n", c.load, c.compute, c.depth, c.pinned,
				fmt.Sprintf("%.1f %%", 100*busy), fmt.Sprintf("%.1f %%", 100**s.Sink.DeviceWaitRatio), 100*wait)
		})
	}
	graphtest.Golden(t, "overlap.txt", table.String())
}

func TestTheDeviceIsBusyWhenLoadAndCopyAreShorterThanTheStep(t *testing.T) {
	for _, load := range []time.Duration{ms, 5 * ms, 9 * ms} {
		synctest.Test(t, func(t *testing.T) {
			const bytes = 10_000
			s := pipe{dev: emulated(t, bytes, nil), n: 300, bytes: bytes, load: load, depth: 2}.steps(t, 11*ms)
			require.NotNil(t, s.Sink.DeviceWaitRatio)
			assert.LessOrEqual(t, *s.Sink.DeviceWaitRatio, 0.01)
			assert.GreaterOrEqual(t, float64(300*11*ms)/float64(s.Totals.Elapsed), 0.99)
			d := s.Devices[0]
			assert.Equal(t, int64(300), d.Copies)
			assert.Equal(t, int64(300), d.Steps)
			assert.InDelta(t, float64(300*10*ms), float64(d.CopyTime), float64(ms))
			assert.Zero(t, d.CopiedBytes)
			assert.Zero(t, d.StagedCopies)
		})
	}
}

func TestWithOneSlotTheDeviceWaitsBesideAHostThatDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytes = 10_000
		s := pipe{dev: emulated(t, bytes, nil), n: 300, bytes: bytes, load: ms, depth: 1}.steps(t, 10*ms)
		assert.InDelta(t, 0.5, *s.Sink.DeviceWaitRatio, 0.01)
		assert.Less(t, *s.Sink.WaitRatio, 0.01)
	})
}

// The page shows the table as it is.
func TestThePageShowsTheTable(t *testing.T) {
	page, err := os.ReadFile("../docs/pinning-and-copies.md")
	require.NoError(t, err)
	table, err := os.ReadFile("testdata/overlap.txt")
	require.NoError(t, err)
	assert.Contains(t, string(page), "```text\n"+string(table)+"```")
	assert.Contains(t, string(page), "Nothing here is measured on hardware.")
}
