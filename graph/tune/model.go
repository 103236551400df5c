package tune

import (
	"fmt"
	"math"
)

// Names of limits that are no stage.
const (
	ByCores  = "cores"
	ByDisk   = "disk"
	ByMemory = "memory"
)

// Limit is the highest rate that something allows, in samples a second, and what that is: the id of a stage, or one of
// the By names.
type Limit struct {
	Rate float64
	By   string
}

// String is `1200 samples/s, limited by decode`.
func (l Limit) String() string {
	return fmt.Sprintf("%s samples/s, limited by %s", figure(l.Rate), l.By)
}

// Work is the time that a stage spends on one item of the sink, in seconds.
func (s *Stage) Work() float64 { return s.Visits * s.Time.Mean() }

// Computing is the processor time of one item of the sink, in seconds, overhead included.
func (p Profile) Computing() float64 {
	sum := p.Overhead
	for i := range p.Stages {
		if s := &p.Stages[i]; !s.Waits && !s.Sink {
			sum += s.Work()
		}
	}
	return sum
}

// Limits are the rates that the stages with their workers, the cores, the disk and the byte budget allow, slowest first,
// for equal ones upstream first. It knows means only: neither jitter nor windows nor bursts ([Simulate] does).
func (p Profile) Limits() []Limit {
	var all []Limit
	add := func(by string, rate float64) {
		if rate *= p.Samples; rate > 0 && !math.IsInf(rate, 0) && !math.IsNaN(rate) {
			all = append(all, Limit{rate, by})
		}
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		add(s.ID, p.hands(s)/s.Work())
	}
	if p.Cores > 0 {
		add(ByCores, p.Cores/p.Computing())
	}
	if p.Disk > 0 {
		add(ByDisk, p.Disk/p.read())
	}
	add(ByMemory, p.byMemory())
	for i := range all { // by insertion: few, and their order is kept
		for k := i; k > 0 && all[k].Rate < all[k-1].Rate; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	return all
}

// hands is how many workers of a stage can be at work at once.
func (p *Profile) hands(s *Stage) float64 {
	n := float64(max(1, s.Workers))
	if !s.Waits && !s.Sink && p.Cores > 0 {
		n = min(n, p.Cores)
	}
	return n
}

// read is how many bytes the sources read from the disk for one item of the sink.
func (p *Profile) read() float64 {
	sum := 0.0
	for i := range p.Stages {
		if s := &p.Stages[i]; len(s.From) == 0 {
			sum += s.Visits * s.Bytes * s.Read
		}
	}
	return sum
}

// Predict is the rate with the settings as they are: the least of [Profile.Limits]. A profile without any gives zero.
func (p Profile) Predict() Limit {
	if all := p.Limits(); len(all) > 0 {
		return all[0]
	}
	return Limit{}
}

// Allocation is the best that can be done with workers alone.
type Allocation struct {
	Limit
	Workers []int   // by stage, as few as the rate needs
	Cores   float64 // that are kept busy
	Bytes   float64 // that items in queues and under workers take, where their size is known
}

// MostWaiting is how many workers a stage that waits is given at most.
const MostWaiting = 4096

// Allocate finds the highest rate that any numbers of workers can reach within cores, disk and memory, and the fewest
// workers that reach it: stages that compute get no more than there are cores, those that wait up to [MostWaiting].
// Sink and merges stay as they are. This is the linear program of Plumber (Kuchnik and others, 2022), which for a tree
// is solved by looking at each limit.
func (p Profile) Allocate() Allocation {
	free := p.Clone()
	for i := range free.Stages {
		if s := &free.Stages[i]; s.movable() {
			if s.Workers = MostWaiting; !s.Waits && p.Cores > 0 {
				s.Workers = max(1, int(math.Ceil(p.Cores)))
			}
		}
	}
	a := Allocation{Limit: free.Predict()}
	a.fit(&p)
	if _, counted := p.room(); counted { // what is let in is bounded, whatever queues could hold: that is one of the limits
		return a
	}
	if p.Memory > 0 && a.Bytes > float64(p.Memory) {
		low, high := 0.0, a.Rate
		for range 60 {
			if a.Rate = (low + high) / 2; a.fit(&p) > float64(p.Memory) {
				high = a.Rate
			} else {
				low = a.Rate
			}
		}
		a.Rate, a.By = low, ByMemory
		a.fit(&p)
	}
	return a
}

func (s *Stage) movable() bool { return !s.Sink && !s.Merge }

// fit sets the workers for a rate and gives the bytes that they and the queues hold.
func (a *Allocation) fit(p *Profile) float64 {
	a.Workers, a.Bytes = make([]int, len(p.Stages)), 0
	items := a.Rate / p.Samples
	a.Cores = items * p.Computing()
	for i := range p.Stages {
		s := &p.Stages[i]
		n := s.Workers
		if s.movable() {
			n = max(1, int(math.Ceil(items*s.Work()-1e-6)))
		}
		a.Workers[i] = n
		held := float64(n + max(s.Buffer, 1))
		if s.Group > 0 && s.Slabs > 0 {
			held = float64(s.Slabs)
		}
		a.Bytes += held * s.Bytes
	}
	return a.Bytes
}

// Apply is the profile with the workers of an allocation.
func (a Allocation) Apply(p Profile) Profile {
	p = p.Clone()
	for i := range p.Stages {
		s := &p.Stages[i]
		if n := a.Workers[i]; n != s.Workers {
			s.resize(n)
		}
	}
	return p
}

// resize changes the number of workers; queue and window keep their size for each worker, as where they are auto.
func (s *Stage) resize(n int) {
	if s.Workers > 0 && n > s.Workers {
		s.Buffer = max(s.Buffer, s.Buffer*n/s.Workers)
		s.Window = max(s.Window, s.Window*n/s.Workers)
	}
	s.Workers = n
}

// figure rounds to three digits.
func figure(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
