package tune

import (
	"time"

	"github.com/penstock-go/penstock/graph"
)

// First is the first pass over some data in a fresh run: opening, memory that is touched for the first time, caches that
// hold nothing yet. The zero value is one that was not measured.
type First struct {
	Rate    float64 // samples a second at the sink; of a part, what it made turned into those
	Items   float64 // items a second that the run's sink took
	Seconds float64 // from the start of the run
	Open    float64 // of them, in which stages were opened
}

// FirstOf is all of a run until a snapshot.
func FirstOf(s graph.Snapshot) (f First) {
	if f.Seconds = s.Totals.Elapsed.Seconds(); f.Seconds <= 0 || taken(s) == 0 {
		return First{}
	}
	f.Rate, f.Items = float64(s.Totals.Samples)/f.Seconds, float64(taken(s))/f.Seconds
	for _, st := range s.Stages {
		f.Open += st.Open.Seconds()
	}
	return f
}

// FirstEpoch is the first epoch of a run, and the rate of the later ones that are over; zeros where there are none.
func FirstEpoch(s graph.Snapshot) (f First, later float64) {
	if len(s.Epochs) < 2 {
		return f, 0
	}
	first := s.Epochs[0]
	if f.Seconds = (s.Sink.Startup + first.Elapsed).Seconds(); f.Seconds > 0 {
		f.Rate = float64(first.Samples) / f.Seconds
	}
	samples, took := int64(0), time.Duration(0)
	for _, e := range s.Epochs[1 : len(s.Epochs)-1] { // the last one goes on
		samples, took = samples+e.Samples, took+e.Elapsed
	}
	if took > 0 {
		later = float64(samples) / took.Seconds()
	}
	return f, later
}

// A first pass is worth a word where it is so much slower, and takes so much longer, in seconds.
const (
	muchSlower = 1.3
	muchLonger = 0.02
)

// once is how many times as long the first pass takes, and by how many seconds it is longer; ok is false where that is
// little, or not known.
func (f First) once(warm float64) (times, seconds float64, ok bool) {
	if f.Rate <= 0 || warm <= 0 {
		return 0, 0, false
	}
	times, seconds = warm/f.Rate, f.Seconds*(1-f.Rate/warm)
	return times, seconds, times >= muchSlower && seconds >= muchLonger
}

// passes says where the first pass is much slower, and what that means.
func (c Ceilings) passes(say func(string, ...any)) {
	if times, longer, ok := c.WholeFirst.once(c.Steady()); ok {
		say("the first epoch of the whole takes %.1f times as long as later ones (%s longer): judge it by the later ones", times, seconds(longer))
	}
	for i, f := range c.AloneFirst {
		if i >= len(c.Alone) || i >= len(c.Profile.Stages) {
			break
		}
		times, longer, ok := f.once(c.Alone[i])
		if !ok {
			continue
		}
		s := &c.Profile.Stages[i]
		switch what := "first-epoch effect: memory that is touched for the first time, or what it fills once"; {
		case s.Missed > 0 || c.Caches[s.ID]:
			say("%s gives items %.1f times as quickly once it has them", s.ID, times)
		case f.Open > longer/2:
			say("%s is %.1f times slower in its first pass (%s longer): it is opened for %s, once a run", s.ID, times, seconds(longer), seconds(f.Open))
		default:
			say("%s is %.1f times slower in its first pass (%s longer): %s", s.ID, times, seconds(longer), what)
		}
	}
}

func seconds(x float64) string {
	return time.Duration(x * float64(time.Second)).Round(time.Millisecond).String()
}

// Steady is the rate of the whole after its first epoch, or without its warm-up where that was not over.
func (c Ceilings) Steady() float64 {
	if c.Later > 0 {
		return c.Later
	}
	return c.Whole.Rate
}
