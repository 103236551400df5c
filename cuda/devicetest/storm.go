package devicetest

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// stormBatches is how many batches the storm carries in all: 2000, or what PENSTOCK_STORM says.
func stormBatches(t *testing.T) int {
	text := os.Getenv("PENSTOCK_STORM")
	switch n, err := strconv.Atoi(text); {
	case text != "":
		require.NoError(t, err, "PENSTOCK_STORM is a number of batches")
		return n
	case testing.Short():
		return 500
	}
	return 2000
}

// storm carries batches over devices with random delays, run after run, and in most runs something fails somewhere. Every
// batch that arrives must be itself, and every run must give back what it took.
func (c Case) storm(t *testing.T) {
	if c.Storm == nil {
		t.Skip("no faults can be planted")
	}
	r := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for seen, runs, most := 0, 0, stormBatches(t); seen < most; runs++ {
		require.Less(t, runs, 100_000, "the runs carry nothing")
		n, err := c.gust(t, r)
		seen += n
		if err != nil {
			failed++
			_, ok := errors.AsType[*cuda.Error](err)
			require.True(t, ok, "%v", err)
		}
	}
	assert.Positive(t, failed, "nothing ever failed")
}

// gust is one run of the storm. It gives the number of batches that were looked at, and the run's error.
func (c Case) gust(t *testing.T, r *rand.Rand) (seen int, err error) {
	d, quiet := c.Storm(t, r)
	n, depth := 1+r.IntN(400), 1+r.IntN(3)
	p := graph.New("storm")
	port := graph.Via(graph.From(p, "count", graph.Source[int](count(n))), "fill", graph.Stage[int, *item.Batch](filled{}))
	port = graph.Via(port, "pin", cuda.Pin{})
	out := graph.Output(graph.Via(port, "copy", cuda.DeviceCopy{Device: "cuda:0", Depth: depth, Backends: []cuda.Backend{backend{d}}}), "look")
	s, err := d.NewStream(false)
	if err != nil {
		require.False(t, quiet, "%v", err)
		_ = d.Close()
		return 0, err
	}
	run, err := p.Start(t.Context())
	if err != nil { // it has closed the device
		require.False(t, quiet, "%v", err)
		_ = s.Close()
		return 0, err
	}
	buf := make([]byte, words*8)
	for b, e := range out.All(run) {
		if e == nil {
			require.Equal(t, int64(seen), b.Number)
			e = use(t, d, s, b, r, buf)
		}
		if e != nil {
			err = e
			break
		}
		seen++
	}
	if e := s.Close(); err == nil {
		err = e
	}
	if e := run.Wait(); e != nil {
		err = e
	}
	if err == nil {
		require.Equal(t, n, seen)
	}
	require.False(t, quiet && err != nil, "%v", err)
	e, ok := errors.AsType[*cuda.Error](err)
	c.left(t, ok && e.Sticky())
	return seen, err
}

// use does one of the things that consumers do with a batch.
func use(t *testing.T, d cuda.Device, s cuda.Stream, b *item.Batch, r *rand.Rand, buf []byte) error {
	busy := time.Duration(r.Int64N(int64(100 * time.Microsecond)))
	switch r.IntN(4) {
	case 0: // the host looks at it
		if err := b.Handle.Wait(); err != nil {
			return err
		}
		return arrived(t, s, b, buf)
	case 1: // the device's stream works on it, for longer than the host looks
		if err := b.Handle.Enter(0); err != nil {
			return err
		}
		return b.Handle.Busy(busy)
	case 2: // that of another library reads it, after other work
		if err := errors.Join(s.Spin(busy), b.Handle.Enter(s.Handle())); err != nil {
			return err
		}
		return arrived(t, s, b, buf)
	default: // nobody looks
		return nil
	}
}

// arrived reads a batch by a stream and demands that it holds its own number only.
func arrived(t *testing.T, s cuda.Stream, b *item.Batch, buf []byte) error {
	err := s.CopyOut(buf, cuda.Ptr(b.Handle.Address()))
	if err == nil {
		err = s.Sync()
	}
	if err == nil {
		require.True(t, full(buf, uint64(b.Number)), "batch %d is not what was sent", b.Number)
	}
	return err
}
