package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/tune"
)

func (a *app) profile(args []string) int {
	f := newFlags("profile")
	var set, reports texts
	f.Var(&set, "set", "")
	f.Var(&reports, "report", "")
	root := f.String("root", "", "")
	seconds := f.Float64("seconds", 0, "")
	file := f.String("json", "", "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case len(rest) != 1:
		return a.usage("profile", fmt.Sprintf("wanted one spec, got %d", len(rest)))
	case given(f, "seconds") && !(*seconds > 0 && *seconds <= 3600):
		return a.usage("profile", fmt.Sprintf("--seconds must be more than 0 and at most 3600, got %g", *seconds))
	}
	for _, r := range reports {
		if err := checkReport(r); err != nil {
			return a.usage("profile", err.Error())
		}
	}
	if err := errors.Join(checkRoot(*root), checkTarget("--json", *file)); err != nil {
		return a.usage("profile", err.Error())
	}
	l, code := a.openLab(rest[0], set, *root, *seconds)
	if l == nil {
		return code
	}
	defer l.close()
	c, err := l.ceilings()
	if code := l.guard.code(); code != exitDone {
		return code
	}
	if err != nil {
		return a.fail(err)
	}
	for _, r := range reports {
		if err := writeReport(r, c.Whole.Snapshot); err != nil {
			return a.fail(fmt.Errorf("report %q: %w", r, err))
		}
	}
	if *file != "" {
		if err := writeCeilings(*file, c); err != nil {
			return a.fail(fmt.Errorf("--json %q: %w", *file, err))
		}
	}
	printCeilings(a.out, c)
	return exitDone
}

// ceilings measures the whole and its parts. What cannot be measured is left out, with the reason.
func (l *lab) ceilings() (c tune.Ceilings, err error) {
	c.Why = map[string]string{}
	s, err := l.load(l.options(nil))
	if err != nil {
		return c, err
	}
	o := s.Pipeline.Outline()
	if l.seconds == 0 {
		l.seconds = halfMinute(o)
	}
	l.say("the sources alone")
	if err := l.sources(o, &c); err != nil {
		return c, err
	}
	l.say("the whole")
	if c.Whole, err = l.whole(); err != nil {
		return c, err
	}
	if c.Profile, err = tune.Of(c.Whole.Snapshot); err != nil {
		return c, err
	}
	for _, x := range []*float64{&c.Cold, &c.Warm} { // measured in items of the source
		*x = c.Profile.AtSink(firstSource(o), *x)
	}
	c.WholeFirst, c.Later = tune.FirstEpoch(c.Whole.Snapshot)
	c.Caches = map[string]bool{}
	for _, x := range c.Whole.Snapshot.Caches {
		c.Caches[x.ID] = true
	}
	if src, _ := o.Stage(firstSource(o)); c.Cold > 0 && l.evict(src) == "" {
		l.say("the first epoch of the whole, from cold files")
		t, err := l.epoch()
		if err != nil {
			return c, err
		}
		c.WholeFirst = tune.FirstOf(t.Snapshot)
	}
	if c.WholeFirst.Rate == 0 {
		c.Why["first epoch"] = "it was not over in the time"
	}
	return c, l.parts(o, &c)
}

func (l *lab) say(what string) { fmt.Fprintf(l.a.err, "penstock: measuring %s\n", what) }

func firstSource(o graph.Outline) string {
	for _, s := range o.Stages {
		if s.Role == "source" {
			return s.ID
		}
	}
	return ""
}

// sources measures the source alone, cold where its files can be put out of memory, then warm.
func (l *lab) sources(o graph.Outline, c *tune.Ceilings) error {
	id, n := "", 0
	for _, s := range o.Stages {
		if s.Role == "source" {
			id, n = s.ID, n+1
		}
	}
	if n != 1 {
		c.Why["read"] = fmt.Sprintf("there are %d sources", n)
		return nil
	}
	src, _ := o.Stage(id)
	if why := l.evict(src); why != "" {
		c.Why["cold"] = why
	} else {
		_, t, err := l.upto(id, nil, nil, 1)
		if err != nil {
			return err
		}
		c.Cold = tune.FirstOf(t.Snapshot).Items
	}
	_, t, err := l.upto(id, nil, nil, graph.Forever)
	c.Warm = t.Items
	return err
}

// parts measures the sink on recorded batches, all before the sink, and each stage on recorded inputs.
func (l *lab) parts(o graph.Outline, c *tune.Ceilings) error {
	c.Alone, c.AloneFirst = make([]float64, len(c.Profile.Stages)), make([]tune.First, len(c.Profile.Stages))
	recorded := map[string]*tape{}
	for i, st := range c.Profile.Stages {
		x, _ := o.Stage(st.ID)
		switch {
		case len(x.From) == 0:
			continue
		case len(x.From) > 1 || x.Role == "merge":
			c.Why[st.ID] = "it has several inputs"
			continue
		}
		from := x.From[0]
		rec, ok := recorded[from]
		if !ok {
			l.say("what comes out of " + from)
			var err error
			if rec, err = l.record(from); err != nil {
				return err
			}
			recorded[from] = rec
		}
		if rec == nil {
			c.Why[st.ID] = "what it takes could not be recorded"
			continue
		}
		l.say(st.ID + " alone")
		if err := l.alone(x, i, rec, c); err != nil {
			return err
		}
	}
	last := o.Stages[len(o.Stages)-1]
	c.Replay = c.Alone[len(c.Alone)-1]
	l.say("all before " + last.ID)
	_, t, err := l.upto(last.From[0], nil, nil, graph.Forever)
	if err == nil {
		c.Prep = c.Profile.AtSink(last.From[0], t.Items)
	}
	return err
}

func printCeilings(w io.Writer, c tune.Ceilings) {
	s, p := c.Whole.Snapshot, c.Profile
	fmt.Fprintf(w, "whole: %s samples, sink waits %.0f %% of the time; %.2g of %.4g cores busy\n", perSecond(c.Whole.Rate), 100*c.Whole.WaitRatio, c.Whole.CPU, p.Cores)
	d := s.Sink.Waits
	fmt.Fprintf(w, "waits: p50 %s, p95 %s, p99 %s, max %s; in all %s at the start, %s steady, %s at epoch edges\n", span(d.P50), span(d.P95),
		span(d.P99), span(d.Max), span(s.Sink.Startup), span(s.Sink.Steady), span(s.Sink.EpochEdge))
	fmt.Fprintf(w, "garbage collection stopped it for %s (%.2g %% of the time)\n\n", span(s.GCPause), 100*s.GCPause.Seconds()/max(1e-9, s.Totals.Elapsed.Seconds()))

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "samples/s\tcold\twarm\tpredicted\twhole is at")
	row := func(name string, cold, warm, predicted float64, why string) {
		at := why
		if warm > 0 {
			at = fmt.Sprintf("%.0f %%", 100*c.Whole.Rate/warm)
			if why != "" {
				at += "; " + why
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", name, perSecond(cold), perSecond(warm), perSecond(predicted), at)
	}
	last := len(p.Stages) - 1
	row("replay: the sink on recorded batches", c.AloneFirst[last].Rate, c.Replay, limitOf(p, p.Stages[last].ID), "")
	row("prep: all before the sink", 0, c.Prep, 0, "")
	row("read: the source alone", c.Cold, c.Warm, limitOf(p, p.Stages[0].ID), c.Why["cold"]+c.Why["read"])
	for i, st := range p.Stages {
		if len(st.From) > 0 && !st.Sink {
			row(st.ID+" alone", c.AloneFirst[i].Rate, c.Alone[i], limitOf(p, st.ID), c.Why[st.ID]+c.Why[st.ID+" cold"])
		}
	}
	l := p.Predict()
	row("whole: first epoch, later ones", c.WholeFirst.Rate, c.Steady(), l.Rate, c.Why["first epoch"])
	_ = t.Flush()
	fmt.Fprintln(w)
	for _, line := range c.Findings() {
		fmt.Fprintf(w, "- %s\n", line)
	}
	printMemory(w, s)
	s.Running = false // it went on when the time was up, and does no more
	fmt.Fprintf(w, "\n%s\n", report.Judge(s).Sentence)
}

// printMemory shows what epochs leave behind, and raises an alarm where it grows.
func printMemory(w io.Writer, s graph.Snapshot) {
	fmt.Fprintf(w, "- memory: %s resident at most, %s in flight at most", bytesText(s.Memory.PeakRSS), bytesText(s.Memory.InFlightPeak))
	for i := len(s.Epochs) - 1; i >= 0; i-- {
		if e := s.Epochs[i]; e.Goroutines > 0 {
			fmt.Fprintf(w, "; %d goroutines at the end of epoch %d", e.Goroutines, e.Epoch)
			break
		}
	}
	fmt.Fprintln(w)
	printOverTime(w, s.Timeline)
	for _, g := range tune.Growing(s.Epochs) {
		from, to := fmt.Sprintf("%.0f", g.From), fmt.Sprintf("%.0f", g.To)
		if g.What != "goroutines" {
			from, to = bytesText(int64(g.From)), bytesText(int64(g.To))
		}
		what := map[string]string{"rss": "resident memory", "in_flight": "memory of items under way", "goroutines": "the number of goroutines"}[g.What]
		fmt.Fprintf(w, "- ALARM: %s grew from %s to %s over %d epochs\n", what, from, to, g.Epochs)
	}
}

// printOverTime shows memory and goroutines in the quarters of the run.
func printOverTime(w io.Writer, l *graph.Timeline) {
	if l == nil || len(l.RSS) < 4 {
		return
	}
	quarters := func(all []int64, text func(int64) string) string {
		var words []string
		for i := range 4 {
			most := int64(0)
			for _, n := range all[len(all)*i/4 : len(all)*(i+1)/4] {
				most = max(most, n)
			}
			if most == 0 { // nobody looked
				words = append(words, "-")
				continue
			}
			words = append(words, text(most))
		}
		return strings.Join(words, ", ")
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	fmt.Fprintf(w, "- over time, by quarters: resident %s; in flight %s; goroutines %s\n", quarters(l.RSS, bytesText), quarters(l.InFlight, bytesText),
		quarters(l.Goroutines, number))
}

// limitOf is what the formula says that a stage can do.
func limitOf(p tune.Profile, id string) float64 {
	for _, l := range p.Limits() {
		if l.By == id {
			return l.Rate
		}
	}
	return 0
}

func span[D ~int64](d D) string { return waitText(float64(d) / 1e9) }

// writeCeilings writes them for programs: rates in samples a second, null where not measured.
func writeCeilings(file string, c tune.Ceilings) error {
	type stage struct {
		ID    string   `json:"id"`
		Alone *float64 `json:"alone"`
		Cold  *float64 `json:"alone_cold"`
		Model *float64 `json:"predicted"`
	}
	known := func(x float64) *float64 {
		if x == 0 {
			return nil
		}
		return &x
	}
	doc := struct {
		Version  int               `json:"version"`
		Pipeline string            `json:"pipeline"`
		Whole    float64           `json:"whole"`
		First    *float64          `json:"whole_cold"`
		Later    *float64          `json:"whole_warm"`
		Wait     float64           `json:"wait_ratio"`
		CPU      float64           `json:"cores_busy"`
		Replay   *float64          `json:"replay"`
		ReplayC  *float64          `json:"replay_cold"`
		Prep     *float64          `json:"prep"`
		Cold     *float64          `json:"read_cold"`
		Warm     *float64          `json:"read_warm"`
		Stages   []stage           `json:"stages"`
		Why      map[string]string `json:"not_measured"`
		Findings []string          `json:"findings"`
	}{1, c.Profile.Pipeline, c.Whole.Rate, known(c.WholeFirst.Rate), known(c.Later), c.Whole.WaitRatio, c.Whole.CPU, known(c.Replay),
		known(c.AloneFirst[len(c.AloneFirst)-1].Rate), known(c.Prep), known(c.Cold), known(c.Warm),
		[]stage{}, c.Why, c.Findings()}
	for i, s := range c.Profile.Stages {
		doc.Stages = append(doc.Stages, stage{s.ID, known(c.Alone[i]), known(c.AloneFirst[i].Rate), known(limitOf(c.Profile, s.ID))})
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(file, append(text, '\n'))
}

const profileHelp = `
Measures the pipeline as a whole, and what its parts could do alone: the sink on
recorded batches (nothing before it can matter more), all before the sink, the
source alone, each stage on recorded inputs. Cold is the first pass of a fresh
run: opening, memory touched for the first time, caches empty, files put out of
memory. Warm is what follows. Beside that stands what the formula of penstock
whatif predicts from the whole run. The findings say what limits, where the first
pass is much slower, the smallest cache that hides the store, how many cores the
sink needs, and what a faster store would bring. Nothing is fused, and epochs go
on until the time is up.
` + setHelp + `  --seconds S         of each measurement, the first fifth left out; default as
                      much as makes half a minute in all, at most 3
  --json FILE         writes the figures for programs
  --report FILE       writes the report of the whole run, for penstock whatif
  --root DIR          as for run

Files are put out of memory where they lie in a folder and the system takes the
hint (Linux). Rates are samples a second at the sink.
`
