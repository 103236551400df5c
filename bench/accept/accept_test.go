//go:build linux && (amd64 || arm64) && !nocuda

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest/standin"
	"github.com/penstock-go/penstock/cuda/driver"
)

func try(t *testing.T, args ...string) (rc int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	rc = run(args, &o, &e)
	return rc, o.String(), e.String()
}

// standIn makes the driver's stand-in the driver. Programs that have it keep it until they end, so a test that wants none
// names a file that is not there.
func standIn(t *testing.T) {
	t.Helper()
	lib, err := standin.Build(t.TempDir())
	require.NoError(t, err)
	if lib == "" {
		t.Skip("no C compiler (cc), so there is no stand-in for the driver: skipped")
	}
	t.Setenv(driver.LibraryVariable, lib)
	noBLAS(t)
}

// noBLAS hides the machine's own cuBLAS, which knows nothing of the devices of tests.
func noBLAS(t *testing.T) { t.Setenv("PENSTOCK_LIBCUBLAS", filepath.Join(t.TempDir(), "none.so")) }

func TestTheStandInIsAccepted(t *testing.T) {
	standIn(t)
	file := filepath.Join(t.TempDir(), "accept.json")
	rc, out, errs := try(t, "-most", "1048576", "-rounds", "2", "-json", file)
	require.Equal(t, good, rc, errs)
	for _, want := range []string{"stand-in 0, 0000:01:00.0, CUDA 13.0, 1024 MiB", "page-locking", "pageable GB/s", "compute/copy",
		"arrived: 12 of 12 copies hold what was sent\n"} {
		assert.Contains(t, out, want)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal(text, &r))
	assert.Equal(t, arrivalCounts{12, 12}, r.Arrived)
	require.Len(t, r.Locks, 3)
	require.Len(t, r.Rates, 3)
	require.Len(t, r.Overlap, 3)
	for i, o := range r.Overlap {
		assert.Equal(t, []float64{0.5, 1, 2}[i], o.Ratio)
		assert.Positive(t, o.Copy)
		assert.Positive(t, o.Compute)
		assert.Positive(t, o.Slots)
		assert.Positive(t, o.InTurn)
	}
	for _, x := range r.Rates {
		assert.Positive(t, x.Pageable)
		assert.Positive(t, x.Registered)
	}
	require.Len(t, r.Waits, 2)
	for i, w := range r.Waits {
		assert.Equal(t, i == 0, w.Pinned)
		assert.Positive(t, w.Copy)
		assert.Positive(t, w.Work)
		assert.Zero(t, w.Product)
		require.NotNil(t, w.DeviceWait)
	}
	assert.Contains(t, out, "modelled work, for there is no cuBLAS")
}

// In virtual time the waits are exact: copies take 10 ms, or 40 from memory that is not page-locked, and work 20.
func TestAPipelineTellsItsWaits(t *testing.T) {
	noBLAS(t)
	synctest.Test(t, func(t *testing.T) {
		const n = 1 << 16
		d, err := cuda.NewEmulated(cuda.Emulation{Rate: n / 0.010, Latency: 1, Launch: 1})
		require.NoError(t, err)
		all, note, err := pipelines(d, n, 60, 64, 20*time.Millisecond)
		require.NoError(t, err)
		assert.Contains(t, note, "no cuBLAS")
		require.Len(t, all, 2)
		assert.InDelta(t, 0, *all[0].DeviceWait, 0.01)
		assert.InDelta(t, 0, *all[0].HostWait, 0.01)
		assert.Greater(t, *all[1].HostWait, 0.4, "copies hold the host up, and are over when the stream is entered")
		assert.InDelta(t, 0.010, all[0].Copy, 1e-5)
		assert.InDelta(t, 0.040, all[1].Copy, 1e-5)
		_, note, err = pipelines(d, n, 1, 0, 0)
		require.NoError(t, err)
		assert.Equal(t, "modelled work, for there is no product on devices other than 0", note)
		require.NoError(t, d.Close())
	})
}

// The emulated device's times are exact in virtual time: there the figures can be checked.
func TestTwoSlotsHideTheShorterOfCopyAndWork(t *testing.T) {
	for _, ratio := range []float64{0.5, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			const n = 1 << 16
			d, err := cuda.NewEmulated(cuda.Emulation{Rate: n / 0.010, Latency: 1, Launch: 1})
			require.NoError(t, err)
			var a arrivalCounts
			o, err := overlaps(d, n, ratio, 3, &a)
			require.NoError(t, err)
			require.NoError(t, d.Close())
			assert.InDelta(t, 0.010, o.Copy, 1e-6)
			assert.InDelta(t, 0.010*ratio, o.Compute, 1e-6)
			assert.InDelta(t, 0.010*(1+ratio), o.InTurn, 1e-6)
			assert.InDelta(t, 0.010*max(1, ratio), o.Slots, 1e-6)
			assert.InDelta(t, 1, o.Hidden, 1e-3)
			assert.Equal(t, arrivalCounts{2, 2}, a)
		})
	}
}

func TestWithoutADeviceItSaysSoAndEndsWith3(t *testing.T) {
	t.Setenv(driver.LibraryVariable, filepath.Join(t.TempDir(), "none.so"))
	rc, out, errs := try(t)
	assert.Equal(t, noDevice, rc)
	assert.Empty(t, out)
	assert.Contains(t, errs, "there is no device here, so nothing was measured")
	assert.Contains(t, errs, "none.so")
}

func TestADeviceThatIsNotThereEndsTheProgram(t *testing.T) {
	standIn(t)
	rc, out, errs := try(t, "-device", "7")
	assert.NotEqual(t, good, rc)
	assert.Empty(t, out)
	assert.Contains(t, errs, "CUDA_ERROR_INVALID_DEVICE")
}

func TestWrongUseEndsWith2(t *testing.T) {
	for _, args := range [][]string{{"-most", "1"}, {"-rounds", "0"}, {"-device", "-1"}, {"there"}, {"-oops"}, {"-side", "1"}, {"-backend", "none"}} {
		rc, _, errs := try(t, args...)
		assert.Equal(t, misused, rc, "%q", args)
		assert.NotEmpty(t, errs)
	}
}

func TestABatchThatChangedOnItsWayIsFound(t *testing.T) {
	sent := make([]byte, 4096)
	fill(sent, 1)
	got := bytes.Clone(sent)
	var a arrivalCounts
	a.look(sent, got)
	got[4000] ^= 1
	a.look(sent, got)
	assert.Equal(t, arrivalCounts{Checked: 2, Same: 1}, a)
	fill(got, 2)
	assert.NotEqual(t, sent[:8], got[:8], "the batch before would pass for this one")
}
