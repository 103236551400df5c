package edge

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Memory must not grow with the workers: beyond some hundred they share what there is.
func TestAnAutoBufferAndWindowAreBoundedForManyWorkers(t *testing.T) {
	for _, c := range []struct{ workers, slice, buffer, window int }{
		{1, 1, 4, 4},
		{2, 256, 1024, 2048},
		{16, 64, 256, 4096},
		{256, 1, 512, 1024},
		{512, 1, 512, 2048},
		{513, 1, 512, 1539},
		{1024, 1, 512, 2048},
		{1024, 16, 512, 32768},
		{4096, 1, 512, 4096},
	} {
		t.Run(fmt.Sprintf("%d workers, slices of %d", c.workers, c.slice), func(t *testing.T) {
			e := New(Config{Producers: c.workers, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
			e.kp = c.slice
			assert.Equal(t, max(4*c.slice, min(2*c.workers, 512)/8), e.room(), "at first")
			assert.Equal(t, c.workers*c.slice, e.reach(), "at first")
			e.base = 1
			for range 64 {
				e.buffer.hit, e.window.hit = true, true
				e.lack()
			}
			assert.Equal(t, c.buffer, e.room())
			assert.Equal(t, c.window, e.reach())
			assert.Equal(t, []int{e.most(), e.farthest()}, []int{e.room(), e.reach()})
		})
	}
}

func TestABufferAndAWindowThatAreSetAreNotBounded(t *testing.T) {
	e := New(Config{Producers: 4096, Consumers: 1, Ordered: true, Buffer: 10_000, Window: 20_000}, func(*Cell[int]) {})
	assert.Equal(t, 10_000, e.room())
	assert.Equal(t, 20_000, e.reach())
	e = New(Config{Producers: 4096, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
	e.Deepen(10_000, 20_000)
	assert.Equal(t, 10_000, e.room())
	assert.Equal(t, 20_000, e.reach())
}

// The rule of tf.data's prefetch: who is served needs no more ahead, and who lacks something while nobody is held up would
// not have it sooner.
func TestAnAutoBufferDoublesOnceItWasFullAndThenRanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Producers: 16, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
		clock := meter.StartClock(false)
		lo := int64(0)
		put := func(n int) {
			go e.Put(NewWaiter(), clock, &Part[int]{Lo: lo, N: int64(n), Cells: make([]Cell[int], n)}, 1, 0)
			lo += int64(n)
			synctest.Wait()
		}
		w := Taker[int]{W: NewWaiter()}
		runOut := func() {
			for e.Stats().Queued > 0 {
				e.Take(&w, clock, 64, 0)
				synctest.Wait()
			}
			e.WithLock(func() { e.lack() })
		}
		e.WithLock(func() { e.lack() })
		assert.Equal(t, 4, e.room(), "it has had nothing yet")
		put(4)
		runOut()
		assert.Equal(t, 4, e.room(), "all that there was had room")
		for _, room := range []int{4, 8, 16, 32, 32} {
			require.Equal(t, room, e.room())
			put(room + 1)
			runOut()
		}
	})
}

func TestAnAutoWindowDoublesOnceItHeldAProducerUpAndTheConsumerLackedSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Producers: 4, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
		clock := meter.StartClock(false)
		var done []int64
		put := func(lo int64) {
			e.Put(NewWaiter(), clock, &Part[int]{Lo: lo, N: 1, Cells: make([]Cell[int], 1)}, 1, 0)
			e.WithLock(func() { done = append(done, lo) })
		}
		put(0)
		go func() {
			w := Taker[int]{W: NewWaiter()}
			for e.Take(&w, clock, 1, 0).OK {
			}
		}()
		synctest.Wait()
		for lo := int64(2); lo < 20; lo++ { // 1 is late
			go put(lo)
			synctest.Wait()
		}
		assert.Equal(t, []int64{0, 2, 3, 4}, done, "the consumer waits since before anyone was held up")
		put(1)
		synctest.Wait()
		assert.Len(t, done, 20)
		assert.Equal(t, 8, e.reach())
		e.Abort()
		synctest.Wait()
	})
}
