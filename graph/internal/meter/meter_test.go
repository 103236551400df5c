package meter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercentilesAreExactOrALittleHigh(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, draw := range []func() int64{
		func() int64 { return 5_000_000 },
		func() int64 { return r.Int64N(16) },
		func() int64 { return r.Int64N(1_000_000) },
		func() int64 { return 1 << r.IntN(50) },
	} {
		var h Histogram
		var all []int64
		var sum int64
		for range 2000 {
			v := draw()
			h.Add(v, 1)
			all, sum = append(all, v), sum+v
		}
		slices.Sort(all)
		s := h.Read()
		require.Equal(t, Summary{Count: 2000, Sum: sum, P50: s.P50, P95: s.P95, P99: s.P99, Max: all[1999], Buckets: s.Buckets}, s)
		require.Equal(t, int64(2000), inBuckets(s))
		for _, p := range []struct {
			got  int64
			rank int
		}{{s.P50, 1000}, {s.P95, 1900}, {s.P99, 1980}} {
			want := all[p.rank-1]
			require.GreaterOrEqual(t, p.got, want)
			require.LessOrEqual(t, float64(p.got), 1.0625*float64(want)+1)
		}
	}
}

// inBuckets counts what the buckets hold; they are in order.
func inBuckets(s Summary) (n int64) {
	last := int64(-1)
	for _, b := range s.Buckets {
		if b.Upto <= last || b.Count < 1 {
			return -1
		}
		last, n = b.Upto, n+b.Count
	}
	return n
}

func TestHistogramOfNothingAndOfMany(t *testing.T) {
	var h Histogram
	require.Zero(t, h.Read())
	h.Add(7, 0)
	h.Add(-3, 1)
	h.Add(1<<62, 99)
	s := h.Read()
	require.Equal(t, int64(100), s.Count)
	require.Equal(t, int64(1<<62), s.P50)
	require.Equal(t, int64(1<<62), s.Max)
}

func TestSlowestKeepsTheSlowest(t *testing.T) {
	var s Slowest
	var all []int64
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 500 {
		v := r.Int64N(1000)
		all = append(all, v)
		if s.Beats(v) {
			s.Add(fmt.Sprint(i), v)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	var got []int64
	for _, x := range s.Read() {
		got = append(got, x.Time)
	}
	require.Equal(t, all[:slowest], got)
}

func TestStatesAddUpToTheLifetime(t *testing.T) {
	st := &Stage{ID: "s"}
	w := st.NewWorker(100)
	require.Equal(t, int64(50), w.Spent(Busy, 150))
	require.Equal(t, int64(0), w.Spent(Busy, 150))
	w.Spent(WaitIn, 175)
	w.Spent(WaitOut, 180)
	w.Spent(Busy, 181)
	require.Equal(t, Times{WaitIn: 25, Busy: 51, WaitOut: 5, Lifetime: 81}, st.Times())
}

func TestClockStartsAtNought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := StartClock(false)
		require.Zero(t, c.Now())
		time.Sleep(time.Second)
		require.Equal(t, int64(time.Second), c.Now())
		require.Zero(t, StartClock(true).Now())
	})
}

// line is a chain of stages with one trail each, given as took, done, released.
func line(fresh bool, steps ...[3]int64) (*Blamer, []*Stage, *Trail) {
	var stages []*Stage
	var t *Trail
	for i, s := range steps {
		st := &Stage{ID: fmt.Sprint(i), No: i}
		stages = append(stages, st)
		t = &Trail{Stage: st, Took: s[0], Done: s[1], Released: s[2], Prev: t, Fresh: fresh}
	}
	sink := &Stage{ID: "sink", No: len(stages)}
	stages = append(stages, sink)
	return NewBlamer(stages, sink), stages, t
}

func shares(b *Blamer) map[string]int64 {
	m := map[string]int64{}
	for _, s := range b.Read() {
		id := "-"
		if s.Stage != nil {
			id = s.Stage.ID
		}
		m[fmt.Sprint(id, "/", s.Cause, "/", s.When)] += s.Time
	}
	return m
}

func TestBlameGoesBackAlongTheTrail(t *testing.T) {
	b, _, trail := line(false, [3]int64{0, 10, 10}, [3]int64{12, 20, 25})
	b.Waited(trail, 5, 25, InSteady)
	require.Equal(t, map[string]int64{
		"0/0/1":    5, // service of the first
		"1/1/1":    2, // in the queue before the second
		"1/0/1":    8, // service of the second
		"sink/1/1": 5, // waiting for room before the sink
	}, shares(b))
}

func TestLatencyThatAllShareIsSteppedOver(t *testing.T) {
	b, stages, first := line(true, [3]int64{0, 10, 10}, [3]int64{10, 14, 14})
	b.Waited(first, 0, 14, InStartup)
	second := &Trail{Stage: stages[1], Took: 20, Done: 24, Released: 24, Fresh: true,
		Prev: &Trail{Stage: stages[0], Took: 10, Done: 20, Released: 20}}
	b.Waited(second, 14, 24, InSteady)
	require.Equal(t, map[string]int64{"0/0/0": 10, "1/0/0": 4, "0/0/1": 10}, shares(b))
}

func TestWindowAndSlabsAreCauses(t *testing.T) {
	b, stages, trail := line(false, [3]int64{100, 200, 200})
	trail.Stuck = 140
	trail.More = &More{SlabFrom: 70, SlabTo: 90, Holder: stages[1]}
	b.Waited(trail, 70, 200, InSteady)
	require.Equal(t, map[string]int64{"0/2/1": 60, "0/0/1": 40, "0/1/1": 10, "sink/3/1": 20}, shares(b))
}

func TestWhatNobodyDidIsUnattributed(t *testing.T) {
	b, _, trail := line(false, [3]int64{50, 60, 60})
	b.Waited(trail, 0, 60, InSteady)
	b.Waited(nil, 0, 7, InStartup)
	b.Ended(60, 65, AtEdge)
	require.Equal(t, map[string]int64{"0/0/1": 10, "-/7/1": 50, "-/5/0": 7, "-/6/2": 5}, shares(b))
}

func TestASeriesKeepsItsSumsWhenItIsFolded(t *testing.T) {
	s := NewSeries(2, false)
	require.Equal(t, int64(2*firstWidth), s.Spread(1, firstWidth/2, firstWidth*3/2, 3), "where the bucket of the end ends")
	require.Equal(t, []int64{firstWidth * 3 / 2, firstWidth * 3 / 2}, s.Line(1, 2*firstWidth))
	s.Add(0, 1000*firstWidth, 7) // folds three times
	require.Equal(t, int64(8*firstWidth), s.Width())
	require.Equal(t, []int64{3 * firstWidth}, s.Line(1, firstWidth))
	require.Equal(t, int64(7), s.Line(0, 1001*firstWidth)[125])
	c := s.Copy()
	c.Widen(firstWidth, 1e6*firstWidth)
	require.Equal(t, int64(7), c.Line(0, 1001*firstWidth)[0])
	require.Equal(t, int64(8*firstWidth), s.Width(), "a copy is folded alone")

	most := NewSeries(1, true)
	most.Raise(0, 0, 5)
	most.Raise(0, firstWidth, 3)
	most.Raise(0, 200*firstWidth, 1)
	require.Equal(t, []int64{5, 0}, most.Line(0, 4*firstWidth))
	require.Equal(t, int64(1), most.Line(0, 202*firstWidth)[100])
}

func TestAWorkersTimeIsSplitAtTheEdgesOfBuckets(t *testing.T) {
	st := &Stage{}
	st.Record()
	w := st.NewWorker(0)
	w.Spent(WaitIn, firstWidth/4)
	w.Spent(Busy, firstWidth*5/4)
	w.Spent(Busy, firstWidth*3/2)
	got := st.Series(0)
	require.Equal(t, []int64{firstWidth / 4, 0}, got.Line(int(WaitIn), 2*firstWidth))
	require.Equal(t, []int64{firstWidth * 3 / 4, firstWidth / 2}, got.Line(int(Busy), 2*firstWidth))
	w.Doing(WaitOut)
	require.Equal(t, []int64{0, firstWidth / 2, firstWidth}, st.Series(3*firstWidth).Line(int(WaitOut), 3*firstWidth))
	require.Equal(t, []int64{0, 0, 0}, st.Series(0).Line(int(WaitOut), 3*firstWidth))

	var d Depth
	d.Record()
	d.Account(firstWidth, 0)
	d.Account(3*firstWidth, 2)
	require.Equal(t, []int64{0, 2 * firstWidth, 2 * firstWidth, 5 * firstWidth}, d.Series(4*firstWidth, 5).Line(0, 4*firstWidth))
	require.Equal(t, int64(4*firstWidth), d.Items)
}
