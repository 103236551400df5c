package edge

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

type fixture struct {
	e       *Edge[int]
	clock   *meter.Clock
	dropped []int
	taker   *Taker[int]
}

func newFixture(cfg Config) *fixture {
	f := &fixture{clock: meter.StartClock(false)}
	f.e = New(cfg, func(c *Cell[int]) { f.dropped = append(f.dropped, c.V) })
	f.taker = &Taker[int]{W: NewWaiter()}
	return f
}

func (f *fixture) put(lo, n int64, err error, vs ...int) Put {
	p := &Part[int]{Lo: lo, N: n, Err: err}
	for _, v := range vs {
		p.Cells = append(p.Cells, Cell[int]{V: v})
	}
	return f.e.Put(NewWaiter(), f.clock, p, 1, f.clock.Now())
}

func (f *fixture) take(k int) (vs []int, ok bool) {
	s := f.e.Take(f.taker, f.clock, k, f.clock.Now())
	for _, c := range s.Cells {
		vs = append(vs, c.V)
	}
	return vs, s.OK
}

func (f *fixture) all() (vs []int) {
	for {
		got, ok := f.take(3)
		if !ok {
			return vs
		}
		vs = append(vs, got...)
	}
}

var errEnd = errors.New("end")

func TestPartsComeOutInTheOrderOfTheirOrdinals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 64, Window: 16, Producers: 4, Consumers: 1, Ordered: true})
		require.True(t, f.put(3, 2, nil, 30, 40).OK)
		require.True(t, f.put(1, 1, nil).OK, "a hole")
		require.True(t, f.put(5, 1, nil, 50, 51, 52).OK, "a flat-map")
		require.True(t, f.put(0, 1, nil, 0).OK)
		vs, _ := f.take(9)
		require.Equal(t, []int{0}, vs, "2 is missing")
		require.True(t, f.put(2, 1, nil, 20).OK)
		f.e.Close(nil)
		require.Equal(t, []int{20, 30, 40, 50, 51, 52}, f.all())
		require.NoError(t, f.e.Err())
		s := f.e.Stats()
		require.Equal(t, s.In, s.Out)
		require.Zero(t, s.Left)
	})
}

func TestErrorEndsTheEdgeAtItsOrdinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 64, Window: 16, Producers: 4, Consumers: 1, Ordered: true})
		require.True(t, f.put(2, 1, errEnd).OK)
		require.True(t, f.put(3, 1, nil, 30).OK)
		require.True(t, f.put(1, 1, nil, 10).OK)
		require.True(t, f.put(0, 1, nil, 0).OK)
		require.False(t, f.put(4, 1, nil, 40).OK)
		require.Equal(t, []int{0, 10}, f.all())
		require.Equal(t, errEnd, f.e.Err())
		require.Equal(t, []int{30, 40}, f.dropped)
	})
}

func TestWindowHoldsBackAllButTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 4, Window: 2, Producers: 3, Consumers: 1, Ordered: true})
		var late Put
		done := make(chan struct{})
		go func() { late = f.put(2, 1, nil, 20); close(done) }()
		synctest.Wait()
		require.True(t, f.put(1, 1, nil, 10).OK, "within the window")
		time.Sleep(time.Second)
		require.True(t, f.put(0, 1, nil, 0).OK, "the oldest never waits for the window")
		<-done
		require.True(t, late.OK && late.Waited && late.Window)
		f.e.Close(nil)
		require.Equal(t, []int{0, 10, 20}, f.all())
	})
}

func TestFullRingHoldsTheProducerBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 2, Producers: 1, Consumers: 1, Ordered: true})
		done := make(chan Put, 1)
		go func() { done <- f.put(0, 1, nil, 1, 2, 3, 4, 5) }()
		var got []int
		for range 5 {
			synctest.Wait()
			require.LessOrEqual(t, f.e.count, 2)
			vs, _ := f.take(1)
			got = append(got, vs...)
		}
		require.Equal(t, []int{1, 2, 3, 4, 5}, got)
		require.True(t, (<-done).Waited)
	})
}

func TestWithoutOrderEpochsStillHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 16, Producers: 3, Consumers: 1})
		next := &Part[int]{Lo: 2, N: 1, EpochLo: 2, Cells: []Cell[int]{{V: 100, Tag: Tag{Epoch: 1}}}}
		go f.e.Put(NewWaiter(), f.clock, next, 1, 0)
		synctest.Wait()
		require.True(t, f.put(1, 1, nil, 1).OK)
		require.True(t, f.put(0, 1, nil, 0).OK)
		synctest.Wait()
		f.e.Close(nil)
		require.Equal(t, []int{1, 0, 100}, f.all())
	})
}

func TestASliceIsOfOneEpoch(t *testing.T) {
	f := newFixture(Config{Buffer: 16, Producers: 1, Consumers: 1, Ordered: true})
	p := &Part[int]{N: 4}
	for i, e := range []int32{0, 0, 1, 3} {
		p.Cells = append(p.Cells, Cell[int]{V: i, Tag: Tag{Epoch: e}})
	}
	f.e.Put(NewWaiter(), f.clock, p, 4, 0)
	f.e.Close(nil)
	for _, want := range [][]int{{0, 1}, {2}, {3}} {
		vs, _ := f.take(9)
		require.Equal(t, want, vs)
	}
}

func TestWhatIsGivenBackComesFirstAndLowestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 16, Producers: 1, Consumers: 3, Ordered: true})
		f.put(0, 8, nil, 0, 1, 2, 3, 4, 5, 6, 7)
		a, b := &Taker[int]{W: NewWaiter()}, &Taker[int]{W: NewWaiter()}
		x := f.e.Take(a, f.clock, 3, 0)
		y := f.e.Take(b, f.clock, 3, 0)
		f.e.GiveBack(y.Lo+1, y.EpochLo, y.Cells[1:])
		f.e.GiveBack(x.Lo+1, x.EpochLo, x.Cells[1:])
		f.e.Close(nil)
		f.e.Leave(a)
		f.e.Leave(b)
		require.Equal(t, []int{1, 2, 4, 5, 6, 7}, f.all())
	})
}

func TestTheEndWaitsForWhoMayGiveBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 16, Producers: 1, Consumers: 2, Ordered: true})
		f.put(0, 2, nil, 0, 1)
		a := &Taker[int]{W: NewWaiter()}
		s := f.e.Take(a, f.clock, 2, 0)
		f.e.Close(errEnd)
		got := make(chan []int)
		go func() { got <- f.all() }()
		synctest.Wait()
		f.e.GiveBack(1, 0, s.Cells[1:])
		f.e.Leave(a)
		require.Equal(t, []int{1}, <-got)
	})
}

func TestCutAndAbortDropWhatIsInside(t *testing.T) {
	f := newFixture(Config{Buffer: 16, Window: 16, Producers: 2, Consumers: 1, Ordered: true})
	up := 0
	f.e.Upstream(func() { up++ })
	f.put(0, 2, nil, 0, 1)
	f.put(3, 1, nil, 30)
	f.e.Cut()
	require.Equal(t, 1, up)
	require.Equal(t, []int{0, 1, 30}, f.dropped)
	require.False(t, f.put(2, 1, nil, 20).OK)
	_, ok := f.take(1)
	require.False(t, ok)
	f.e.Abort()
	f.e.Abort()
	require.Equal(t, []int{0, 1, 30, 20}, f.dropped)
	require.Equal(t, int64(3), f.e.Stats().Left)
}

func TestIdleConsumersRaiseTheFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 16, Producers: 1, Consumers: 1, Ordered: true})
		go f.take(1)
		time.Sleep(starve - time.Microsecond)
		require.False(t, f.e.Starving())
		time.Sleep(2 * time.Microsecond)
		require.True(t, f.e.Starving())
		f.put(0, 1, nil, 1)
		synctest.Wait()
		require.False(t, f.e.Starving())
	})
}

func TestDepthIsWeightedByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(Config{Buffer: 16, Producers: 1, Consumers: 1, Ordered: true})
		time.Sleep(time.Second)
		f.put(0, 2, nil, 1, 2)
		time.Sleep(3 * time.Second)
		f.take(1)
		time.Sleep(time.Second)
		f.take(1)
		s := f.e.Stats()
		require.Equal(t, int64(7*time.Second), s.ItemTime)
		require.Equal(t, int64(4*time.Second), s.FullTime)
		require.Equal(t, int64(5*time.Second), s.Seen)
	})
}

// A put tells of a consumer that it woke, if that one is to run first, and only once.
func TestAPutTellsWhetherItWokeAPromptConsumer(t *testing.T) {
	for _, prompt := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := New(Config{Producers: 1, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
			if prompt {
				e.Prompt()
			}
			clock := meter.StartClock(false)
			put := func(lo int64) Put {
				return e.Put(NewWaiter(), clock, &Part[int]{Lo: lo, N: 1, Cells: make([]Cell[int], 1)}, 1, 0)
			}
			require.False(t, put(0).Woke, "nobody waits")
			taker := Taker[int]{W: NewWaiter()}
			require.Len(t, e.Take(&taker, clock, 1, 0).Cells, 1)
			got := make(chan int)
			go func() { got <- len(e.Take(&taker, clock, 1, 0).Cells) }()
			synctest.Wait()
			require.Equal(t, prompt, put(1).Woke)
			require.Equal(t, 1, <-got)
			require.False(t, put(2).Woke, "it is awake")
		})
	}
}
