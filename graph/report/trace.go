package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// Trace writes what a run's workers did as a trace in the JSON form of Chrome, which Perfetto reads as well. Each stage is
// a process with a track for each worker and a counter of its queue. The waits of the sink have a track of their own, and
// an arrow from the work that made the awaited item late.
func Trace(w io.Writer, t graph.Trace) error {
	x := &tracer{w: bufio.NewWriter(w)}
	x.raw(`{"displayTimeUnit":"ms","otherData":{"pipeline":%s,"cut_seconds":%s},"traceEvents":[`, quote(t.Pipeline), cutText(t.Cut))
	for i := range t.Stages {
		x.stage(i+1, &t.Stages[i])
	}
	if n := len(t.Stages); n > 0 {
		x.waits(n, &t)
	}
	x.raw("\n]}\n")
	if x.err != nil {
		return x.err
	}
	return x.w.Flush()
}

func cutText(d time.Duration) string {
	if d == 0 {
		return "null"
	}
	return fmt.Sprint(d.Seconds())
}

type tracer struct {
	w    *bufio.Writer
	more bool
	err  error
}

func (x *tracer) raw(format string, args ...any) {
	if _, err := fmt.Fprintf(x.w, format, args...); err != nil && x.err == nil {
		x.err = err
	}
}

// event writes one event: the common part and the rest, without braces.
func (x *tracer) event(phase string, pid, tid int, at time.Duration, format string, args ...any) {
	if x.more {
		x.raw(",")
	}
	x.more = true
	x.raw("\n{\"ph\":%q,\"pid\":%d,\"tid\":%d,\"ts\":%s,", phase, pid, tid, micros(at))
	x.raw(format+"}", args...)
}

// micros is a time in microseconds, exact to the nanosecond.
func micros(d time.Duration) string { return fmt.Sprintf("%d.%03d", d/1000, d%1000) }

func quote(s string) string {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	return string(b)
}

// said is what a track calls a state.
var said = [...]struct{ state, words string }{
	{graph.StateWaitIn, "waits for input"}, {graph.StateBusy, "busy"}, {graph.StateWaitOut, "waits for room"},
}

func wordsOf(state string) string {
	for _, s := range said {
		if s.state == state {
			return s.words
		}
	}
	return state
}

func (x *tracer) name(what string, pid, tid int, name string) {
	x.event("M", pid, tid, 0, `"name":%q,"args":{"name":%s}`, what, quote(name))
}

func (x *tracer) stage(pid int, s *graph.TraceStage) {
	if len(s.Workers) == 0 && len(s.Queue) == 0 {
		return
	}
	x.name("process_name", pid, 0, s.ID+" ("+s.Kind+")")
	x.event("M", pid, 0, 0, `"name":"process_sort_index","args":{"sort_index":%d}`, pid)
	for i, spans := range s.Workers {
		x.name("thread_name", pid, i+1, fmt.Sprintf("worker %d", i))
		for _, p := range spans {
			args := ""
			if p.State != graph.StateWaitIn {
				args = fmt.Sprintf(`,"args":{"epoch":%d,"place":%d}`, p.Epoch, p.Place)
			}
			x.event("X", pid, i+1, p.From, `"dur":%s,"cat":"stage","name":%q%s`, micros(p.To-p.From), wordsOf(p.State), args)
		}
	}
	for i, d := range s.Queue {
		if i == 0 || s.Queue[i-1].Items != d.Items {
			x.event("C", pid, 0, d.From, `"name":"queue","args":{"items":%d}`, d.Items)
		}
	}
	if n := len(s.Queue); n > 0 {
		x.event("C", pid, 0, s.Queue[n-1].To, `"name":"queue","args":{"items":0}`)
	}
}

// waits writes the sink's waits and, for each that a stage is to blame for, an arrow from that stage's work.
func (x *tracer) waits(pid int, t *graph.Trace) {
	tid := len(t.Stages[pid-1].Workers) + 1
	if len(t.Waits) > 0 {
		x.name("thread_name", pid, tid, "waits, by what is blamed")
	}
	ends := endings(t)
	for i, w := range t.Waits {
		name := "waits"
		if w.Stage != "" {
			name += " for " + w.Stage
		}
		x.event("X", pid, tid, w.From, `"dur":%s,"cat":"wait","name":%s,"args":{"stage":%s}`, micros(w.To-w.From), quote(name), quote(w.Stage))
		from, ok := ends[ending{w.Stage, w.Done}]
		if !ok || w.Done > w.To {
			continue
		}
		x.event("s", from.pid, from.tid, w.Done-1, `"id":%d,"cat":"blame","name":"made it wait"`, i+1)
		x.event("f", pid, tid, w.To-1, `"id":%d,"cat":"blame","name":"made it wait","bp":"e"`, i+1)
	}
}

// ending is when some worker of a stage was done with a slice.
type ending struct {
	stage string
	at    time.Duration
}

type track struct{ pid, tid int }

// endings finds the work that ended at the moments which waits name.
func endings(t *graph.Trace) map[ending]track {
	found := map[ending]track{}
	for _, w := range t.Waits {
		if w.Stage != "" && w.Done > 0 {
			found[ending{w.Stage, w.Done}] = track{}
		}
	}
	for i := range t.Stages {
		s := &t.Stages[i]
		for k, spans := range s.Workers {
			for _, p := range spans {
				e := ending{s.ID, p.To}
				if at, asked := found[e]; asked && at.pid == 0 && p.State == graph.StateBusy {
					found[e] = track{i + 1, k + 1}
				}
			}
		}
	}
	for e, at := range found {
		if at.pid == 0 {
			delete(found, e)
		}
	}
	return found
}
