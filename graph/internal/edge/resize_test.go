package edge

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

func filled(n int) (*Edge[int], *meter.Clock) {
	e := New(Config{Buffer: 64, Producers: 1, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
	e.Staff(2)
	clock := meter.StartClock(false)
	if n > 0 {
		e.Put(NewWaiter(), clock, &Part[int]{N: int64(n), Cells: make([]Cell[int], n)}, n, 0)
	}
	return e, clock
}

// The workers that are left may all wait behind what a surplus one gives back.
func TestASurplusWorkerTakesWhatItGaveBack(t *testing.T) {
	e, clock := filled(8)
	w := Taker[int]{W: NewWaiter(), No: 1}
	s := e.Take(&w, clock, 4, 0)
	require.Len(t, s.Cells, 4)
	e.Staff(1)
	e.GiveBack(1, 0, s.Cells[1:])
	for i := range int64(3) {
		s = e.Take(&w, clock, 4, 0)
		require.False(t, s.Off)
		require.Equal(t, 1+i, s.Lo)
	}
	s = e.Take(&w, clock, 4, 0)
	require.True(t, s.Off, "the ring is for the others")
	s = e.Take(&Taker[int]{W: NewWaiter()}, clock, 4, 0)
	assert.Equal(t, int64(4), s.Lo)
}

// The last worker that is idle keeps the time, also when the others stand by.
func TestWhoIsLeftAloneSaysThatItStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, clock := filled(1)
		busy := Taker[int]{W: NewWaiter(), No: 1}
		e.Take(&busy, clock, 1, 0)
		go e.Take(&Taker[int]{W: NewWaiter()}, clock, 1, 0)
		synctest.Wait()
		e.Staff(1)
		time.Sleep(time.Millisecond)
		assert.False(t, e.Starving(), "one is still at work")
		go func() {
			if s := e.Take(&busy, clock, 1, 0); assert.True(t, s.Off) {
				e.StandBy(&busy)
			}
		}()
		time.Sleep(time.Millisecond)
		assert.True(t, e.Starving())
		e.Abort()
		synctest.Wait()
		assert.False(t, e.Starving())
	})
}

func TestWhoStandsByComesBackOrLeavesAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, clock := filled(0)
		var took []int64
		back := 0
		e.Staff(1)
		go func() {
			w := Taker[int]{W: NewWaiter(), No: 1}
			for {
				s := e.Take(&w, clock, 1, 0)
				switch {
				case s.Off:
					e.StandBy(&w)
					back++
				case !s.OK:
					return
				default:
					took = append(took, s.Lo)
				}
			}
		}()
		put := func(lo int64) {
			e.Put(NewWaiter(), clock, &Part[int]{Lo: lo, N: 1, Cells: make([]Cell[int], 1)}, 1, 0)
			synctest.Wait()
		}
		put(0)
		assert.Empty(t, took)
		e.Staff(2)
		put(1)
		assert.Equal(t, []int64{0, 1}, took)
		e.Staff(1)
		synctest.Wait()
		e.Close(nil)
		synctest.Wait()
		assert.Equal(t, 2, back)
	})
}

func TestRoomThatGrowsLetsWaitingWorkersIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			lo   int64
			grow func(*Edge[int])
		}{
			"buffer":  {0, func(e *Edge[int]) { e.Deepen(64, 0) }},
			"window":  {20, func(e *Edge[int]) { e.Deepen(0, 64) }},
			"workers": {20, func(e *Edge[int]) { e.Crew(59) }},
		} {
			e := New(Config{Producers: 1, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
			done := false
			go func() {
				r := e.Put(NewWaiter(), meter.StartClock(false), &Part[int]{Lo: c.lo, N: 30, Cells: make([]Cell[int], 30)}, 1, 0)
				done = r.OK
			}()
			synctest.Wait()
			require.False(t, done, name)
			was := e.Stats()
			c.grow(e)
			synctest.Wait()
			require.True(t, done, name)
			assert.NotEqual(t, was.Buffer+was.Window, e.Stats().Buffer+e.Stats().Window)
			e.Abort()
		}
	})
}
