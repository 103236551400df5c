package report

import "fmt"

// launches says what the sink's host thread did for its steps, and how long it was kept from it: nothing without any.
func (j *judge) launches() string {
	l := j.s.Sink.Launches
	if l == nil || l.Late.Count == 0 {
		return ""
	}
	text := fmt.Sprintf("Launches of %s: %s needed %s of a core", name(j.sink()), count(l.Late.Count), duration(l.Busy))
	if l.Late.Max == 0 {
		return wrap(text+", and none was late.", "", "  ", width)
	}
	return wrap(text+fmt.Sprintf("; for want of one they were late by %s on average, %s at p95, %s at most.", duration(l.Late.Mean),
		duration(l.Late.P95), duration(l.Late.Max)), "", "  ", width)
}
