package tune

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/graph/report"
)

// Knob is a setting to sweep.
type Knob struct {
	Stage, Key string
	Values     []string // in the order of the curve, what is set now among them
	Now        string
	Show       bool   // only shown: it changes more than speed, such as the order or the size of batches
	Note       string // why it is swept, in half a sentence; "" says nothing
}

// Name is `decode.workers`.
func (k Knob) Name() string { return k.Stage + "." + k.Key }

// Setting is a knob and its value, as --set takes it.
type Setting struct{ Stage, Key, Value string }

// String is `decode.workers=8`.
func (s Setting) String() string { return s.Stage + "." + s.Key + "=" + s.Value }

// Search sweeps one knob at a time from a baseline and keeps what helps. It calls Try from one goroutine.
type Search struct {
	// Try measures the pipeline with these settings beside what its spec says.
	Try func([]Setting) (Trial, error)
	// Repeat is how often each value is measured, the values in turn; 0 means 3.
	Repeat int
	// Knobs, if set, are swept in this order; else those that [Profile.Knobs] names, and again after each that helped,
	// as long as one does.
	Knobs []Knob
	// Matrix measures every combination of the values of Knobs instead, at most [MostCells].
	Matrix bool
	// More are knobs that are swept where none are given, after those of the model: pin, caches.
	More []Knob
	// Cache, if set, is asked where no knobs are given and none of the others helps any more: where is a cache to be tried,
	// beside the settings found so far? A knob without values is nowhere, and why is the reason, in one line; "" says
	// nothing. It is asked again after a cache that was kept.
	Cache func([]Setting) (k Knob, why string, err error)
	// Batch is the stage whose key size is the size of batches, "" for none, and Size what it is.
	Batch string
	Size  int
	// Say, if set, is told what is measured next.
	Say func(string)
}

// Point is what one value of a knob gave: medians over its trials.
type Point struct {
	Value     string  `json:"value"`
	Rate      float64 `json:"samples_per_second"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	WaitRatio float64 `json:"wait_ratio"`
	CPU       float64 `json:"cores_busy"`
	RSS       int64   `json:"peak_rss_bytes"`
	Service   float64 `json:"service_seconds"` // mean of the knob's stage
	Crowded   bool    `json:"crowded"`         // other programs had the cores in most of the trials
	each      float64 // processor time of a sample
	limit     string
	trials    []Trial
}

// Curve is a sweep of one knob.
type Curve struct {
	Knob
	Points []Point
	Knee   int    // the least that does as well as the best
	Why    string // the knee lies there
	Worse  string // what makes it worse, "" where nothing does
}

// Decision is one step of a search.
type Decision struct {
	Second float64 `json:"second"` // of measuring
	Knob   string  `json:"knob"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Why    string  `json:"why"`
	Before float64 `json:"before_samples_per_second"`
	After  float64 `json:"after_samples_per_second"`
	Kept   bool    `json:"kept"`
}

// Step is a row of the ablation table: what a setting brought on top of those before it.
type Step struct {
	Setting string  `json:"setting"`
	Rate    float64 `json:"samples_per_second"`
	Gain    float64 `json:"gain"` // over the row before; of a cache over the epochs after the first without it
	RSS     int64   `json:"peak_rss_bytes"`
}

// Result is what a search found.
type Result struct {
	Before, After Point // measured in turn, at the end
	Settings      []Setting
	Was           map[string]string // by knob
	Curves        []Curve
	Matrix        []Cell // nil: one knob was swept at a time
	Steps         []Step
	Decisions     []Decision
	spent         float64
	asked         bool // for a cache, which was then not kept
}

const (
	// worth is how much better a value must be to be taken, beside being clear of the spread.
	worth = 1.03
	// asGood is how near to the best a smaller value must come.
	asGood = 0.97
	// mostSweeps bounds a search without knobs given; that of a cache comes on top.
	mostSweeps = 12
)

// Run searches. What was found until an error is returned with it.
func (s *Search) Run() (*Result, error) {
	r := &Result{Was: map[string]string{}}
	base, err := s.point(r)
	if err != nil {
		return r, err
	}
	r.Steps = append(r.Steps, Step{Setting: "as the spec says", Rate: base.Rate, RSS: base.RSS})
	if s.Matrix {
		if err := s.matrix(r); err != nil {
			return r, err
		}
		return r, s.prove(r)
	}
	given, done := s.Knobs, map[string]bool{}
	last := mostSweeps + len(given)
	for n := range last + 1 {
		var k Knob
		ok := false
		if n < last {
			k, ok = s.next(&given, done, base)
		}
		if !ok {
			if k, ok, err = s.askCache(r, done); err != nil {
				return r, err
			}
		}
		if !ok {
			break
		}
		done[k.Name()] = true
		c, err := s.sweep(k, r)
		if k.unfit(err, r) {
			continue
		}
		if err != nil {
			return r, err
		}
		r.Curves = append(r.Curves, c)
		if p, kept := r.decide(c); kept {
			base = p
			r.asked = r.asked && k.Key != CacheKey
			if s.Knobs == nil { // what limits now may not have done so before
				clear(done)
				done[k.Name()] = true
			}
		}
	}
	return r, s.prove(r)
}

// next is the knob to sweep now.
func (s *Search) next(given *[]Knob, done map[string]bool, base Point) (Knob, bool) {
	if s.Knobs != nil {
		if len(*given) == 0 {
			return Knob{}, false
		}
		k := (*given)[0]
		*given = (*given)[1:]
		return k, true
	}
	p, err := base.trials[len(base.trials)-1].profile()
	if err != nil {
		return Knob{}, false
	}
	for _, k := range slices.Concat(p.Knobs(), s.More, s.shown()) {
		if !done[k.Name()] {
			return k, true
		}
	}
	return Knob{}, false
}

// shown is the size of batches.
func (s *Search) shown() []Knob {
	if s.Batch == "" || s.Size == 0 {
		return nil
	}
	return []Knob{{Stage: s.Batch, Key: "size", Now: strconv.Itoa(s.Size), Values: numbers(max(1, s.Size/2), s.Size, 2*s.Size), Show: true}}
}

// point measures the settings found so far, repeatedly.
func (s *Search) point(r *Result) (Point, error) {
	var trials []Trial
	for range s.repeat() {
		t, err := s.try(nil, r)
		if err != nil {
			return Point{}, err
		}
		trials = append(trials, t)
	}
	return pointOf("", "", trials), nil
}

func (s *Search) repeat() int { return cmp.Or(s.Repeat, 3) }

func (s *Search) try(more []Setting, r *Result) (Trial, error) {
	set := append(slices.Clone(r.Settings), more...)
	t, err := s.Try(set)
	r.spent += t.Seconds
	return t, err
}

// sweep measures each value, all of them in turn, so that what changes with time meets each alike.
func (s *Search) sweep(k Knob, r *Result) (Curve, error) {
	c := Curve{Knob: k}
	if s.Say != nil {
		s.Say(fmt.Sprintf("%s: %v", k.Name(), k.Values))
	}
	trials := make([][]Trial, len(k.Values))
	for range s.repeat() {
		for i, v := range k.Values {
			t, err := s.try([]Setting{{k.Stage, k.Key, v}}, r)
			if err != nil {
				return c, fmt.Errorf("%s=%s: %w", k.Name(), v, err)
			}
			trials[i] = append(trials[i], t)
		}
	}
	for i, v := range k.Values {
		c.Points = append(c.Points, pointOf(v, k.Stage, trials[i]))
	}
	c.explain()
	return c, nil
}

// pointOf sums trials up.
func pointOf(value, stage string, trials []Trial) Point {
	p := Point{Value: value, trials: trials}
	pick := func(f func(Trial) float64) float64 {
		xs := make([]float64, len(trials))
		for i, t := range trials {
			xs[i] = f(t)
		}
		return median(xs)
	}
	p.Rate, p.CPU = pick(func(t Trial) float64 { return t.Rate }), pick(func(t Trial) float64 { return t.CPU })
	p.WaitRatio = pick(func(t Trial) float64 { return t.WaitRatio })
	p.RSS = int64(pick(func(t Trial) float64 { return float64(t.PeakRSS) }))
	p.each = pick(func(t Trial) float64 { return t.CPU / max(1e-12, t.Rate) })
	p.Service = pick(func(t Trial) float64 {
		for _, st := range t.Snapshot.Stages {
			if st.ID == stage {
				return st.Service.Mean.Seconds()
			}
		}
		return 0
	})
	p.Crowded = pick(func(t Trial) float64 {
		if report.Judge(t.Snapshot).Crowded {
			return 1
		}
		return 0
	}) > 0
	p.Low, p.High = p.Rate, p.Rate
	for _, t := range trials {
		p.Low, p.High = min(p.Low, t.Rate), max(p.High, t.Rate)
	}
	if last, err := trials[len(trials)-1].profile(); err == nil {
		p.limit = last.Predict().By
	}
	return p
}

// prove measures before and after once more, in turn.
func (s *Search) prove(r *Result) error {
	if s.Say != nil {
		s.Say("before and after, in turn")
	}
	var before, after []Trial
	for range s.repeat() {
		t, err := s.Try(r.without())
		if err != nil {
			return err
		}
		before = append(before, t)
		if t, err = s.Try(r.Settings); err != nil {
			return err
		}
		after = append(after, t)
	}
	r.Before, r.After = pointOf("before", "", before), pointOf("after", "", after)
	if len(r.Settings) > 0 && r.After.Rate < asGood*r.Before.Rate {
		r.Decisions = append(r.Decisions, Decision{Second: r.spent, Knob: "all", From: "before", To: "after", Before: r.Before.Rate, After: r.After.Rate,
			Why: "measured in turn it is slower than before, so all is put back"})
		r.Settings = nil
	}
	return nil
}

// Knobs are the settings worth a sweep, most promising first: the workers, buffer and window of the stages that limit.
func (p Profile) Knobs() (all []Knob) {
	best := p.Allocate()
	for n, l := range p.Limits() {
		at := p.index(l.By)
		if at < 0 || n >= 3 || !p.Stages[at].movable() || l.Rate > 4*max(best.Rate, p.Measured.Rate) {
			continue
		}
		s := &p.Stages[at]
		all = append(all, p.workers(s, best.Workers[at]))
		if n > 0 || s.Buffer == 0 {
			continue
		}
		all = append(all, Knob{Stage: s.ID, Key: "buffer", Now: strconv.Itoa(s.Buffer), Values: numbers(max(1, s.Buffer/4), s.Buffer, 4*s.Buffer)})
		if s.Workers > 1 && s.Ordered && s.Window > 0 {
			all = append(all, Knob{Stage: s.ID, Key: "window", Now: strconv.Itoa(s.Window), Values: numbers(s.Workers, s.Window, 4*s.Window)})
			all = append(all, Knob{Stage: s.ID, Key: "order", Now: "input", Values: []string{"input", "completion"}, Show: true})
		}
	}
	return all
}

// workers sweeps from one to twice what the model wants; of a stage that computes to twice the cores, which should make
// things worse.
func (p *Profile) workers(s *Stage, want int) Knob {
	values := []int{1, s.Workers, max(1, s.Workers/2), max(1, want/2), want, 2 * want}
	if !s.Waits && p.Cores > 0 {
		values = append(values, int(p.Cores), 2*int(p.Cores))
	}
	return Knob{Stage: s.ID, Key: "workers", Now: strconv.Itoa(s.Workers), Values: numbers(values...)}
}

// numbers are the values in order, each once.
func numbers(values ...int) (words []string) {
	slices.Sort(values)
	for _, v := range slices.Compact(values) {
		if v >= 1 {
			words = append(words, strconv.Itoa(min(v, MostWaiting)))
		}
	}
	return slices.Compact(words)
}
