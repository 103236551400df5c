package graph

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/graph/internal/engine"
)

// Tuner moves the settings of a running pipeline that are auto. Package tune has one. It belongs to one run and is used
// from one goroutine.
type Tuner interface {
	// Next looks at the run and may move one setting. It is called again after so long. Of the snapshot only counts, times
	// and settings are filled in: Totals, Sink, Stages, Memory.BytesKnown, CPU and CPUWait.
	Next(s Snapshot) (m Move, ok bool, again time.Duration)
	// Decisions is what it did until now and what came of it, see [Snapshot].Decisions.
	Decisions() []Decision
}

// Move is one step of a setting: workers, buffer or window of a stage.
type Move struct {
	Stage, Key string
	From, To   int
	Why        string
}

// Decision is a move and what came of it. Before and After are samples a second.
type Decision struct {
	Move
	Second        float64 // since the start of the run
	Before, After float64
	Kept          bool // false: it was taken back
	Open          bool // the run has ended before it could be judged: After is not known, and it was in force
}

// Tunable is what a tuner may do.
type Tunable struct {
	Cores  int   // workers of stages that compute, see [Load]
	Memory int64 // bytes of items under way; 0: no limit
	Knobs  []Knob
}

// Knob is a setting that is auto. What is not among a run's knobs stays as it is: it was set by the user, or the stage
// works with one goroutine, or its queue holds batches, which there are only so many of.
type Knob struct {
	Stage, Key  string
	Least, Most int
}

// mostWorkers bounds the workers of a stage where they are auto. That those which compute are not more than the cores is
// the tuner's to see to.
const mostWorkers = 1024

// Tuned lets a tuner move what is auto while the pipeline runs: workers, and buffer and window beyond what they are
// without it. What comes out, its order, digest and state, does not depend on it. begin is called once for each run. In
// runs with [Sync] there is nothing to tune.
func Tuned(begin func(Tunable) Tuner) PipelineOption {
	return func(p *Pipeline) {
		p.tune = nil
		if begin != nil { // none of it is linked into a program without this option
			p.tune = func(r *Run, b *builder) { r.tune(b, begin) }
		}
	}
}

// knob is a setting that can be moved.
type knob struct {
	Knob
	set func(n int)
}

// What a run changes. Nothing asserts these types in a program without [Tuned], so their methods are not linked into it.
type (
	staff interface{ Resize(n int) int }
	lanes interface{ Lanes() int }
	queue interface {
		Crew(more int)
		Deepen(buffer, window int)
	}
	refuser interface {
		OnRefused(func(most int, err error))
	}
)

// most is how many workers a stage may get.
func (b *builder) most(s *stageRun) int {
	if b.p.tune == nil || b.p.sync || s.n.opts.workers > 0 || traitsOf(s.n.decl).Serial {
		return s.workers
	}
	return max(s.workers, mostWorkers)
}

// hands is how many workers a stage has now.
func (s *stageRun) hands() int {
	if n := s.now.Load(); n > 0 {
		return int(n)
	}
	return s.workers
}

// staffWith changes the workers of a stage, as far as they can be opened.
func (s *stageRun) staffWith(n int) {
	for got := s.staff.(staff).Resize(n); ; got = n {
		s.mu.Lock()
		s.has(got)
		s.mu.Unlock()
		if n = s.staff.(staff).Resize(got); n == got { // else one has been refused meanwhile
			return
		}
	}
}

// has tells the queues that a stage puts into how many workers it has. It is called under the stage's lock.
func (s *stageRun) has(n int) {
	for _, e := range s.fills {
		e.(queue).Crew(n - s.hands())
	}
	s.now.Store(int32(n))
}

// deepenTo changes the buffer (at 0) or the window (at 1).
func (s *stageRun) deepenTo(which, n int) {
	s.deep[which] = n
	s.queue.(queue).Deepen(s.deep[0], s.deep[1])
}

// tune lets the tuner at the run.
func (r *Run) tune(b *builder, begin func(Tunable) Tuner) {
	r.knobs = b.knobs()
	may := Tunable{Cores: b.cores, Memory: r.bytes.limit}
	for _, k := range r.knobs {
		may.Knobs = append(may.Knobs, k.Knob)
	}
	var t Tuner
	steps := func(f func()) bool { // a fault of the tuner's must not end the run
		err := engine.Safely(func() error { f(); return nil })
		if err != nil {
			r.warn(fmt.Sprintf("the tuner gave up and left the settings as they were then: %v", err))
		}
		return err == nil
	}
	if !steps(func() { t = begin(may) }) || t == nil {
		return
	}
	r.eng.Go(func() {
		again := time.Duration(0)
		for again >= 0 && r.eng.Pause(again) {
			if !steps(func() {
				m, ok, pause := t.Next(r.look())
				if again = max(pause, time.Microsecond); ok {
					r.move(m)
				}
				r.mu.Lock()
				r.log = slices.Clone(t.Decisions())
				r.mu.Unlock()
			}) {
				return
			}
		}
	})
}

// knobs lists what may be moved.
func (b *builder) knobs() (all []knob) {
	add := func(s *stageRun, key string, most int, set func(int)) {
		all = append(all, knob{Knob{s.n.id, key, 1, most}, set})
	}
	for _, s := range b.stages {
		if s.staff == nil || s.group != nil {
			continue
		}
		o := &s.n.opts
		if most := b.mostNow(s); most > 1 && o.workers == 0 {
			add(s, "workers", most, s.staffWith)
		}
		if x, ok := s.staff.(refuser); ok {
			x.OnRefused(func(most int, err error) {
				s.mu.Lock()
				s.has(min(most, s.hands())) // a tuner may be at it too
				s.mu.Unlock()
				b.run.warn(fmt.Sprintf("stage %q keeps to %d workers: another one could not be opened: %v", s.n.id, most, err))
			})
		}
		if s.slabbed || s.queue == nil {
			continue
		}
		if o.buffer == 0 {
			add(s, "buffer", MaxBuffer, func(n int) { s.deepenTo(0, n) })
		}
		if o.window == 0 && o.order != CompletionOrder && !s.iterable {
			add(s, "window", MaxBuffer, func(n int) { s.deepenTo(1, n) })
		}
	}
	return all
}

// mostNow is [builder.most] once the stage is open.
func (b *builder) mostNow(s *stageRun) int {
	if f, ok := s.staff.(lanes); ok {
		return min(f.Lanes(), b.most(s))
	}
	return b.most(s)
}

// move makes a move, as far as it is allowed.
func (r *Run) move(m Move) {
	for _, k := range r.knobs {
		if k.Stage == m.Stage && k.Key == m.Key {
			k.set(min(max(m.To, k.Least), k.Most))
		}
	}
}
