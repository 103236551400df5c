package graph

import (
	"runtime"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph/internal/host"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Timeline is who worked when, in at most 128 buckets of equal length from Start on, the last one perhaps not over. It
// is kept in fixed memory: buckets are merged by twos as the run goes on. Times of a bucket are sums over workers, and
// over all buckets they add up to those of the snapshot.
type Timeline struct {
	Bucket time.Duration // length of a bucket
	Until  time.Duration // end of the last one
	Stages []StageLine   // as in [Snapshot].Stages, without those that were fused into another
	Waits  []WaitLine    // what the sink waited for; all of them add up to its wait in a bucket
	// Samples of the process, the largest of each bucket; 0 where none was taken.
	RSS, Goroutines, InFlight []int64
}

// StageLine is one stage over time.
type StageLine struct {
	ID                    string
	Workers               int
	WaitIn, Busy, WaitOut []time.Duration
	Queue                 []float64 // mean depth of its output queue; nil: it has none
}

// WaitLine is what the sink waited for because of one stage; "": none is at fault.
type WaitLine struct {
	Stage string
	Wait  []time.Duration
}

// KeepTimeline keeps what [Snapshot].Timeline shows. It costs under 100 KiB for a stage and next to no time: the clock is
// not read more often.
func KeepTimeline() PipelineOption {
	return func(p *Pipeline) { p.keepLines = keepLines }
}

// lines is what a run keeps for its timeline.
type lines struct {
	r       *Run
	mu      sync.Mutex
	samples *meter.Series // of the process, guarded by mu
}

// keepLines begins before the first worker does.
func keepLines(r *Run) {
	l := &lines{r: r, samples: meter.NewSeries(3, true)}
	for _, st := range r.stages {
		st.m.Record()
		if st.depth != nil {
			st.depth.Record()
		}
	}
	r.blamer.Record()
	r.eng.Sample = l.sample
	r.lines = l
}

// sampleEvery is the least time between two samples of the process.
const sampleEvery = 50 * time.Millisecond

// sample takes one and says when the next is due. It is called where the clock has been read anyway.
func (l *lines) sample(now int64) (next int64) {
	rss, _ := host.RSS()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, v := range [3]int64{rss, int64(runtime.NumGoroutine()), l.r.bytes.admit.Inside() + l.r.bytes.held.Load()} {
		l.samples.Raise(i, now, v)
	}
	return now + max(int64(sampleEvery), l.samples.Width())
}

func (l *lines) copySamples() *meter.Series {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.samples.Copy()
}

// read tells who worked when up to now. While the run goes on, workers count up to now in the state they are in.
func (l *lines) read(now int64, running bool) *Timeline {
	if now <= 0 {
		return nil
	}
	upTo := int64(0)
	if running {
		l.sample(now)
		upTo = now
	}
	stages := l.r.stages
	workers, queues := make([]*meter.Series, len(stages)), make([]*meter.Series, len(stages))
	for i, st := range stages {
		workers[i] = st.m.Series(upTo)
		if st.depth != nil {
			count := int64(st.behind().Queued)
			st.locked(func() { queues[i] = st.depth.Series(upTo, count) })
		}
	}
	waits, samples := l.r.blamer.Series(), l.copySamples()
	width := equalWidth(now, append(append([]*meter.Series{waits, samples}, workers...), queues...))
	t := &Timeline{Bucket: time.Duration(width), Until: time.Duration(now), RSS: samples.Line(0, now),
		Goroutines: samples.Line(1, now), InFlight: samples.Line(2, now)}
	for i, st := range stages {
		if st.group == nil {
			t.Stages = append(t.Stages, stageLine(st, workers[i], queues[i], now))
		}
		t.wait(st.n.id, waits.Line(i, now))
	}
	t.wait("", waits.Line(len(stages), now))
	return t
}

// equalWidth gives all series buckets of one length.
func equalWidth(now int64, all []*meter.Series) (width int64) {
	for range 2 {
		for _, s := range all {
			if s != nil {
				s.Widen(width, now)
				width = max(width, s.Width())
			}
		}
	}
	return width
}

func stageLine(st *stageRun, work, queue *meter.Series, now int64) StageLine {
	l := StageLine{ID: st.n.id, Workers: st.hands()}
	l.WaitIn, l.Busy, l.WaitOut = times(work.Line(int(meter.WaitIn), now)), times(work.Line(int(meter.Busy), now)), times(work.Line(int(meter.WaitOut), now))
	if queue != nil {
		for i, n := range queue.Line(0, now) {
			length := min(queue.Width(), now-int64(i)*queue.Width())
			l.Queue = append(l.Queue, float64(n)/float64(length))
		}
	}
	return l
}

func times(ns []int64) []time.Duration {
	out := make([]time.Duration, len(ns))
	for i, n := range ns {
		out[i] = time.Duration(n)
	}
	return out
}

// wait adds a line of waits, if the sink waited.
func (t *Timeline) wait(stage string, ns []int64) {
	for _, n := range ns {
		if n != 0 {
			t.Waits = append(t.Waits, WaitLine{stage, times(ns)})
			return
		}
	}
}
