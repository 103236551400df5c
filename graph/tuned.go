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

// mostWaiting bounds the workers of a stage that waits, where they are auto.
const mostWaiting = 1024

// Tuned lets a tuner move what is auto while the pipeline runs: workers, and buffer and window beyond what they are
// without it. What comes out, its order, digest and state, does not depend on it. begin is called once for each run. In
// runs with [Sync] there is nothing to tune.
func Tuned(begin func(Tunable) Tuner) PipelineOption {
	return func(p *Pipeline) {
		p.tuner = begin
		p.tune = (*Run).tune // not linked into a program without this option
		if begin == nil {
			p.tune = nil
		}
	}
}

// knob is a setting that can be moved.
type knob struct {
	Knob
	set func(n int)
}

// staff is what [engine.Staff] and [engine.Splits] have in common.
type staff interface {
	Resize(n int) int
	Hands() int
}

// tunes notes what changes the workers of a stage.
func (b *builder) tunes(s *stageRun, f staff) {
	s.staff = f
	if x, ok := f.(interface{ OnRefused(func(error)) }); ok {
		x.OnRefused(func(err error) {
			b.run.warn(fmt.Sprintf("stage %q gets no more workers than it has: another one could not be opened: %v", s.n.id, err))
		})
	}
}

// most is how many workers a stage may get.
func (b *builder) most(s *stageRun) int {
	switch {
	case b.p.tune == nil || b.p.sync || s.n.opts.workers > 0 || traitsOf(s.n.decl).Serial:
		return s.workers
	case s.load == Wait:
		return max(s.workers, mostWaiting)
	}
	return max(s.workers, b.cores)
}

// hands is how many workers a stage has now.
func (s *stageRun) hands() int {
	if s.staff != nil {
		if n := s.staff.Hands(); n > 0 {
			return n
		}
	}
	return s.workers
}

// tune lets the tuner at the run.
func (r *Run) tune(b *builder) {
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
	if !steps(func() { t = r.p.tuner(may) }) || t == nil {
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
	add := func(s *stageRun, key string, least, most int, set func(int)) {
		all = append(all, knob{Knob{s.n.id, key, least, most}, set})
	}
	for _, s := range b.stages {
		if s.staff == nil || s.group != nil {
			continue
		}
		o := &s.n.opts
		if most := b.mostNow(s); most > 1 && o.workers == 0 {
			add(s, "workers", 1, most, func(n int) {
				n = s.staff.Resize(n)
				for _, crew := range s.crews {
					crew(n)
				}
			})
		}
		if s.slabbed || s.deepen == nil {
			continue
		}
		if o.buffer == 0 {
			add(s, "buffer", 1, MaxBuffer, func(n int) { s.deep[0] = n; s.deepen(s.deep[0], s.deep[1]) })
		}
		if o.window == 0 && o.order != CompletionOrder && !s.iterable {
			add(s, "window", 1, MaxBuffer, func(n int) { s.deep[1] = n; s.deepen(s.deep[0], s.deep[1]) })
		}
	}
	return all
}

// mostNow is [builder.most] once the stage is open.
func (b *builder) mostNow(s *stageRun) int {
	if f, ok := s.staff.(interface{ Lanes() int }); ok {
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
