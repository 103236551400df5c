package devicetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
)

// Case is a back end to be tested. Copies of 1 MiB should take some milliseconds, so that they can be seen under way.
type Case struct {
	// Open opens a device of its own for a test.
	Open func(t testing.TB) cuda.Device
	// Left says what has not been given back since Open: "" is nothing. If the device was lost, its own memory is lost
	// with it.
	Left func(lost bool) string
	// Races says how many sources have changed since Open while they were copied.
	Races func() int64
	// Storm, if set, opens a device with random delays that fails somewhere. quiet promises that it does not.
	Storm func(t testing.TB, r *rand.Rand) (d cuda.Device, quiet bool)
	// Batches is how many the pipelines of the suite carry; 0 is 200.
	Batches int
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	for name, f := range map[string]func(*testing.T, cuda.Device){
		"what is copied in and out is the same":                      same,
		"a copy from page-locked memory goes on by itself":           asynchronous,
		"a copy from other memory has read it when the call is over": pageable,
		"streams wait for events of others":                          ordered,
		"events tell times in order":                                 timed,
		"a stream's number is the stream":                            numbered,
		"more memory than there is is refused, and nothing is lost":  scarce,
		"what is not the device's memory is refused":                 strange,
		"locking twice is refused, and memory can be locked again":   locking,
		"calls take effect on whatever thread":                       threads,
	} {
		t.Run(name, func(t *testing.T) {
			d := c.Open(t)
			f(t, d)
			require.NoError(t, d.Close())
			c.left(t, false)
		})
	}
	t.Run("a source that is used again early is spoiled, and late ones", c.early)
	t.Run("pipelines", c.pipelines)
	t.Run("batches with delays and faults are themselves, and leave nothing", c.storm)
}

// left demands that all was given back, and nothing used too early.
func (c Case) left(t *testing.T, lost bool) {
	t.Helper()
	require.Empty(t, c.Left(lost))
	require.Zero(t, c.Races(), "a source was used again before its copy had ended")
}

// kit is a stream, device memory and page-locked memory of one size.
type kit struct {
	d    cuda.Device
	s    cuda.Stream
	at   cuda.Ptr
	host []byte
}

func newKit(t *testing.T, d cuda.Device, n int) *kit {
	t.Helper()
	k := &kit{d: d}
	var err error
	k.s, err = d.NewStream(true)
	require.NoError(t, err)
	k.at, err = d.Alloc(n)
	require.NoError(t, err)
	k.host, err = d.Map(n)
	require.NoError(t, err)
	require.NoError(t, d.Lock(k.host))
	return k
}

func (k *kit) close(t *testing.T) {
	t.Helper()
	require.NoError(t, k.s.Close())
	require.NoError(t, k.d.Free(k.at))
	require.NoError(t, k.d.Unlock(k.host))
	require.NoError(t, k.d.Unmap(k.host))
}

func (k *kit) event(t *testing.T) cuda.Event {
	t.Helper()
	e, err := k.d.NewEvent()
	require.NoError(t, err)
	return e
}

// back reads the device's memory.
func (k *kit) back(t *testing.T, n int) []byte {
	t.Helper()
	buf := make([]byte, n)
	require.NoError(t, k.s.CopyOut(buf, k.at))
	require.NoError(t, k.s.Sync())
	return buf
}

func pattern(b []byte, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := 0; i+8 <= len(b); i += 8 {
		binary.NativeEndian.PutUint64(b[i:], r.Uint64())
	}
}

func same(t *testing.T, d cuda.Device) {
	const n = 1 << 16
	k := newKit(t, d, n)
	pattern(k.host, 1)
	require.NoError(t, k.s.CopyIn(k.at, k.host))
	require.NoError(t, k.s.Sync())
	require.True(t, bytes.Equal(k.host, k.back(t, n)))
	part := k.host[256:512]
	require.NoError(t, k.s.CopyIn(k.at+1024, part))
	got := k.back(t, n)
	require.True(t, bytes.Equal(part, got[1024:1280]))
	require.True(t, bytes.Equal(k.host[:1024], got[:1024]))
	k.close(t)
}

func asynchronous(t *testing.T, d cuda.Device) {
	const n = 4 << 20
	k := newKit(t, d, n)
	e := k.event(t)
	require.NoError(t, k.s.Spin(100*time.Millisecond)) // so that the copy cannot be over
	require.NoError(t, k.s.CopyIn(k.at, k.host))
	require.NoError(t, k.s.Record(e))
	done, err := e.Done()
	require.NoError(t, err)
	assert.False(t, done, "the call held the caller up")
	require.NoError(t, e.Sync())
	done, err = e.Done()
	require.NoError(t, err)
	assert.True(t, done)
	require.NoError(t, e.Close())
	k.close(t)
}

func pageable(t *testing.T, d cuda.Device) {
	const n = 1 << 18
	k := newKit(t, d, n)
	for i := range 5 {
		src := make([]byte, n)
		pattern(src, uint64(i))
		want := append([]byte(nil), src...)
		require.NoError(t, k.s.CopyIn(k.at, src))
		clear(src)
		require.True(t, bytes.Equal(want, k.back(t, n)))
	}
	k.close(t)
}

func ordered(t *testing.T, d cuda.Device) {
	const n = 1 << 20
	k := newKit(t, d, n)
	other, err := d.NewStream(false)
	require.NoError(t, err)
	e, never := k.event(t), k.event(t)
	require.NoError(t, other.Wait(never), "an event that was not recorded is over")
	out, err := d.Map(n)
	require.NoError(t, err)
	require.NoError(t, d.Lock(out))
	for i := range 5 {
		pattern(k.host, uint64(i))
		require.NoError(t, k.s.CopyIn(k.at, k.host))
		require.NoError(t, k.s.Record(e))
		require.NoError(t, other.Wait(e))
		require.NoError(t, other.CopyOut(out, k.at))
		require.NoError(t, other.Sync())
		require.True(t, bytes.Equal(k.host, out))
	}
	require.NoError(t, other.Close())
	require.NoError(t, e.Close())
	require.NoError(t, never.Close())
	require.NoError(t, d.Unlock(out))
	require.NoError(t, d.Unmap(out))
	k.close(t)
}

// numbered reaches a stream by its number, as other libraries do.
func numbered(t *testing.T, d cuda.Device) {
	k := newKit(t, d, 1<<16)
	e := k.event(t)
	require.NoError(t, k.s.Spin(5*time.Millisecond))
	other := d.Stream(k.s.Handle())
	require.Equal(t, k.s.Handle(), other.Handle())
	require.NoError(t, other.Record(e))
	done, err := e.Done()
	require.NoError(t, err)
	assert.False(t, done, "the work before it is not over")
	require.NoError(t, other.Close(), "it belongs to who made it")
	require.NoError(t, k.s.Sync())
	done, err = e.Done()
	require.NoError(t, err)
	assert.True(t, done)
	require.NoError(t, e.Close())
	k.close(t)
}

func timed(t *testing.T, d cuda.Device) {
	k := newKit(t, d, 1<<20)
	var events []cuda.Event
	for range 4 {
		e := k.event(t)
		events = append(events, e)
		require.NoError(t, k.s.Record(e))
		require.NoError(t, k.s.CopyIn(k.at, k.host))
		require.NoError(t, k.s.Spin(2*time.Millisecond))
	}
	require.NoError(t, k.s.Sync())
	for i := range events[1:] {
		took, err := events[i+1].Since(events[i])
		require.NoError(t, err)
		assert.GreaterOrEqual(t, took, 2*time.Millisecond-10*time.Microsecond)
	}
	all, err := events[3].Since(events[0])
	require.NoError(t, err)
	assert.GreaterOrEqual(t, all, 6*time.Millisecond-10*time.Microsecond)
	for _, e := range events {
		require.NoError(t, e.Close())
	}
	k.close(t)
}

func scarce(t *testing.T, d cuda.Device) {
	total := d.Info().Memory
	require.Positive(t, total)
	for range 3 {
		_, err := d.Alloc(int(total) + 1)
		require.ErrorIs(t, err, cuda.ErrOutOfMemory)
		var e *cuda.Error
		require.ErrorAs(t, err, &e)
		assert.False(t, e.Sticky())
		assert.NotEmpty(t, e.Op)
		assert.Contains(t, e.Name, "OUT_OF_MEMORY")
	}
	p, err := d.Alloc(1 << 16)
	require.NoError(t, err)
	require.NoError(t, d.Free(p))
}

func strange(t *testing.T, d cuda.Device) {
	k := newKit(t, d, 1<<16)
	require.Error(t, d.Free(k.at+8))
	require.NoError(t, k.s.CopyIn(k.at, k.host), "the device goes on")
	k.close(t)
}

func locking(t *testing.T, d cuda.Device) {
	b, err := d.Map(1 << 20)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, d.Lock(b))
		require.Error(t, d.Lock(b))
		require.NoError(t, d.Unlock(b))
		require.Error(t, d.Unlock(b))
	}
	require.NoError(t, d.Unmap(b))
}

// threads calls from many goroutines, which move between threads.
func threads(t *testing.T, d cuda.Device) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			s, err := d.NewStream(false)
			if !assert.NoError(t, err) {
				return
			}
			e, err := d.NewEvent()
			assert.NoError(t, err)
			for range 30 {
				runtime.Gosched()
				assert.NoError(t, s.Record(e))
				assert.NoError(t, e.Sync())
				done, err := e.Done()
				assert.True(t, done && err == nil, "%v", err)
			}
			assert.NoError(t, errors.Join(e.Close(), s.Close()))
		})
	}
	wg.Wait()
}

// early shows that the suite can see what it looks for: a source that changes while its copy is under way.
func (c Case) early(t *testing.T) {
	const n = 1 << 20
	d := c.Open(t)
	k := newKit(t, d, n)
	e := k.event(t)
	sent := func(wait bool, spin time.Duration) bool {
		pattern(k.host, 1)
		want := append([]byte(nil), k.host...)
		require.NoError(t, k.s.Spin(spin))
		require.NoError(t, k.s.CopyIn(k.at, k.host))
		require.NoError(t, k.s.Record(e))
		if wait {
			require.NoError(t, e.Sync())
		}
		clear(k.host)
		return bytes.Equal(want, k.back(t, n))
	}
	require.True(t, sent(true, 0))
	require.Zero(t, c.Races())
	if !raceEnabled { // the race detector finds the planted bug itself
		spin := time.Millisecond
		for sent(false, spin) { // this thread was held up for longer than that
			spin *= 4
			require.Less(t, spin, 10*time.Second, "a source that changed was not seen")
		}
		require.Positive(t, c.Races())
	}
	require.NoError(t, e.Close())
	k.close(t)
	require.NoError(t, d.Close())
	require.Empty(t, c.Left(false))
}
