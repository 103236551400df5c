package graph

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// Watchdog looks on, and calls tell when nothing has moved for so long although the consumer waits: with the state of
// every queue, who waits for whom, the item that has been worked on longest, and the stacks of that stage's workers. It
// tells again each time as long has passed. It changes nothing: see [Timeout] for that. It is off without this option.
func Watchdog(after time.Duration, tell func(text string)) PipelineOption {
	return func(p *Pipeline) {
		p.watchAfter, p.watchTell = after, tell
		p.watch = (*Run).watch // not linked into a program without this option
	}
}

// watch runs until the run ends.
func (r *Run) watch() {
	var moved, since int64 = -1, 0
	for r.eng.Pause(r.p.watchAfter / 4) {
		now := r.clock.Now()
		if n := r.moves(); n != moved || !r.outlet.waiting() {
			moved, since = n, now
			continue
		}
		if idle := time.Duration(now - since); idle >= r.p.watchAfter {
			r.p.watchTell(r.stuck(idle))
			since = now
		}
	}
}

// moves is a number that grows whenever an item moves.
func (r *Run) moves() (n int64) {
	for _, s := range r.stages {
		n += s.m.In.Load() + s.m.Done.Load() + s.m.Filtered.Load() + s.m.Skipped.Load() + s.m.Failed.Load()
	}
	return n
}

// stuck writes down where everything stands.
func (r *Run) stuck(idle time.Duration) string {
	var b strings.Builder
	now := r.clock.Now()
	fmt.Fprintf(&b, "pipeline %q: nothing has moved for %v and the consumer waits\n", r.p.name, idle.Round(time.Second))
	var oldest *stageRun
	var since, epoch, place int64 = 1 << 62, 0, 0
	for _, s := range r.stages {
		var n [3]int
		for _, w := range s.m.Workers() {
			state, at, e, p, _, ok := w.Look()
			if !ok {
				continue
			}
			n[state]++
			if state == meter.Busy && at < since && s.n.role != sinkRole {
				oldest, since, epoch, place = s, at, e, p
			}
		}
		fmt.Fprintf(&b, "  stage %q: %d workers busy, %d wait for input, %d wait for room%s\n", s.n.id, n[meter.Busy], n[meter.WaitIn], n[meter.WaitOut], queueText(s.stats))
	}
	if oldest == nil {
		b.WriteString("no worker is at an item: the fault is not in a stage")
		return b.String()
	}
	tag := edge.Tag{Epoch: int32(epoch), Place: place, Source: uint16(r.sourceAbove(oldest.n))}
	h := hooks[int]{index: r.index}
	fmt.Fprintf(&b, "the oldest item is %s in stage %q, for %v; its workers are at:\n", h.placeKey(&tag), oldest.n.id, time.Duration(now-since).Round(time.Millisecond))
	b.WriteString(stacksOf(oldest.m.Workers()))
	return b.String()
}

func queueText(stats func() edge.Stats) string {
	if stats == nil {
		return ""
	}
	s := stats()
	return fmt.Sprintf("; %d of %d in its queue", s.Queued, s.Buffer)
}

// sourceAbove is the number of the first source above a stage: exact where there is one.
func (r *Run) sourceAbove(n *node) int {
	for len(n.ins) > 0 {
		n = n.ins[0]
	}
	return r.stages[n.no].source
}

// maxStacks bounds the stacks that are written down.
const maxStacks = 4

// stacksOf gives the stacks of workers that are busy.
func stacksOf(workers []*meter.Worker) string {
	wanted := map[int64]bool{}
	for _, w := range workers {
		if s, _, _, _, id, ok := w.Look(); ok && s == meter.Busy && id > 0 {
			wanted[id] = true
		}
	}
	buf := make([]byte, 1<<20)
	var b strings.Builder
	n := 0
	for part := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		head, _, _ := strings.Cut(strings.TrimPrefix(string(part), "goroutine "), " ")
		if id, err := strconv.ParseInt(head, 10, 64); err != nil || !wanted[id] {
			continue
		}
		if n++; n > maxStacks {
			break
		}
		b.Write(part)
		b.WriteString("\n\n")
	}
	return b.String()
}
