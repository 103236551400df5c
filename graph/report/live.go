package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// LiveLine is the state of a run in one line of at most 100 columns: samples a second since the start, the sink's wait
// ratio, the stage it waits for most, the epoch, and the time that is left when the number of samples is known.
func LiveLine(s graph.Snapshot) string {
	return live(clean(s), s.Totals.Samples, s.Totals.Elapsed)
}

// LiveSince is [LiveLine] with the rate since an earlier snapshot of the same run, so that a stop shows at once.
func LiveSince(before, s graph.Snapshot) string {
	s = clean(s)
	return live(s, s.Totals.Samples-before.Totals.Samples, s.Totals.Elapsed-before.Totals.Elapsed)
}

func live(s graph.Snapshot, samples int64, elapsed time.Duration) string {
	j := newJudge(s)
	parts := []string{none + " samples/s"}
	if r := ratio(float64(samples), elapsed.Seconds()); r != nil {
		parts[0] = rate(*r) + " samples/s"
	}
	if r := s.Sink.WaitRatio; r != nil {
		parts = append(parts, "waits "+percent(*r))
	}
	if slow := j.slowestNow(); slow != "" {
		parts = append(parts, "slowest "+clip(plain(slow), 30))
	}
	now := max(1, s.Totals.Epochs)
	epoch := "epoch " + count(now)
	if n := s.Expected.Epochs; n != nil {
		epoch = fmt.Sprintf("epoch %s/%s", count(now), count(*n))
	}
	parts = append(parts, epoch)
	if left := timeLeft(&s); left != "" {
		parts = append(parts, left+" left")
	}
	return strings.Join(parts, ", ")
}

// slowestNow is the bottleneck, or else the stage before the sink that can do the least.
func (j *judge) slowestNow() string {
	if j.v.Bottleneck != "" {
		return j.v.Bottleneck
	}
	if at := j.m.slowest(j.m.sink); at >= 0 {
		return j.m.all[at].stage.ID
	}
	return ""
}

// timeLeft goes by the rate of the whole run, which jumps less than that of the last moment.
func timeLeft(s *graph.Snapshot) string {
	n := s.Expected.Samples
	if n == nil || !s.Running {
		return ""
	}
	left := ratio(float64(max(0, *n-s.Totals.Samples))*s.Totals.Elapsed.Seconds(), float64(s.Totals.Samples))
	if left == nil {
		return ""
	}
	return seconds(*left)
}
