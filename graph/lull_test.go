package graph_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

// Each case is a process of its own, for the rest is for its first run only.
func TestTheCollectorRestsUntilTheFirstBatchOfAProcess(t *testing.T) {
	const child = "PENSTOCK_LULL"
	if os.Getenv(child) == "" {
		for _, c := range []struct{ what, gogc, limit string }{
			{"small slabs", "100", "off"}, {"large slabs", "100", "off"}, {"ended", "100", "off"},
			{"a limit", "100", "4GiB"}, {"collected otherwise", "off", "off"},
		} {
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), child+"="+c.what, "GOGC="+c.gogc, "GOMEMLIMIT="+c.limit)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", c.what, out)
		}
		return
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const aside = 2 * 44 << 20
	givenBack := func(why string) {
		for until := time.Now().Add(10 * time.Second); heap() > aside/2; time.Sleep(time.Millisecond) {
			require.True(t, time.Now().Before(until), why)
		}
	}
	row, items := 64<<10, int64(64)
	if os.Getenv(child) == "large slabs" {
		row, items = 4<<20, 16 // two batches: further ones have slabs beyond what is set aside
	}
	p := graph.New("lull")
	in := graph.From(p, "read", pieces(items, 1000, 0))
	out := graph.Output(graph.Via(in, "collate", packs{8, row}, graph.Workers(1)), "out")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := p.Start(ctx)
	require.NoError(t, err)
	began := heap()
	switch os.Getenv(child) {
	case "a limit", "collected otherwise":
		assert.Less(t, began, aside/2, "a program that has settings of its own is left alone")
		return
	case "ended":
		assert.Greater(t, began, aside)
		cancel()
		_ = run.Wait()
		givenBack("a run that ends keeps nothing")
		return
	}
	assert.Greater(t, began, aside)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		if row < 1<<20 {
			givenBack("no slab was cut from it: it is given back at the first batch")
		} else if b.Number == 0 {
			assert.Less(t, heap(), began+row*8, "slabs are cut from it")
		}
	}
	require.NoError(t, run.Wait())
}
