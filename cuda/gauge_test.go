package cuda_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
)

// monitored is a device that tells how it is used.
type monitored struct {
	*cuda.Emulated
	tell func(n int) (cuda.Use, error)
	n    int
}

func (m *monitored) Use() (cuda.Use, error) {
	m.n++
	return m.tell(m.n)
}

// used carries 100 batches, 100 ms each, to a device that tells its use.
func used(t *testing.T, tell func(n int) (cuda.Use, error)) (use *graph.DeviceUse) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &monitored{Emulated: emulated(t, 512, nil), tell: tell}
		p, out := pipe{dev: m, n: 100, bytes: 512, load: 100 * ms, depth: 2}.build()
		run, err := p.Start(context.Background())
		require.NoError(t, err)
		for _, err := range out.All(run) {
			require.NoError(t, err)
		}
		require.NoError(t, run.Wait())
		use = run.Snapshot().Devices[0].Use
	})
	return use
}

func TestADeviceIsAskedNowAndThenHowItIsUsed(t *testing.T) {
	u := used(t, func(n int) (cuda.Use, error) {
		busy := float64(n%2) / 2
		u := cuda.Use{Busy: &busy, Memory: 100, MemoryUsed: int64(n % 7), LinkGeneration: 1 + n%2*4, LinkWidth: 16, LinkGenerationLimit: 5, LinkWidthLimit: 16}
		if n == 3 {
			u.Busy = nil
		}
		return u, nil
	})
	require.NotNil(t, u)
	assert.InDelta(t, 20, u.Asked, 2, "twice a second, for ten seconds, and not for each batch")
	assert.Equal(t, u.Asked-1, u.Told)
	require.NotNil(t, u.Busy)
	assert.InDelta(t, 0.25, *u.Busy, 0.03)
	assert.Equal(t, []int64{100, 6}, []int64{u.Memory, u.MemoryUsed})
	assert.Equal(t, []int{5, 16, 5, 16}, []int{u.LinkGeneration, u.LinkWidth, u.LinkGenerationLimit, u.LinkWidthLimit}, "the best that was seen")
}

func TestADeviceThatTellsNothingIsAskedOnce(t *testing.T) {
	n := 0
	u := used(t, func(int) (cuda.Use, error) {
		n++
		return cuda.Use{}, errors.New("no NVML: not found")
	})
	require.NotNil(t, u)
	assert.Equal(t, graph.DeviceUse{Missing: "no NVML: not found"}, *u)
	assert.Equal(t, 1, n)
}
